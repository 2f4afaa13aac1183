"""`thrifty` on the compiled engine: one problem has one answer, sources are bought as a whole."""

import numpy as np
import pytest

import keyhole as kh

D, K, T = 20, 4, 4000
NAMES = [f"x{j}" for j in range(D)]


def excess(learner, X, y, w):
    losses = kh.play(learner, X, y).losses
    return float((losses - (y - X[:, :D] @ w) ** 2)[1:].sum())


@pytest.mark.parametrize("design", ["uniform", "ar(0.8)"])
def test_one_problem_said_in_four_ways_has_one_answer(design):
    found = {}
    for seed in range(700, 706):
        X, y, w = kh.streams.synthetic(D, K, T, design=design, seed=seed)
        constant = np.column_stack([X, np.ones(T)])
        wordings = {
            "k": (X, {"names": NAMES, "k": K}),
            "free": (constant, {"names": [*NAMES, "one"], "k": K, "free": ["one"]}),
            "source": (X, {"names": NAMES, "k": K, "sources": {"renamed": ["x3"]}}),
            "budget": (
                X,
                {
                    "names": NAMES,
                    "sources": {"renamed": ["x3"]},
                    "prices": dict.fromkeys([n if n != "x3" else "renamed" for n in NAMES], 1.0),
                    "budget_per_row": float(K),
                },
            ),
        }
        for name, (rows, options) in wordings.items():
            found.setdefault(name, []).append(excess(kh.make("thrifty", seed=seed, **options), rows, y, w))
    base = np.array(found["k"])
    for name, values in found.items():
        difference = np.array(values) - base
        error = difference.std(ddof=1) / len(base) ** 0.5
        assert abs(difference.mean()) <= max(0.1 * base.mean(), 2.0 * error, 3.0), name


def panels(seed, T=T):
    """12 panels of 3, of which two matter, two attributes each."""
    rng = np.random.default_rng(seed)
    X, w = rng.uniform(-1, 1, (T, 36)), np.zeros(36)
    w[[3, 5, 12, 13]] = 0.4, -0.3, 0.3, 0.2
    names = [f"x{j}" for j in range(36)]
    return X, X @ w + 0.1 * rng.standard_normal(T), names, {f"p{p}": names[3 * p : 3 * p + 3] for p in range(12)}


@pytest.mark.parametrize("seed", range(3))
def test_the_panels_that_matter_are_found_and_bought_as_a_whole(seed):
    X, y, names, sources = panels(seed)
    learner = kh.make("thrifty", names=names, k=2, seed=seed, sources=sources)
    for t in range(500):
        r = learner.ask()
        assert learner.catalog.whole(r.attributes)
        assert len(r.sources) <= 2
        learner.tell(r, X[t, r.attributes], float(y[t]))
    history = kh.play(learner, X[500:], y[500:])
    assert set(learner.catalog.ordered(learner.support)) == {"p1", "p4"}
    assert history.losses[-1000:].mean() < 1.05 * 0.01
    assert [e.name for e in learner.explain() if e.in_support] == ["p1", "p4"]


def test_a_block_plays_what_the_protocol_plays_and_a_loaded_learner_goes_on(tmp_path):
    X, y, names, sources = panels(5, 900)
    X[np.random.default_rng(1).random(X.shape) < 0.05] = np.nan
    del sources["p0"]  # x1 and x2 are sources of their own then
    one, other = (kh.make("thrifty", names=names, k=2, k0=1, seed=3, sources=sources, free=["x0"]) for _ in range(2))
    predictions = kh.play(one, X, y).predictions
    for t in range(900):
        if t == 450:
            other.save(tmp_path / "model.keyhole")
            other = kh.load(tmp_path / "model.keyhole")
        r = other.ask()
        assert other.predict(r, X[t, r.attributes]) == predictions[t]
        extra = other.ask_more(r)
        other.tell(r, X[t, r.attributes], float(y[t]), extra, X[t, extra])
    a, b = one.get_state(), other.get_state()
    assert all(np.array_equal(a[name], b[name]) for name in a)


def test_what_is_constant_or_never_observed_is_bought_ever_more_rarely():
    X, y, names, sources = panels(6, 8000)
    X[:, 30:33], X[:, 33:36] = 7.0, np.nan
    learner = kh.make("thrifty", names=names, k=4, seed=0, sources=sources)
    kh.play(learner, X, y)
    bought = {e.name: e.bought for e in learner.explain()}
    assert max(bought["p10"], bought["p11"]) < 500


def test_a_budget_is_never_exceeded_and_names_what_it_buys():
    X, y, names, sources = panels(7, 1500)
    prices = {name: 1.0 + 0.5 * i for i, name in enumerate(sources)}
    learner = kh.make("thrifty", names=names, seed=0, sources=sources, prices=prices, budget_per_row=5.0)
    history = kh.play(learner, X, y)
    assert history.price.max() <= 5.0
    with pytest.raises(kh.ConfigError, match="buys nothing"):
        kh.make("thrifty", names=names, seed=0, sources=sources, prices=prices, budget_per_row=0.5)


def test_an_alarm_says_how_much_was_forgotten():
    X, y, names, sources = panels(8, 8000)
    y[4000:] *= -1.0
    learner = kh.make("thrifty", names=names, k=2, seed=0, sources=sources)
    kh.play(learner, X, y)
    assert [a.row // 200 for a in learner.alarms] == [20]
    assert "rows before count 1/1000" in learner.alarms[0].what
