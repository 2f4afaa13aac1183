"""One problem has one answer: however it is worded, named, scaled, ordered, or cut into blocks of rows."""

import numpy as np
import pytest

import keyhole as kh
from keyhole.core.serialization import to_bytes

D, K, T = 12, 3, 800
NAMES = [f"x{j}" for j in range(D)]
PRICES = [float(p) for p in (3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8)]
PANELS = {"p": ["x0", "x1", "x2"], "r": ["x3", "x4"]}
PANEL_PRICES = {"p": 4.0, "r": 2.0, **dict(zip(NAMES[5:], PRICES[5:], strict=True))}
LIMITS = {
    "k": {"k": K},
    "k0": {"k": K, "k0": 1},
    "panels": {"k": K, "sources": PANELS, "free": ["x11"]},
    "budget_per_row": {"sources": PANELS, "prices": PANEL_PRICES, "budget_per_row": 9.0},
    "error_cost": {"prices": PRICES, "error_cost": 300.0},
    "total_budget": {"prices": PRICES, "total_budget": 4000.0, "expected_rows": T},
    "half_life": {"k": K, "half_life": 300.0},
}
EVERY_LIMIT = pytest.mark.parametrize("limits", LIMITS.values(), ids=list(LIMITS))


def stream(seed=4, T=T, design="ar(0.5)"):
    """Rows with missing cells, a change of all weights, an outlier, and rows without a label."""
    X, y, w = kh.streams.synthetic(D, K, T, design=design, seed=seed)
    y[T // 2 :] -= 2.0 * (X @ w)[T // 2 :]
    rng = np.random.default_rng(seed)
    X[rng.random(X.shape) < 0.03] = np.nan
    X[T // 3, 5] = 1e4
    y[rng.random(T) < 0.03] = np.nan
    return X, y


def played(X, y, names=NAMES, **options):
    learner = kh.make("thrifty", names=names, seed=1, **options)
    return learner, kh.play(learner, X, y)


# -- wordings


def wordings(X):
    """The same problem in words: rows, options, and whether the answer must be the same to the bit."""
    named = {n if n != "x3" else "renamed": 1.0 for n in NAMES}
    one = {"renamed": ["x3"]}
    constant = np.column_stack([X, np.ones(len(X))])
    return {
        "sources of one attribute": (X, {"k": K, "sources": {f"s{j}": [n] for j, n in enumerate(NAMES)}}),
        "one renamed source": (X, {"k": K, "sources": one}),
        "equal prices": (X, {"k": K, "sources": one, "prices": named}),
        "a budget that buys k": (X, {"prices": [1.0] * D, "budget_per_row": float(K)}),
        "a budget that never binds": (X, {"k": K, "prices": [1.0] * D, "budget_per_row": 1e9}),
        "a free constant": (constant, {"k": K, "free": ["one"]}),
    }


@pytest.mark.parametrize("wording", list(wordings(np.zeros((1, D)))))
def test_a_wording_does_not_change_the_answer(wording):
    X, y = stream()
    _, plain = played(X, y, k=K)
    rows, options = wordings(X)[wording]
    names = [*NAMES, "one"][: rows.shape[1]]
    if wording != "a free constant":
        _, other = played(rows, y, names, **options)
        assert np.array_equal(other.predictions, plain.predictions)
        assert np.array_equal(other.bought, plain.bought)
        return
    difference = []  # the order in which columns are tried is another one: equal on average
    for seed in range(8):
        X, y, _ = kh.streams.synthetic(D, K, T, seed=seed)
        _, plain = played(X, y, k=K)
        _, other = played(wordings(X)[wording][0], y, names, **options)
        difference.append(other.losses[1:].sum() / plain.losses[1:].sum() - 1.0)
    assert abs(np.mean(difference)) < max(0.05, 2.0 * np.std(difference, ddof=1) / 8**0.5)


# -- names and order


@EVERY_LIMIT
def test_names_do_not_matter(limits):
    X, y = stream()
    new = {n: f"{j}. (ä) {n}" for j, n in enumerate(NAMES)}
    sources = {f"lab {s}": [new[n] for n in of] for s, of in limits.get("sources", {}).items()}
    prices = limits.get("prices")
    if isinstance(prices, dict):
        prices = {new.get(s, f"lab {s}"): p for s, p in prices.items()}
    given = {"sources": sources or None, "free": [new[n] for n in limits.get("free", [])] or None, "prices": prices}
    renamed = {**limits, **{option: value for option, value in given.items() if value is not None}}
    learner, plain = played(X, y, **limits)
    other, found = played(X, y, list(new.values()), **renamed)
    assert np.array_equal(found.predictions, plain.predictions)
    assert np.array_equal(found.bought, plain.bought)
    assert [str(a) for a in other.alarms] == [str(a) for a in learner.alarms]


@pytest.mark.parametrize(
    "limits", [LIMITS["k"], LIMITS["panels"], LIMITS["error_cost"]], ids=["k", "panels", "error_cost"]
)
def test_the_order_of_columns_does_not_matter(limits):
    """Complete past rows leave nothing to chance: permuted columns give permuted weights."""
    X, y, _ = kh.streams.synthetic(D, K, 300, design="ar(0.5)", seed=9)
    order = np.random.default_rng(2).permutation(D)
    prices = limits.get("prices")
    permuted = {**limits, **({"prices": [prices[j] for j in order]} if prices else {})}
    plain = kh.make("thrifty", names=NAMES, seed=1, **limits)
    other = kh.make("thrifty", names=[NAMES[j] for j in order], seed=1, **permuted)
    plain.learn(X, y)
    other.learn(X[:, order], y)
    assert plain.support.size > 0
    assert sorted(order[other.support].tolist()) == plain.support.tolist()
    assert other.weights == pytest.approx(plain.weights[order], rel=1e-9, abs=1e-12)
    assert other.intercept == pytest.approx(plain.intercept, rel=1e-9, abs=1e-12)


def test_the_order_of_columns_does_not_matter_on_average():
    difference = []
    for seed in range(8):
        X, y, _ = kh.streams.synthetic(D, K, T, seed=seed)
        order = np.random.default_rng(seed).permutation(D)
        plain, other = (played(Z, y, k=K)[1].losses[1:].sum() for Z in (X, X[:, order]))
        difference.append(other / plain - 1.0)
    assert abs(np.mean(difference)) < max(0.05, 2.0 * np.std(difference, ddof=1) / 8**0.5)


# -- units


@EVERY_LIMIT
def test_units_and_signs_do_not_matter(limits):
    """Powers of two lose no digit, so the answer is the same to the bit; money and squared error keep their ratio."""
    X, y = stream()
    scale = np.array([-1.0, 1.0] * (D // 2)) * 2.0 ** np.arange(-20, 4 * D - 20, 4)
    rescaled = dict(limits)
    if "error_cost" in rescaled:
        rescaled["error_cost"] /= 1024.0**2
    learner, plain = played(X, y, **limits)
    other, found = played(X * scale, -1024.0 * y, **rescaled)
    assert np.array_equal(found.predictions, -1024.0 * plain.predictions)
    assert np.array_equal(found.bought, plain.bought)
    assert np.array_equal(other.weights * scale, -1024.0 * learner.weights)


@pytest.mark.parametrize("limits", [LIMITS[name] for name in ("budget_per_row", "error_cost", "total_budget")])
def test_the_currency_does_not_matter(limits):
    X, y = stream()
    prices = limits["prices"]
    dearer = {n: 128.0 * p for n, p in prices.items()} if isinstance(prices, dict) else [128.0 * p for p in prices]
    other = {**limits, "prices": dearer}
    for limit in ("budget_per_row", "error_cost", "total_budget"):
        if limit in limits:
            other[limit] = 128.0 * limits[limit]
    _, plain = played(X, y, **limits)
    _, found = played(X, y, **other)
    assert np.array_equal(found.predictions, plain.predictions)
    assert np.array_equal(found.price, 128.0 * plain.price)


def test_units_that_are_no_powers_of_two_change_hardly_anything():
    X, y, _ = kh.streams.synthetic(D, K, T, seed=3)
    scale = 10.0 ** np.linspace(-9.3, 8.8, D)
    _, plain = played(X, y, k=K)
    _, found = played(X * scale + 3.0 * scale, 1e5 * y - 7e5, k=K)
    assert found.predictions[1:] == pytest.approx(1e5 * plain.predictions[1:] - 7e5, abs=1e5 * 1e-6)


# -- blocks of rows


@EVERY_LIMIT
def test_blocks_of_rows_do_not_matter(limits):
    X, y = stream()
    for size, rows in ((1, 150), (7, T), (300, T)):
        whole, history = played(X[:rows], y[:rows], **limits)
        learner = kh.make("thrifty", names=NAMES, seed=1, **limits)
        parts = [kh.play(learner, X[t : t + size], y[t : t + size]) for t in range(0, rows, size)]
        assert np.array_equal(np.concatenate([part.predictions for part in parts]), history.predictions)
        assert to_bytes(learner) == to_bytes(whole)
