"""Whether the paper's assumptions hold on data: what can be computed, what can only be bounded, what nobody can see."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from .._internal.typing import Floats, Ints
from ..errors import ConfigError
from .comparators import best_sparse
from .compatibility import Compatibility, compatibility
from .cone import eigenvalue_floor
from .isometry import Isometry, coherence, isometry
from .residuals import Residuals

__all__ = ["Assumption", "Conditions", "conditions", "conditions_of"]

# Kale et al. 2017 need a restricted isometry constant of order about 3k of at most this.
_KALE = 0.2


class Assumption(NamedTuple):
    """One of the paper's letters, and what data say about it."""

    letter: str
    words: str
    checkable: str
    """"yes", "bounds" (from both sides), "refutable" (data can speak against it, never for it) or "no"."""
    finding: str


@dataclass(frozen=True, eq=False)
class Conditions:
    """Conditions of a design G = X'X/T and a support S within it."""

    d: int
    support: Ints
    smallest_eigenvalue: float
    """Of G; its root is the paper's sigma_d."""
    coherence: float
    compatibility: Compatibility
    restricted: tuple[float, float]
    """Bounds on the restricted eigenvalue min w'Gw/|w_S|_2^2 over the cone of S."""
    isometry: Isometry
    """Of order 3 |S|."""
    residuals: Residuals | None
    """What is left of the label by least squares on S, where rows were given."""

    @property
    def assumptions(self) -> tuple[Assumption, ...]:
        """The paper's (a) to (i); it has no (h)."""
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
        """What there is to say, a line each."""
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
    """The conditions on rows X with labels y, for the support S (None: the best k in hindsight).

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
    """The conditions of second moments C (d+1, d+1) of rows with the label last, as `keyhole diagnose` has them; what
    moments cannot tell is read off some `rows` (n, d+1), in their order."""
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
