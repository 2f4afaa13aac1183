"""The simplex engine: a basis that is reused from one problem to the next, and the recovery when a warm start fails."""

from dataclasses import dataclass
from enum import IntEnum
from typing import ClassVar, NamedTuple, TypeAlias

import numpy as np

from ..._core import DantzigBasis, DantzigStore, DantzigWork, add_round, follow_path
from ..._internal.typing import Floats, Ints
from ...core.state import CountCheck, Growing, NumberCheck, Stateful, StateSchema, Value
from ...errors import StateError
from .gram_storage import Rows
from .problem import TOLERANCE, Solution, gamma_max, kept, no_solution
from .ties import preferences

__all__ = ["SMALL", "UPDATES", "Ending", "Event", "Fault", "Parts", "Reached", "Simplex", "Verdict"]

# Rank-one updates between refactorizations of the inverse, and the basis size up to which the core does them itself.
UPDATES, SMALL = 60, 48

Ending: TypeAlias = tuple[int, int, int, int, float, float, float, float]
"""The verdict, m, the pivots, the updates of the inverse, |w|_1, both residuals, and the gap."""


class Verdict(IntEnum):
    """The outcome of a solve or of a part of one (cpp/dantzig/point.hpp)."""

    STALE = -1
    OPEN = 0
    OPTIMAL = 1
    ZERO = 2
    LOST = 3
    STUCK = 4
    MISSING = 5
    CRAMPED = 6
    EMPTY = 7


class Event(IntEnum):
    """The next event on one side (primal or dual) of the problem (cpp/dantzig/basis.hpp)."""

    NOTHING = 0
    LEAVE = 1
    ENTER = 2


class Fault(IntEnum):
    """The error codes of a round (cpp/dantzig/update.hpp), and the code for an inverse that must be recomputed."""

    BAD_INDEX = -1
    BAD_VALUE = -2
    ASYMMETRIC = -3
    STALE_INVERSE = -4


class Reached(NamedTuple):
    """The point at which compiled code stopped in the middle of a solve."""

    ending: Ending
    warm: bool
    """Whether it started from a basis."""


@dataclass(frozen=True)
class Parts:
    """The arrays of a `Sequence` whose H is dense and symmetric."""

    H: Floats
    b: Floats
    store: DantzigStore
    basis: DantzigBasis
    work: DantzigWork
    counts: Ints
    """(3,) m, the updates of the inverse since it was last computed, and the number of rounds."""


INFEASIBLE = -2
Outcome: TypeAlias = tuple[int, int, float, float, float, float]
_TRIES = (("warm", 0), ("cold", 0), ("reseeded", 1000))


class Simplex(Stateful):
    """Parametric self-dual simplex for min |w|_1 s.t. |b - H w| <= Gamma, warm-started from the last basis.

    It tries, in this order: the current basis, a cold start (the path in gamma down from w = 0), and a cold start with
    another jitter. If all of them fail, the status is "failed" and the caller must use another method. If there are
    several solutions, it returns the one that `preference` selects (see `ties`).
    """

    _state: ClassVar[StateSchema] = {
        "m": CountCheck(),
        "updates": CountCheck(),
        "idx": Growing(CountCheck()),
        "sgn": Growing(NumberCheck()),
        "GG": Growing(NumberCheck()),
    }

    def __init__(self, d: int, preference: Floats | None = None, capacity: int = 16) -> None:
        self.d = d
        self.preference = preferences(np.arange(d)) if preference is None else preference
        self.m = 0
        self.updates = 0
        self.idx: Ints = np.zeros((2, capacity), np.int64)
        self.sgn: Floats = np.zeros((2, capacity))
        self.GG: Floats = np.zeros((2, capacity, capacity))
        # For each side (primal, dual), as value, slope in mu and direction: coefficients, residuals and bounds.
        self._x: Floats = np.zeros((2, 3, capacity))
        self._z: Floats = np.zeros((2, 3, d))
        self._c: Floats = np.ones((2, 2, d))
        self._work = DantzigWork(self._x, self._z, self._c, self.preference)
        self.Gamma: Floats = self._c[0, 0]
        # The objective is sum_j cost_j |w_j|; the costs are 1 unless columns are scaled.
        self.cost: Floats = self._c[1, 0]
        self._fit()

    def get_state(self) -> dict[str, Value]:
        """Return the basis, with only the used part of the arrays, to exclude remnants of singular inverses."""
        flat, m = super().get_state(), self.m
        kept = np.zeros_like(self.GG)
        kept[0, :m, :m] = self.GG[0, :m, :m]
        if self.updates <= UPDATES:  # otherwise it is recomputed before it is read
            kept[1, :m, :m] = self.GG[1, :m, :m]
        return flat | {"GG": kept}

    def set_state(self, flat: dict[str, Value]) -> None:
        """Restore a saved basis and recompute what is derived from it."""
        super().set_state(flat)
        capacity, idx = self.idx.shape[1], self.idx[:, : self.m]
        shapes = self.idx.shape == self.sgn.shape == (2, capacity) and self.GG.shape == (2, capacity, capacity)
        # The kernels trust these numbers; a forged file must not cause out-of-bounds reads.
        if not (shapes and 0 <= self.m <= capacity and ((idx >= 0) & (idx < self.d)).all()):
            raise StateError("the basis in the state has the wrong size; the file is damaged")
        self._fit()

    def _fit(self) -> None:
        """Rebuild everything that depends on the size or the content of the basis."""
        capacity = self.idx.shape[1]
        self._pos: Ints = np.full((2, self.d), -1, np.int64)
        for f in range(2):
            self._pos[f, self.idx[f, : self.m]] = np.arange(self.m)
        self._basis = DantzigBasis(self.idx, self.sgn, self._pos, self.GG)
        self._x = np.zeros((2, 3, capacity))
        self._work.set_coefficients(self._x)

    def _enlarge(self) -> None:
        """Double the capacity of the basis in the middle of the path."""
        x, n = self._x, self.idx.shape[1]
        self.idx = np.pad(self.idx, ((0, 0), (0, n)))
        self.sgn = np.pad(self.sgn, ((0, 0), (0, n)))
        self.GG = np.pad(self.GG, ((0, 0), (0, n), (0, n)))
        self._fit()
        self._x[:, :, :n] = x

    @property
    def indices(self) -> Ints:
        """The columns and the rows of the basis."""
        return self.idx[:, : self.m].ravel()

    @property
    def parts(self) -> tuple[DantzigBasis, DantzigWork]:
        """Return the arrays for compiled code."""
        return self._basis, self._work

    def reset(self) -> None:
        """Discard the basis."""
        self._pos[:] = -1
        self.m = self.updates = 0

    def update(self, H: Floats, b: Floats, B: Ints, h: Floats, v: Floats, *, lopsided: bool) -> int:
        """Add h to `H[B, B]` and v to `b[B]`, and update the basis matrix; return 0, or an error code if nothing was
        changed.
        """
        found = add_round(H, b, B, h, v, self._basis, self._work, self.m, UPDATES - self.updates, lopsided)
        if found >= 0:
            self.updates += found
        elif found == Fault.STALE_INVERSE:
            self.updates = UPDATES + 1
        else:
            return found
        return 0

    def solve(self, rows: Rows, b: Floats, scale: float = 1.0, reached: Reached | None = None) -> Solution:
        """Return the solution at `self.Gamma`, which the caller has set.

        The dual and the residual are those of the problem divided by `scale`. `reached` is the point at which compiled
        code stopped in this solve.
        """
        out = np.zeros((2, self.d))
        pivots = 0
        ending = reached.ending if reached else None
        for path, seed in _TRIES if (reached.warm if reached else self.m) else _TRIES[1:]:
            if path != "warm" and ending is None:
                self.reset()
            verdict, n, objective, primal, dual, gap = self._follow(rows, b, scale, out, seed, ending)
            ending = None
            pivots += n
            if verdict == Verdict.OPTIMAL:
                if np.isinf(primal):
                    primal = self._looked_at(rows, b, scale, out[0])
                if primal <= TOLERANCE and dual <= TOLERANCE and gap <= TOLERANCE:
                    return Solution(out[0], out[1], objective, primal, dual, gap, "optimal", path, pivots)
                verdict = Verdict.LOST
            if verdict != Verdict.LOST:
                break
            out[:] = 0.0
        self.reset()
        if verdict == Verdict.ZERO:
            return Solution(out[0], out[1], 0.0, 0.0, 0.0, 0.0, "optimal", "zero", pivots)
        return no_solution(self.d, "infeasible" if verdict == INFEASIBLE else "failed", path, pivots)

    def _looked_at(self, rows: Rows, b: Floats, scale: float, w: Floats) -> float:
        """Return the primal residual, computed exactly if a row seems violated; infinite if the violation exceeds
        rounding.
        """
        on = np.flatnonzero(w)
        columns = rows.take(0, on)
        r, terms = b - w[on] @ columns, np.abs(w[on]) @ np.abs(columns)
        if not kept(b, self.Gamma, r, terms):
            return np.inf
        return float((np.abs(r) - self.Gamma).max(initial=0.0)) / max(scale, gamma_max(b))

    def _follow(
        self, rows: Rows, b: Floats, scale: float, out: Floats, seed: int, ending: Ending | None = None
    ) -> Outcome:
        """Follow the solution path to its end, and serve the kernel's requests on the way.

        Return the verdict, the pivots, |w|_1, the primal and dual residual, and the gap. Compiled code may already have
        followed the path to an `ending`.
        """
        inverted, before = False, 0
        while True:
            end, self.m, pivots, self.updates, objective, primal, dual, gap = ending or follow_path(
                rows.store, self._basis, self._work, self.m, b, scale, out, seed, self.updates
            )
            ending, seed = None, -1
            if end == Verdict.STALE:
                # A basis that is stale right after its inverse was computed is singular; a small one is known to be.
                self._invert(drop=self.m <= SMALL or (inverted and pivots == before))
            elif end == Verdict.CRAMPED:
                self._enlarge()
            elif end == Verdict.MISSING:
                rows.load(self._work.missing, self.indices)
            elif end == Verdict.EMPTY:
                self._perturb()
            else:
                break
            inverted, before = end == Verdict.STALE, pivots
        if end == Verdict.STUCK:
            end = INFEASIBLE if self._infeasible(rows, b) else Verdict.LOST
        return end, pivots, objective, primal, dual, gap

    def _invert(self, *, drop: bool) -> None:
        """Compute the inverse of the basis matrix; discard a singular basis."""
        m = self.m
        self.updates = 0
        try:
            if not drop:
                self.GG[1, :m, :m] = np.linalg.inv(self.GG[0, :m, :m])
        except np.linalg.LinAlgError:
            drop = True
        if drop:
            self.reset()

    def _perturb(self) -> None:
        """Perturb the empty basis: raise every bound equally (the path in gamma) up to a random jitter."""
        z, c, restarts = self._z, self._c, self._work.restarts
        xi = np.random.default_rng(int(self._work.seed + restarts)).random((2, self.d))
        jitter = 1e-3 if restarts <= 2 else 0.1
        z[:, 1] = 0.0
        c[0, 1] = np.max(np.abs(z[0, 0]) - c[0, 0]) * (1.0 + jitter * xi[0])
        c[1, 1] = jitter * xi[1]

    def _infeasible(self, rows: Rows, b: Floats) -> bool:
        """Return whether the unbounded direction is a Farkas ray: H'l = 0 up to rounding and b'l > Gamma'|l|."""
        kind, entering, sign = self._work.event(0)
        if self._work.event(1)[0] != Event.NOTHING:
            return False
        ray = np.zeros(self.d)
        ray[self.idx[1, : self.m]] = self._x[1, 2, : self.m]
        if kind == Event.ENTER:
            ray[entering] = sign
        on = np.flatnonzero(ray)
        gain, cost = b[on] @ ray[on], self.Gamma[on] @ np.abs(ray[on])
        lines = rows.take(1, on)
        off, size = np.abs(ray[on] @ lines), np.abs(ray[on]) @ np.abs(lines)
        proof = gain - cost > 1e-9 * (np.abs(b[on]) @ np.abs(ray[on]) + cost)
        return bool(proof and (off <= 1e-11 * size).all())
