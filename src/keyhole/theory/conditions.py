"""Diagnostics of the paper's assumptions: what can be computed from data, only bounded, or not be observed at all.

The deviation of small sets of columns from orthonormality is bounded: with columns scaled to mean square one, the
restricted isometry constant of order s is the smallest delta with

    (1-delta) |w|^2 <= |Xw|^2/T <= (1+delta) |w|^2    for all w with at most s non-zeros.

Computing it is NP-hard, so it is bounded from both sides.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from .._internal.typing import Floats, Ints
from ..errors import ConfigError
from .comparators import best_sparse
from .compatibility import Compatibility, compatibility, eigenvalue_floor

__all__ = [
    "DRAWS",
    "DRIFT",
    "Assumption",
    "Conditions",
    "Isometry",
    "Residuals",
    "Signal",
    "coherence",
    "conditions",
    "conditions_of",
    "drift_of",
    "isometry",
    "signal",
    "unit_diagonal",
]

# Kale et al. 2017 require a restricted isometry constant of order about 3k of at most this.
_KALE = 0.2
# |z| above this is called evidence: it has probability of about 1 in 16 000 if the assumption holds.
DRIFT = _LOUD = 4.0


class Isometry(NamedTuple):
    """Bounds on the restricted isometry constant: `low` (attained by `support`) and `high` (certified)."""

    order: int
    low: float
    high: float
    support: Ints


def unit_diagonal(G: Floats) -> Floats:
    """Return G with every column scaled to mean square one; zero columns are unchanged."""
    size = np.sqrt(np.diag(G))
    scale = np.where(size > 0, 1.0 / np.where(size > 0, size, 1.0), 0.0)
    scaled: Floats = G * np.outer(scale, scale)
    return scaled


def coherence(G: Floats) -> float:
    """Return the largest |G_ij| / sqrt(G_ii G_jj), i != j; 0 for a single column."""
    near = np.abs(unit_diagonal(G))
    np.fill_diagonal(near, 0.0)
    return float(near.max(initial=0.0))


def isometry(G: Floats, order: int) -> Isometry:
    """Return bounds on the restricted isometry constant delta_s of order s = `order`, for second moments G.

    Upper bounds: the sum of the s - 1 largest |G_ij| of any row (Gershgorin), and the extreme eigenvalues of all of G.
    Lower bound: the worst among sets grown greedily from each column towards either extreme eigenvalue.
    """
    N = unit_diagonal(G)
    order = min(order, len(N))
    near = np.abs(N)
    np.fill_diagonal(near, 0.0)
    gershgorin = float(np.sort(near, axis=1)[:, ::-1][:, : order - 1].sum(axis=1).max(initial=0.0))
    values = np.linalg.eigvalsh(N)
    high = min(gershgorin, max(1.0 - float(values[0]), float(values[-1]) - 1.0))
    low, support = 0.0, np.arange(min(order, len(N)))
    for start in range(len(N)):
        for sign in (1.0, -1.0):
            S = _grow(N, start, order, sign)
            ends = np.linalg.eigvalsh(N[np.ix_(S, S)])
            found = max(1.0 - float(ends[0]), float(ends[-1]) - 1.0)
            if found > low:
                low, support = found, np.sort(S)
    return Isometry(order, low, max(high, low), support)


def _grow(N: Floats, start: int, order: int, sign: float) -> Ints:
    """Return a set of `order` columns, grown from `start`: each new column is the one most strongly coupled to the
    extreme eigenvector of the set so far.
    """
    S = [start]
    while len(S) < order:
        vectors = np.linalg.eigh(N[np.ix_(S, S)])[1]
        extreme = vectors[:, -1] if sign > 0 else vectors[:, 0]
        pull = np.abs(N[:, S] @ extreme)
        pull[S] = -np.inf
        S.append(int(np.argmax(pull)))
    return np.array(S)


@dataclass(frozen=True)
class Residuals:
    """Test statistics, each approximately standard normal if the assumption it tests holds."""

    rows: int
    sigma: float
    """The standard deviation of the residuals."""
    largest: float
    """The largest absolute residual, in units of sigma."""
    fit: float
    """Assumption (a): the F statistic of the attributes outside S, as a z score."""
    skew: float
    tails: float
    """Assumption (f): the third and fourth moments."""
    memory: float
    """Assumption (i): the correlation of consecutive residuals."""
    drift: float
    """Assumption (i): the largest shift of a column mean between the halves, corrected for the number of columns."""

    @classmethod
    def of(cls, X: Floats, y: Floats, S: Ints) -> "Residuals":
        """Compute the statistics of the residuals of y on X_S."""
        T, d = X.shape
        r = y - X[:, S] @ np.linalg.lstsq(X[:, S], y, rcond=None)[0]
        e = y - X @ np.linalg.lstsq(X, y, rcond=None)[0]
        sigma = float(np.sqrt((r**2).mean()))
        z = r / sigma if sigma > 0 else r
        return cls(
            rows=T,
            sigma=sigma,
            largest=float(np.abs(z).max()),
            fit=_f_as_z(float(r @ r), float(e @ e), d - S.size, T - d),
            skew=float((z**3).mean()) * math.sqrt(T / 6),
            tails=(float((z**4).mean()) - 3) * math.sqrt(T / 24),
            memory=float(z[1:] @ z[:-1]) / math.sqrt(T),
            drift=drift_of(X)[0],
        )

    @property
    def linear(self) -> str:
        """Describe the evidence on assumption (a): the label is linear in the attributes of S."""
        if self.fit > _LOUD:
            return f"evidence against it: the other attributes explain more than chance (z {self.fit:.1f})"
        return f"no evidence against it: the other attributes explain what chance would (z {self.fit:.1f})"

    @property
    def gaussian(self) -> str:
        """Describe the evidence on assumption (f): Gaussian noise."""
        loud = max(abs(self.skew), abs(self.tails)) > _LOUD
        return f"{'' if loud else 'no '}evidence against it (skew z {self.skew:.1f}, tails z {self.tails:.1f})"

    @property
    def bounded(self) -> str:
        """Describe the evidence on assumption (g): bounded noise."""
        return f"no bound can be read off rows; the largest residual seen is {self.largest:.1f} sigma"

    @property
    def alike(self) -> str:
        """Describe the evidence on assumption (i): identically distributed rows."""
        loud = max(abs(self.memory), self.drift) > _LOUD
        said = "evidence against it" if loud else "no evidence against it"
        return f"{said} (a row's residual and the next one's: z {self.memory:.1f}; drift of a mean: z {self.drift:.1f})"


def _f_as_z(short: float, full: float, extra: int, rest: int) -> float:
    """Return the statistic F = ((short - full)/extra) / (full/rest) as an approximate z, or 0; F has mean one and
    variance about 2/extra + 2/rest.
    """
    if extra <= 0 or rest <= 2 or full <= 0:
        return 0.0
    return ((short - full) / extra / (full / rest) - 1) / math.sqrt(2 / extra + 2 / rest)


def drift_of(X: Floats) -> tuple[float, int]:
    """Return (z, column) of the largest shift of a column mean between the two halves of the rows; column -1 if there
    is none.
    """
    half = len(X) // 2
    spread = np.sqrt(X[:half].var(axis=0) / max(half, 1) + X[half:].var(axis=0) / max(len(X) - half, 1))
    moved = np.abs(X[half:].mean(axis=0) - X[:half].mean(axis=0))
    each = np.where(spread > 0, moved / np.where(spread > 0, spread, 1.0), 0.0)
    if not half or not each.size:
        return 0.0, -1
    column = int(np.argmax(each))
    # The largest of d standard normal magnitudes is about sqrt(2 ln d); only an excess over it is evidence.
    return math.sqrt(max(0.0, float(each[column]) ** 2 - 2 * math.log(max(X.shape[1], 1)))), column


class Assumption(NamedTuple):
    """One of the paper's assumptions, by letter, and the evidence of the data on it."""

    letter: str
    words: str
    checkable: str
    """"yes", "bounds" (from both sides), "refutable" (data can contradict but never confirm it) or "no"."""
    finding: str


@dataclass(frozen=True, eq=False)
class Conditions:
    """The conditions of a design G = X'X/T and a support S."""

    d: int
    support: Ints
    smallest_eigenvalue: float
    """The smallest eigenvalue of G; its root is the paper's sigma_d."""
    coherence: float
    compatibility: Compatibility
    restricted: tuple[float, float]
    """Bounds on the restricted eigenvalue min w'Gw/|w_S|_2^2 over the cone of S."""
    isometry: Isometry
    """Bounds on the restricted isometry constant of order 3 |S|."""
    residuals: Residuals | None
    """Statistics of the residuals of least squares on S; None without rows."""

    @property
    def assumptions(self) -> tuple[Assumption, ...]:
        """The paper's assumptions (a) to (i); it has no (h)."""
        r, rip, unseen = self.residuals, self.isometry, "needs the rows, not their moments"
        order = f"order {rip.order}: {rip.low:.2g} to {rip.high:.2g}"
        meets = "not met" if rip.low > _KALE else "met" if rip.high <= _KALE else "open"
        return (
            Assumption("a", "realizable", "refutable", r.linear if r else unseen),
            Assumption("b", "sparse", "no", "whether the labels' own weights have k non-zeros is not in the data"),
            Assumption("c", "linearly independent", "yes", f"smallest eigenvalue {self.smallest_eigenvalue:.2g}"),
            Assumption("d", "compatibility", "yes" if self.compatibility.exact else "bounds", self._delta_s),
            Assumption("e", "restricted isometry", "bounds", f"{order}; Kale et al. need {_KALE:g}: {meets}"),
            Assumption("f", "Gaussian noise", "refutable", r.gaussian if r else unseen),
            Assumption("g", "bounded noise", "no", r.bounded if r else unseen),
            Assumption("i", "i.i.d. rows", "refutable", r.alike if r else unseen),
        )

    @property
    def _delta_s(self) -> str:
        c = self.compatibility
        return f"delta_S = {c.delta_s:.3g}" if c.exact else f"delta_S from {c.lower:.3g} to {c.delta_s:.3g}"

    @property
    def lines(self) -> tuple[str, ...]:
        """Return the report as lines of text."""
        low, high = self.restricted
        head = (
            f"the paper's conditions, for these {self.support.size} of {self.d} attributes: {self._delta_s}, "
            f"restricted eigenvalue {low:.2g} to {high:.2g}, smallest eigenvalue {self.smallest_eigenvalue:.2g}, "
            f"coherence {self.coherence:.2g}"
        )
        return (head, *(f"({a.letter}) {a.words} [checkable: {a.checkable}]: {a.finding}" for a in self.assumptions))


def conditions(
    X: Floats, y: Floats, k: int = 5, S: "Ints | None" = None, *, alpha: float = 1.0, nodes: int = 1000
) -> Conditions:
    """Return the conditions on rows X with labels y, for the support S (None: the best k in hindsight).

    >>> import keyhole as kh
    >>> X, y, w = kh.streams.synthetic(d=12, k=3, T=2000, seed=0)
    >>> c = conditions(X, y, k=3)
    >>> (c.support == np.flatnonzero(w)).all(), round(c.compatibility.delta_s, 1), c.coherence < 0.1
    (np.True_, 0.6, True)
    """
    X, y = np.asarray(X, dtype=np.float64), np.asarray(y, dtype=np.float64)
    chosen = best_sparse(X, y, min(k, X.shape[1]), nodes=nodes).chosen if S is None else np.asarray(S, dtype=np.int64)
    return _of(X.T @ X / len(X), chosen, alpha, Residuals.of(X, y, chosen))


def conditions_of(C: Floats, S: Ints, *, alpha: float = 1.0, rows: Floats | None = None) -> Conditions:
    """Return the conditions for second moments C (d+1, d+1) of rows with the label last, as in `keyhole diagnose`.

    What moments cannot show is computed from a sample of `rows` (n, d+1), in their order.
    """
    C = np.asarray(C, dtype=np.float64)
    if C.ndim != 2 or C.shape[0] != C.shape[1] or len(C) < 2:
        raise ConfigError(f"C must be (d+1, d+1), the label last, not {C.shape}")
    S = np.asarray(S, dtype=np.int64)
    seen = None if rows is None or not len(rows) else Residuals.of(rows[:, :-1], rows[:, -1], S)
    return _of(C[:-1, :-1], S, alpha, seen)


def _of(G: Floats, S: Ints, alpha: float, residuals: Residuals | None) -> Conditions:
    values, vectors = np.linalg.eigh(G)
    # The rows of this root have G as their second moments.
    rows = np.sqrt(np.maximum(values, 0.0) * len(G))[:, None] * vectors.T
    found = compatibility(rows, S, alpha)
    w = found.minimiser
    high = float(w @ G @ w) / float((w[S] ** 2).sum())
    low = min(high, eigenvalue_floor(G, S, alpha))
    rip = isometry(G, 3 * S.size)
    return Conditions(len(G), S, max(0.0, float(values[0])), coherence(G), found, (low, high), rip, residuals)


DRAWS = 300
"""The number of random choices whose median is `Signal.random`."""
# Attributes with at least this correlation are called interchangeable.
_ALIKE = 0.95
# For larger supports the compatibility constant would take minutes.
_LARGEST = 10


class Signal(NamedTuple):
    """The R2 of least squares with all attributes, the best k, and k at random."""

    all: float
    """The R2 with all attributes."""
    best: float
    """The R2 with the best k found."""
    best_bound: float
    """An upper bound on the R2 of any k attributes; equal to `best` if that is proved optimal."""
    random: float
    """The median R2 of k attributes drawn at random."""
    support: Ints
    """The best k attributes found."""
    delta_s: float
    """The compatibility constant of that support; NaN if it has more than 10 members."""
    smallest_eigenvalue: float
    """The smallest eigenvalue of the attributes' second moments."""
    groups: tuple[tuple[int, ...], ...]
    """Groups of attributes with absolute pairwise correlations of at least 0.95."""

    @property
    def verdict(self) -> str:
        """Whether choosing attributes can gain much, as text."""
        if self.best < 0.02:
            return "hardly any linear signal"
        ratio = self.random / self.best
        if ratio > 0.85:
            return "columns are interchangeable: choosing can win little"
        return "choosing matters" if ratio < 0.5 else "choosing matters somewhat"


def signal(C: Floats, k: int, *, seed: int = 0) -> Signal:
    """Compute the signal from the second moments C (d+1, d+1) of centred rows with the label last.

    C = A'A represents the rows: least squares, and hence the best k, the compatibility constant and the eigenvalues,
    are the same for the d + 1 rows of A as for the rows behind C.
    """
    d = len(C) - 1
    if not 1 <= k <= d:
        raise ConfigError(f"k must be between 1 and d = {d}; it is {k}")
    if C[-1, -1] <= 0:
        raise ConfigError("the label is constant; there is nothing to predict")
    values, vectors = np.linalg.eigh(C)
    A = np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T
    X, y = A[:, :d], A[:, d]
    best = best_sparse(X, y, k, nodes=_nodes(d))
    S = np.flatnonzero(best.weights)
    r2 = _r2(C, S)
    return Signal(
        all=_r2(C, np.arange(d)),
        best=r2,
        best_bound=r2 + best.gap,
        random=_random(C, k, np.random.default_rng(seed)),
        support=S,
        delta_s=compatibility(X * np.sqrt(len(X)), S).delta_s if 1 <= S.size <= _LARGEST else np.nan,
        smallest_eigenvalue=float(np.linalg.eigvalsh(C[:d, :d])[0]),
        groups=_groups(C[:d, :d]),
    )


def _r2(C: Floats, S: Ints) -> float:
    """Return R2 of the columns S: b_S' G_SS^+ b_S / y'y, where G, b and y'y are parts of C."""
    w = np.linalg.lstsq(C[np.ix_(S, S)], C[S, -1], rcond=1e-12)[0]
    return float(C[S, -1] @ w / C[-1, -1])


def _random(C: Floats, k: int, rng: np.random.Generator) -> float:
    return float(np.median([_r2(C, rng.choice(len(C) - 1, k, replace=False)) for _ in range(DRAWS)]))


def _groups(G: Floats) -> tuple[tuple[int, ...], ...]:
    """Return groups of highly correlated attributes; each attribute joins the first group with all of whose members it
    is highly correlated.
    """
    size = np.sqrt(np.maximum(np.diag(G), np.finfo(float).tiny))
    alike = np.abs(G) >= _ALIKE * np.outer(size, size)
    groups: list[list[int]] = []
    for i in range(len(G)):
        home = next((group for group in groups if alike[i, group].all()), None)
        if home is None:
            groups.append([i])
        else:
            home.append(i)
    return tuple(tuple(group) for group in groups if len(group) > 1)


def _nodes(d: int) -> int:
    """Return the node limit of the search for the best k attributes, so that it takes a second or two; a node takes
    about d^3 steps.
    """
    return int(max(10, min(5000, 2e9 / d**3)))
