"""The engine: a basis that lives from one problem to the next, and what to do when the way from it goes wrong."""

from typing import ClassVar

import numpy as np

from .._types import Floats, Ints
from ..errors import StateError
from ..state import Stateful, Value
from ._drive import CRAMPED, EMPTY, LOST, MISSING, PLACES, RESTARTS, SEED, STUCK, UPDATES, WORN, drive
from ._events import ENTER, NOTHING
from ._push import STALE_INVERSE, push
from ._settle import COLUMNS, EXCESS, GAP, KIND, OPTIMAL, SCALE_Z, SIGN, STALE, WHICH, ZERO, Basis, Work
from .problem import Solution, no_solution
from .stores import Rows

__all__ = ["Simplex"]

INFEASIBLE = -2


class Simplex(Stateful):
    """Parametric self-dual simplex for min |w|_1 s.t. |b - H w| <= Gamma, warm from the basis of the last problem.

    Tried in this order: the basis at hand, a cold start (the path in gamma down from w = 0), a cold start with another
    jitter. If all of them lose their way the solution's status is "failed", and the caller has to look elsewhere.
    """

    _fields: ClassVar[tuple[str, ...]] = ("m", "updates", "idx", "sgn", "GG")
    _grows: ClassVar[tuple[str, ...]] = ("idx", "sgn", "GG")

    def __init__(self, d: int, room: int = 16) -> None:
        self.d = d
        self.m = 0
        self.updates = 0
        self.idx: Ints = np.zeros((2, room), np.int64)
        self.sgn: Floats = np.zeros((2, room))
        self.GG: Floats = np.zeros((2, room, room))
        self._pivots = 0
        self._way = np.zeros(PLACES)
        self._z, self._c, self._room = np.zeros((2, 3, d)), np.ones((2, 2, d)), np.zeros((2, d))
        self._note = np.zeros((2, COLUMNS))
        self.Gamma: Floats = self._c[0, 0]
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

    def push(self, H: Floats, b: Floats, B: Ints, h: Floats, v: Floats, *, lopsided: bool) -> int:
        """H[B, B] += h and b[B] += v, and with them the basis matrix; 0 or what is wrong (then nothing was changed)."""
        pos, GG = self._basis[2:]
        found = push(H, b, B, h, v, pos, GG, self._work[3], self.m, UPDATES - self.updates, lopsided)
        if found >= 0:
            self.updates += found
        elif found == STALE_INVERSE:
            self.updates = UPDATES + 1
        else:
            return found
        return 0

    def solve(self, rows: Rows, b: Floats, scale: float = 1.0) -> Solution:
        """The solution at `self.Gamma`, which the caller has set; the dual and the residual are those of the problem
        divided by `scale`."""
        out = np.zeros((2, self.d))
        self._pivots = 0
        path = "warm" if self.m else "cold"
        verdict, size = self._run(rows, b, scale, out, 0)
        if verdict == LOST and path == "warm":
            self.reset()
            path, (verdict, size) = "cold", self._run(rows, b, scale, out, 0)
        if verdict == LOST:
            self.reset()
            path, (verdict, size) = "reseeded", self._run(rows, b, scale, out, 1000)
        if verdict == OPTIMAL:
            (primal, dual), gap = self._note[:, EXCESS].tolist(), self._note.item(GAP)
            return Solution(out[0], out[1], size, primal, dual, gap, "optimal", path, self._pivots)
        self.reset()
        if verdict == ZERO:
            return Solution(out[0], out[1], 0.0, 0.0, 0.0, 0.0, "optimal", "zero", self._pivots)
        return no_solution(self.d, "infeasible" if verdict == INFEASIBLE else "failed", path, self._pivots)

    def _run(self, rows: Rows, b: Floats, scale: float, out: Floats, seed: int) -> tuple[int, float]:
        """Drive to the end, with what is asked for on the way: the verdict and |w|_1."""
        inverted, way = False, self._way
        way[WORN] = self.updates
        while True:
            end, self.m, n, size = drive(rows.store, self._basis, self._work, self.m, b, scale, out, way, seed)
            seed = -1
            self._pivots += n
            if end == STALE:
                # A basis that is worn again right after its inverse was computed is singular.
                self._invert(drop=inverted and n == 0)
            elif end == CRAMPED:
                self._enlarge()
            elif end == MISSING:
                rows.load(int(self._note[0, SCALE_Z]), self.indices)
            elif end == EMPTY:
                self._tilt()
            else:
                break
            inverted = end == STALE
        self.updates = int(way[WORN])
        if end == STUCK:
            return (INFEASIBLE if self._infeasible(b) else LOST), 0.0
        return end, size

    def _invert(self, *, drop: bool) -> None:
        """Compute the inverse from the basis matrix; a singular one is dropped."""
        m = self.m
        self._way[WORN] = 0.0
        try:
            self.GG[1, :m, :m] = np.linalg.inv(self.GG[0, :m, :m])
        except np.linalg.LinAlgError:
            drop = True
        if drop:
            self.reset()

    def _tilt(self) -> None:
        """Perturb the empty basis: every bound is raised alike, the path in gamma, but for a jitter."""
        z, c, restarts = self._z, self._c, self._way[RESTARTS]
        xi = np.random.default_rng(int(self._way[SEED] + restarts)).random((2, self.d))
        jitter = 1e-3 if restarts <= 2 else 0.1
        z[:, 1] = 0.0
        c[0, 1] = np.max(np.abs(z[0, 0]) - c[0, 0]) * (1.0 + jitter * xi[0])
        c[1, 1] = jitter * xi[1]

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
