"""Labels that come late, and rounds in which little or nothing could be bought: both learners of the paper."""

import numpy as np
import pytest

import keyhole as kh
from keyhole.estimation import sampling
from keyhole.estimation.online_newton import Newton

D, K = 9, 3
OPTIONS = {"ds-oslrc": {"explore": 1.0}, "ds-poslrc": {"k0": 3}}


def learner(name, **options):
    return kh.make(name, d=D, k=K, seed=3, **(OPTIONS[name] | options))


def rows(n, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (n, D))
    return X, X @ np.array([0.5, -0.3, 0.2, *[0.0] * (D - 3)]) + 0.05 * rng.normal(size=n)


def many_matter(n, seed=0):
    """Rows whose estimates are not zero outside the support, so that no law of drawing is uniform."""
    X, y = rows(n, seed)
    return X, y + X @ np.array([*[0.0] * 3, 0.25, -0.2, 0.15, 0.1, 0.0, 0.0])


def tell(one, r, x, y):
    extra = one.ask_more(r)
    one.tell(r, x[r.attributes], y, extra_attributes=extra, extra_values=x[extra])


@pytest.mark.parametrize("name", OPTIONS)
def test_a_late_label_is_weighted_by_the_probabilities_of_its_asking(name):
    one, (X, y) = learner(name), many_matter(260)
    for x, label in zip(X[:200], y[:200], strict=True):
        tell(one, one.ask(), x, label)
    late = one.ask()
    w_then, S_then = one.estimate.w_hat.copy(), one.support.copy()
    for x, label in zip(X[200:259], y[200:259], strict=True):
        tell(one, one.ask(), x, label)
    outside = np.setdiff1d(np.arange(D), S_then)
    assert not np.allclose(one.estimate.w_hat[outside], w_then[outside])
    H, x = one.estimate.seq.H.copy(), X[259]
    tell(one, late, x, y[259])
    B = np.concatenate([late.attributes, late.extra])
    if name == "ds-oslrc":
        P = sampling.pair_inclusion(sampling.distribution(w_then), K)
    else:
        q = np.zeros(D)
        q[outside] = sampling.distribution(w_then[outside])
        P = sampling.union_pair_inclusion(q, 3, S_then)
    np.testing.assert_allclose(
        (one.estimate.seq.H - H)[np.ix_(B, B)], np.outer(x[B], x[B]) / P[np.ix_(B, B)], rtol=1e-9, atol=1e-9
    )


def test_a_late_round_of_an_old_support_moves_no_newton_weight():
    one, (X, y) = learner("ds-poslrc", exploit="newton", solve="every"), rows(300)
    found = False
    for t in range(0, 298, 2):
        S = one.support.copy()
        late = one.ask(available=np.isin(np.arange(D), [S[0], *np.setdiff1d(np.arange(D), S)]))
        tell(one, one.ask(), X[t], y[t])
        if S[0] in one.support and not np.array_equal(S, one.support):
            before, moves = one.newton.core.get_state(), one.newton.moves
            tell(one, late, X[t + 1], y[t + 1])
            if one.newton.moves == moves:  # the solve after it did not restart it
                found = True
                after = one.newton.core.get_state()
                assert all(np.array_equal(before[name], after[name]) for name in before)
                break
        else:
            one.abandon(late)
    assert found


@pytest.mark.parametrize(
    ("name", "options"), [("ds-oslrc", {"explore": "squares"}), ("ds-poslrc", {"exploit": "newton"})]
)
def test_a_round_in_which_nothing_could_be_bought_teaches_the_exploiter_nothing(name, options):
    one, (X, y) = learner(name, **options), rows(30)
    for x, label in zip(X, y, strict=True):
        tell(one, one.ask(), x, label)
    part = one.exploiter if name == "ds-oslrc" else one.newton
    before = part.core.get_state()
    r = one.ask(available=np.zeros(D, dtype=bool))
    assert r.attributes.size == 0
    one.tell(r, [], 0.7)
    assert all(np.array_equal(before[field], value) for field, value in part.core.get_state().items())


def test_the_newton_steps_of_ds_poslrc_start_at_k_times_the_identity():
    """Its aside takes the exploiter of Algorithm 1, whose A starts at eps I with eps = k."""
    one, (X, y) = learner("ds-poslrc", exploit="newton", solve=10**6), rows(25)
    tell(one, one.ask(), X[0], y[0])
    S, w = one.support.copy(), one.newton.core.w.copy()
    reference = Newton(K, eps=K, rho=None)
    reference.restart(w)
    reference.tally[:] = one.newton.core.tally
    np.testing.assert_allclose(one.newton.core.A_inv, np.eye(K) / K)
    for x, label in zip(X[1:], y[1:], strict=True):
        r = one.ask()
        assert one.predict(r, x[r.attributes]) == pytest.approx(reference.run(x[None, S], np.array([label]))[0])
        tell(one, r, x, label)
