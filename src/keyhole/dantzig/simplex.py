"""The engine: a basis that lives from one problem to the next, and what to do when the way from it goes wrong."""

from typing import ClassVar

import numpy as np

from .._types import Floats, Ints
from ..errors import StateError
from ..state import Stateful, Value
from ._drive import CRAMPED, DUBIOUS, MISSING, STUCK, drive, tilt
from ._events import ENTER, NOTHING
from ._push import follow
from ._settle import COLUMNS, KIND, OPTIMAL, SCALE_Z, SIGN, STALE, WHICH, ZERO, Basis, Work, settle
from .problem import Solution, no_solution
from .stores import Rows

__all__ = ["Simplex"]

# Rank-one updates after which the inverse is computed anew, and pivots after which the point is.
UPDATES, PIVOTS = 60, 40
INFEASIBLE, LOST = -2, -3

# The verdict, |w|_1 and the certificate (primal, dual, gap).
Finding = tuple[int, float, float, float, float]


class Simplex(Stateful):
    """Parametric self-dual simplex for min |w|_1 s.t. |b - H w| <= Gamma, warm from the basis of the last problem.

    Tried in this order: the basis at hand, a cold start (the path in gamma down from w = 0), a cold start with another
    jitter. If all of them lose their way the solution's status is "failed", and the caller has to look elsewhere.
    """

    _fields: ClassVar[tuple[str, ...]] = ("m", "updates", "idx", "sgn", "GG")
    _grows: ClassVar[tuple[str, ...]] = (
        "idx",
        "sgn",
        "GG",
    )

    def __init__(self, d: int, room: int = 16) -> None:
        self.d = d
        self.m = 0
        self.updates = 0
        self.idx: Ints = np.zeros((2, room), np.int64)
        self.sgn: Floats = np.zeros((2, room))
        self.GG: Floats = np.zeros((2, room, room))
        self.Gamma: Floats = np.zeros(d)
        self._pivots = 0
        self._z, self._c, self._room = np.zeros((2, 3, d)), np.ones((2, 2, d)), np.zeros((2, d))
        self._note = np.zeros((2, COLUMNS))
        self._fit()

    def set_state(self, flat: dict[str, Value]) -> None:
        """Take over a saved basis; what is derived from it is computed again."""
        super().set_state(flat)
        room, idx = self.idx.shape[1], self.idx[:, : self.m]
        shapes = self.idx.shape == self.sgn.shape == (2, room) and self.GG.shape == (2, room, room)
        # The kernels trust these numbers; a file must not be able to make them read elsewhere.
        if not (shapes and 0 <= self.m <= room and ((idx >= 0) & (idx < self.d)).all()):
            raise StateError("the basis in the state is not one of this size; the file is damaged")
        self._fit()

    def _fit(self) -> None:
        """Make what hangs on the size or the content of the basis."""
        room = self.idx.shape[1]
        pos = np.full((2, self.d), -1, np.int64)
        for side in range(2):
            pos[side, self.idx[side, : self.m]] = np.arange(self.m)
        self.Gamma = self._c[0, 0]
        self._basis: Basis = (self.idx, self.sgn, pos, self.GG)
        self._work: Work = (np.zeros((2, 3, room)), self._z, self._c, np.zeros((4, room)), self._room, self._note)

    def _enlarge(self) -> None:
        """Room for twice as large a basis, in the middle of the path."""
        x, room = self._work[0], self.idx.shape[1]
        self.idx = np.pad(self.idx, ((0, 0), (0, room)))
        self.sgn = np.pad(self.sgn, ((0, 0), (0, room)))
        self.GG = np.pad(self.GG, ((0, 0), (0, room), (0, room)))
        self._fit()
        self._work[0][:, :, :room] = x

    @property
    def indices(self) -> Ints:
        """The columns and the rows of the basis."""
        return self.idx[:, : self.m].ravel()

    def reset(self) -> None:
        """Forget the basis."""
        self._basis[2][:] = -1
        self.m = self.updates = 0

    def follow(self, B: Ints, h: Floats) -> None:
        """H[B, B] has grown by h: so does the basis matrix, and its inverse if that is still worth while."""
        if self.m:
            changed = follow(self._basis, self._work, self.m, B, h, UPDATES - self.updates)
            self.updates += changed if changed >= 0 else UPDATES + 1

    def solve(self, rows: Rows, b: Floats, scale: float = 1.0) -> Solution:
        """The solution at `self.Gamma`, which the caller has set; the dual and the residual are those of the problem
        divided by `scale`."""
        out = np.zeros((2, self.d))
        self._pivots = 0
        path = "warm" if self.m else "cold"
        found = self._run(rows, b, scale, out, 1, warm=self.m > 0)
        if found[0] == LOST and path == "warm":
            path, found = "cold", self._run(rows, b, scale, out, 1, warm=False)
        if found[0] == LOST:
            path, found = "reseeded", self._run(rows, b, scale, out, 1001, warm=False)
        verdict, size, primal, dual, gap = found
        if verdict != OPTIMAL:
            self.reset()
        if verdict < 0:
            return no_solution(self.d, "infeasible" if verdict == INFEASIBLE else "failed", path, self._pivots)
        if verdict == ZERO:
            path = "zero"
        return Solution(out[0], out[1], size, primal, dual, gap, "optimal", path, self._pivots)

    def _run(self, rows: Rows, b: Floats, scale: float, out: Floats, seed: int, *, warm: bool) -> Finding:
        """Settle, perturb and drive until the basis is optimal; a warm start that wanders is lost early."""
        if not warm:
            self.reset()
        m = self.m
        most = self._pivots + (3 * m + 40 if warm else 2000 + 20 * self.d)
        widest = 2 * m + 20 if warm else self.d
        for restart in range(60 + most // PIVOTS):
            found = self._settle(rows, b, scale, out)
            if found[0] > 0:
                return found
            if self._pivots > most or self.m > widest:
                break
            self._tilt(rows, seed + 101 * restart, restart)
            end = self._drive(rows, min(PIVOTS, most + 1 - self._pivots), widest)
            if end == STUCK:
                return (INFEASIBLE if self._infeasible(b) else LOST), 0.0, 0.0, 0.0, 0.0
            if end == DUBIOUS:
                self.updates = UPDATES + 1
        return LOST, 0.0, 0.0, 0.0, 0.0

    def _settle(self, rows: Rows, b: Floats, scale: float, out: Floats) -> Finding:
        """The point of the basis, from a fresh inverse where the old one is worn; from none where there is none."""
        if self.updates <= UPDATES:
            found = settle(rows.store, self._basis, self._work, self.m, b, scale, out)
            if found[0] != STALE:
                return found
        self._invert()
        found = settle(rows.store, self._basis, self._work, self.m, b, scale, out)
        if found[0] == STALE:
            self.reset()
            found = settle(rows.store, self._basis, self._work, 0, b, scale, out)
        return found

    def _invert(self) -> None:
        """Compute the inverse from the basis matrix; a singular one is dropped."""
        m = self.m
        try:
            self.GG[1, :m, :m] = np.linalg.inv(self.GG[0, :m, :m])
        except np.linalg.LinAlgError:
            self.reset()
        self.updates = 0

    def _tilt(self, rows: Rows, seed: int, restart: int) -> None:
        """The perturbation under which the basis is optimal; larger jitter after two restarts."""
        if self.m:
            tilt(rows.store, self._basis, self._work, self.m, 1e-5 if restart < 2 else 1e-3, float(seed))
            return
        # Every bound is raised alike, which makes the path that in gamma, but for the jitter.
        z, c = self._z, self._c
        xi = np.random.default_rng(seed).random((2, self.d))
        jitter = 1e-3 if restart < 2 else 0.1
        z[:, 1] = 0.0
        c[0, 1] = np.max(np.abs(z[0, 0]) - c[0, 0]) * (1.0 + jitter * xi[0])
        c[1, 1] = jitter * xi[1]

    def _drive(self, rows: Rows, most: int, widest: int) -> int:
        """Pivot on, bringing in rows and making room as they are asked for."""
        mu = 1.0
        while True:
            end, self.m, mu, n = drive(rows.store, self._basis, self._work, self.m, mu, most, widest)
            most -= n
            self._pivots += n
            self.updates += n
            if end == CRAMPED:
                self._enlarge()
            elif end == MISSING:
                rows.load(int(self._note[0, SCALE_Z]), self.indices)
            else:
                return end

    def _infeasible(self, b: Floats) -> bool:
        """Is the direction without an end a proof: a ray l with H'l = 0 and b'l > Gamma'|l|?"""
        note, x, (_, R) = self._note, self._work[0], self.idx
        if note[1, KIND] != NOTHING:
            return False
        ray = np.zeros(self.d)
        ray[R[: self.m]] = x[1, 2, : self.m]
        if note[0, KIND] == ENTER:
            ray[int(note[0, WHICH])] = note[0, SIGN]
        on = ray != 0.0
        gain, cost = b[on] @ ray[on], self.Gamma[on] @ np.abs(ray[on])
        return bool(gain - cost > 1e-9 * (np.abs(b[on]) @ np.abs(ray[on]) + cost))
