"""The streams on which `thrifty` and its rivals are judged: rows, labels, and the losses of a comparator that knows.

A stream is a function of T and a seed. Unless its docstring says otherwise the comparator is told the weights of
every row, w_t, and loses the squared noise; |w_t|_1 = 1, sigma is the noise's standard deviation, and columns are
those of `kh.streams.synthetic`. `STREAMS` names them all. Sizes that are free are such that release 0.1.0 and VAW lose
about what they lost when the goals were written (rare-ones 139 and 13, copies 57 and 4, slow 324 and 291).
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from keyhole.data.synthetic_streams import synthetic

Floats = npt.NDArray[np.float64]
Maker = Callable[[int, int], tuple[Floats, Floats, Floats]]

# Whoever changes a learner looks at the first; a claim is made of the second, which nobody tunes on.
DEVELOPMENT_SEEDS, JUDGING_SEEDS = range(100, 200), range(70_000, 70_100)


@dataclass(frozen=True)
class Stream:
    """A law, the budget of who plays on it, and the rows that are no part of the account (row 1 never is)."""

    make: Maker
    k: int | None
    T: int = 20_000
    money: bool = False
    left_out: tuple[int, ...] = ()
    still: bool = True
    """Whether the law of the rows stays as it is: an alarm is a false one then."""
    options: dict[str, object] = field(default_factory=dict)
    sigma: float | None = None
    """The noise's standard deviation, where the columns are uniform and k of them have the weights of `synthetic`."""

    def rows(self, seed: int, T: int | None = None) -> tuple[Floats, Floats, Floats]:
        """X (T, d), y (T,) and the comparator's losses (T,)."""
        return self.make(T or self.T, seed)

    def excess(self, losses: Floats, comparator: Floats) -> float:
        """The loss beyond the comparator's over the rows that count; rows without a label count in neither."""
        counts = np.isfinite(losses)
        counts[[0, *self.left_out]] = False
        return float(losses[counts].sum() - comparator[counts].sum())


def _rng(seed: int, which: int) -> np.random.Generator:
    """A source of its own for everything that is laid over a synthetic stream."""
    return np.random.default_rng([seed, which])


def plain(design: str, d: int, k: int, sigma: float = 0.1) -> Maker:
    """Exchangeable rows of a named design, k weights."""

    def make(T: int, seed: int) -> tuple[Floats, Floats, Floats]:
        X, y, w = synthetic(d, k, T, sigma, design, seed)
        return X, y, (y - X @ w) ** 2

    return make


def _on_columns(draw: Callable[[np.random.Generator, int], Floats], k: int, size: float = 1.0) -> Maker:
    """Labels of k weights with |w|_1 = `size` and noise of 0.1 on columns drawn otherwise than `synthetic` does."""

    def make(T: int, seed: int) -> tuple[Floats, Floats, Floats]:
        rng = _rng(seed, 1)
        X = draw(rng, T)
        w = size * synthetic(X.shape[1], k, 1, seed=seed).w
        noise = 0.1 * rng.standard_normal(T)
        return X, X @ w + noise, noise**2

    return make


def _factors(rng: np.random.Generator, T: int) -> Floats:
    """40 columns: three Gaussian factors with loadings N(0, 1/3), own noise of sd 0.5, all divided by 3."""
    loadings = rng.normal(0.0, 3**-0.5, (3, 40))
    return np.asarray((rng.standard_normal((T, 3)) @ loadings + 0.5 * rng.standard_normal((T, 40))) / 3.0)


def _t3(rng: np.random.Generator, T: int) -> Floats:
    """50 independent columns of Student's t with 3 degrees of freedom, times 0.4."""
    return 0.4 * rng.standard_t(3.0, (T, 50))


def _rare(rng: np.random.Generator, T: int) -> Floats:
    """50 independent columns of zeros with 5 % ones."""
    return (rng.random((T, 50)) < 0.05).astype(np.float64)


def _copies(rng: np.random.Generator, T: int) -> Floats:
    """50 Gaussian columns of sd 0.5 in blocks of five, correlation 0.98 within one."""
    common = np.repeat(rng.standard_normal((T, 10)), 5, axis=1)
    return np.asarray(0.5 * (np.sqrt(0.98) * common + np.sqrt(0.02) * rng.standard_normal((T, 50))))


def few_of_many(T: int, seed: int) -> tuple[Floats, Floats, Floats]:
    """30 uniform columns, 6 weights, 2 bought; the comparator has the two largest weights and no others."""
    X, y, w = synthetic(30, 6, T, seed=seed)
    v = np.where(np.abs(w) >= np.sort(np.abs(w))[-2], w, 0.0)
    return X, y, (y - X @ v) ** 2


def prices(seed: int, d: int = 40) -> Floats:
    """What the columns of `priced` cost: U(0.5, 3)."""
    return _rng(seed, 2).uniform(0.5, 3.0, d)


SPEND = 6.0


def priced(T: int, seed: int) -> tuple[Floats, Floats, Floats]:
    """40 uniform columns, 8 weights, 6 to spend a row; the comparator has the best set of weights it can pay."""
    X, y, w = synthetic(40, 8, T, seed=seed)
    cost, true = prices(seed), np.flatnonzero(w)
    sets = (np.arange(2**true.size)[:, None] >> np.arange(true.size)) & 1
    error_cost = np.where(sets @ cost[true] <= SPEND, sets @ w[true] ** 2, -1.0)
    v = np.zeros(40)
    v[true] = w[true] * sets[error_cost.argmax()]
    return X, y, (y - X @ v) ** 2


def weights_by_row(path: Callable[[int, int], Floats]) -> Maker:
    """20 uniform columns, sigma 0.1, and the weights of each row from `path(T, seed)` (T, d)."""

    def make(T: int, seed: int) -> tuple[Floats, Floats, Floats]:
        X = synthetic(20, 4, T, seed=seed).X
        noise = 0.1 * _rng(seed, 3).standard_normal(T)
        return X, np.einsum("td,td->t", X, path(T, seed)) + noise, noise**2

    return make


def _w(seed: int) -> Floats:
    return synthetic(20, 4, 1, seed=seed).w


def _other_after(part: float) -> Callable[[int, int], Floats]:
    """Another support and other weights after that part of the rows."""
    return lambda T, seed: np.where((np.arange(T) < part * T)[:, None], _w(seed), _w(seed + 77_777))


def _there_and_back(T: int, seed: int) -> Floats:
    """Two vectors of weights, 4000 rows each, in turns."""
    return np.where((np.arange(T) // 4000 % 2 == 0)[:, None], _w(seed), _w(seed + 77_777))


def _times(before: float, part: float) -> Callable[[int, int], Floats]:
    """The weights times `before` in the first part of the rows."""
    return lambda T, seed: np.where((np.arange(T) < part * T)[:, None], before, 1.0) * _w(seed)


def _wander(T: int, seed: int) -> Floats:
    """Each of the four weights walks at random: after 20 000 rows its standard deviation is 0.25."""
    steps = _rng(seed, 4).standard_normal((T, 20)) * (0.25 / np.sqrt(20_000.0))
    return _w(seed) + np.cumsum(steps, axis=0) * (_w(seed) != 0.0)


def drifting_means(T: int, seed: int) -> tuple[Floats, Floats, Floats]:
    """The means of 20 columns and the label's level walk at random: standard deviation 1 after 20 000 rows."""
    X, _, w = synthetic(20, 4, T, seed=seed)
    rng = _rng(seed, 5)
    walks = np.cumsum(rng.standard_normal((T, 21)), axis=0) / np.sqrt(20_000.0)
    X, noise = X + walks[:, :20], 0.1 * rng.standard_normal(T)
    return X, X @ w + walks[:, 20] + noise, noise**2


def seasons(T: int, seed: int) -> tuple[Floats, Floats, Floats]:
    """Columns and label rise and fall by 0.5 in 2000 rows, each in its own phase; the comparator knows the label's."""
    X, _, w = synthetic(20, 4, T, seed=seed)
    rng = _rng(seed, 6)
    waves = 0.5 * np.sin(2 * np.pi * (np.arange(T)[:, None] / 2000.0 + rng.random(21)))
    X, noise = X + waves[:, :20], 0.1 * rng.standard_normal(T)
    return X, X @ w + waves[:, 20] + noise, noise**2


def _on_labels(change: Callable[[np.random.Generator, Floats], Floats]) -> Maker:
    """Uniform d = 20, k = 4, sigma 0.1, with the labels altered; the comparator knows how."""

    def make(T: int, seed: int) -> tuple[Floats, Floats, Floats]:
        X, y, w = synthetic(20, 4, T, seed=seed)
        return X, change(_rng(seed, 7), y), (y - X @ w) ** 2

    return make


def absurd_label(T: int, seed: int) -> tuple[Floats, Floats, Floats]:
    """Row 1001's label is 1000, where those around it have a standard deviation of 0.3; the comparator is spared it."""
    X, y, losses = plain("uniform", 20, 4)(T, seed)
    y[1000] = 1000.0
    return X, y, losses


def absurd_cells(T: int, seed: int) -> tuple[Floats, Floats, Floats]:
    """One cell in a thousand is shown a hundred times too large; the comparator saw it right."""
    X, y, losses = plain("uniform", 20, 4)(T, seed)
    return np.where(_rng(seed, 8).random(X.shape) < 1e-3, 100.0 * X, X), y, losses


def _with_noise(draw: Callable[[np.random.Generator, int], Floats], k: int = 4) -> Maker:
    """Uniform columns, d = 20, k weights, and noise of another law (drawn in units of the label)."""

    def make(T: int, seed: int) -> tuple[Floats, Floats, Floats]:
        X, _, w = synthetic(20, k, T, seed=seed)
        noise = draw(_rng(seed, 9), T)
        return X, X @ w + noise, noise**2

    return make


def _bursts(rng: np.random.Generator, T: int) -> Floats:
    """Gaussian noise of 0.1, and of 1 in the last 200 rows of every 2000."""
    return np.asarray(np.where(np.arange(T) % 2000 >= 1800, 1.0, 0.1) * rng.standard_normal(T))


def nothing(T: int, seed: int) -> tuple[Floats, Floats, Floats]:
    """Labels N(0, 1) that no column explains; the comparator predicts 0."""
    X, _, _ = synthetic(30, 5, T, seed=seed)
    y = _rng(seed, 10).standard_normal(T)
    return X, y, y**2


def nonlinear(T: int, seed: int) -> tuple[Floats, Floats, Floats]:
    """sin(3 <w, x>) + the square of one true column + noise; the comparator is least squares on them in hindsight."""
    X, y, w = synthetic(20, 4, T, seed=seed)
    true = np.flatnonzero(w)
    y = np.sin(3.0 * (X @ w)) + X[:, true[0]] ** 2 + (y - X @ w)
    A = np.column_stack([X[:, true], np.ones(T)])
    return X, y, np.asarray((y - A @ np.linalg.lstsq(A, y, rcond=None)[0]) ** 2)


def in_order(T: int, seed: int) -> tuple[Floats, Floats, Floats]:
    """Uniform d = 20, the rows sorted by a true column."""
    X, y, w = synthetic(20, 4, T, seed=seed)
    turn = np.argsort(X[:, np.flatnonzero(w)[0]], kind="stable")
    return X[turn], y[turn], (y[turn] - X[turn] @ w) ** 2


def reversal(T: int, seed: int) -> tuple[Floats, Floats, Floats]:
    """Simpson's reversal: ten blocks, the mean of a true column and the label's level move against its weight."""
    X, y, w = synthetic(20, 4, T, seed=seed)
    at, first = np.arange(T) * 10 // T, int(np.flatnonzero(w)[0])
    noise, centre = y - X @ w, _rng(seed, 11).permutation(10)[at] / 5.0
    X[:, first] += centre
    return X, X @ w - 2.0 * w[first] * centre + noise, noise**2


def _students(df: float, size: float) -> Callable[[np.random.Generator, int], Floats]:
    return lambda rng, T: np.asarray(size * rng.standard_t(df, T))


def _level(y: Floats) -> Floats:
    return np.asarray(y + 10.0 * (np.arange(y.size) >= y.size // 2))


STREAMS: dict[str, Stream] = {
    "uniform20": Stream(plain("uniform", 20, 4), 4, sigma=0.1),
    "uniform100": Stream(plain("uniform", 100, 5), 5, sigma=0.1),
    "uniform100-noisy": Stream(plain("uniform", 100, 5, 0.3), 5, sigma=0.3),
    "ar.5": Stream(plain("ar(0.5)", 50, 5), 5),
    "ar.8": Stream(plain("ar(0.8)", 50, 5), 5),
    "block": Stream(plain("block(5,0.7)", 60, 6), 6),
    "equicorrelated": Stream(plain("equicorrelated(0.3)", 40, 5), 5),
    "factor": Stream(_on_columns(_factors, 5), 5),
    "t3-columns": Stream(_on_columns(_t3, 5), 5),
    "rare-ones": Stream(_on_columns(_rare, 5, size=3.0), 5),
    "copies": Stream(_on_columns(_copies, 5), 5),
    "k1": Stream(plain("uniform", 30, 1), 1, sigma=0.1),
    "k2": Stream(plain("uniform", 30, 2), 2, sigma=0.1),
    "k3": Stream(plain("uniform", 30, 3), 3, sigma=0.1),
    "two-of-six": Stream(few_of_many, 2),
    "d500": Stream(plain("uniform", 500, 5), 5, sigma=0.1),
    "long": Stream(plain("uniform", 20, 4, 0.3), 4, T=500_000, sigma=0.3),
    "prices": Stream(priced, None, money=True),
    "change-half": Stream(weights_by_row(_other_after(0.5)), 4, still=False),
    "change-4000": Stream(weights_by_row(_there_and_back), 4, still=False),
    "silent-30": Stream(weights_by_row(_times(0.0, 0.3)), 4, still=False),
    "flip-30": Stream(weights_by_row(_times(-1.0, 0.3)), 4, still=False),
    "slow": Stream(weights_by_row(_wander), 4, still=False),
    "means": Stream(drifting_means, 4, still=False),
    "seasons": Stream(seasons, 4, still=False),
    "absurd-label": Stream(absurd_label, 4, left_out=(1000,)),
    "absurd-cells": Stream(absurd_cells, 4),
    "level": Stream(_on_labels(lambda _rng, y: _level(y)), 4, still=False),
    "t3-noise": Stream(_with_noise(_students(3.0, 0.1)), 4),
    "t3-noise-half-life": Stream(_with_noise(_students(3.0, 0.1)), 4, options={"half_life": 2000}),
    "t2.5-noise": Stream(_with_noise(_students(2.5, 0.1)), 4),
    "bursts": Stream(_with_noise(_bursts), 4),
    "nothing": Stream(nothing, 5),
    "nonlinear": Stream(nonlinear, 4),
    "in-order": Stream(in_order, 4, still=False),
    "reversal": Stream(reversal, 4, still=False),
}
