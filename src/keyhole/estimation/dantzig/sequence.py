"""A sequence of related problems: in each round H and b grow by a small block and gamma changes slightly."""

from typing import ClassVar, TypeGuard

import numpy as np

from ..._core import scale_widths
from ..._internal.typing import Floats, Ints
from ...core.state import CountCheck, NumberCheck, Part, Stateful, StateSchema, Value
from ...errors import ConfigError
from .gram_storage import Dense, Log
from .highs import fallback
from .problem import Solution, check_gamma, gamma_max
from .simplex import Fault, Parts, Reached, Simplex
from .ties import preferences

__all__ = ["Sequence"]

# The largest d for which all of H is stored, and the largest for which every row, once needed, is built and cached.
DENSE, ROWS = 5_000, 50_000
_INT64 = np.dtype(np.int64)


_NEEDS = {
    Fault.BAD_INDEX: "distinct indices below {}",
    Fault.BAD_VALUE: "finite h and v",
    Fault.ASYMMETRIC: "a symmetric h where H is not dense",
}


def _is_vector(gamma: object, d: int) -> TypeGuard[Floats]:
    """Return whether the core can read gamma without conversion."""
    return type(gamma) is np.ndarray and gamma.shape == (d,) and gamma.dtype == np.float64 and gamma.flags.c_contiguous


class Sequence(Stateful):
    """The sums H = sum h and b = sum v over s rounds, and the Dantzig selector on their means.

        min |w|_1   s.t.   |b/s - (H/s) w|_i <= gamma_i

    DS is scale invariant, so nothing is divided: the problem solved is (H, b, s gamma), and a round changes only the
    |B| x |B| entries it observed. Each solve starts from the previous basis.

    `store` selects how H is stored and does not affect the result. "dense": all of H (with "auto", for d up to 5 000).
    "rows": the log of rounds and the rows needed (up to 50 000). "lists": the same, but short rows are read from the
    log. The permutation `order` decides between several solutions (see `ties`).

    >>> import numpy as np
    >>> seq = Sequence(3)
    >>> seq.update(np.array([0, 2]), np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([0.5, -0.2]))
    >>> seq.solve(0.1).w.tolist()
    [0.4, 0.0, -0.1]
    """

    _state: ClassVar[StateSchema] = {
        "s": CountCheck(),
        "b": NumberCheck(),
        "rows": Part(),
        "simplex": Part(),
    }

    def __init__(self, d: int, engine: str = "simplex", store: str = "auto", order: Ints | None = None) -> None:
        if engine not in ("simplex", "highs"):
            raise ConfigError(f"engine must be 'simplex' or 'highs', not {engine!r}")
        if store not in ("auto", "dense", "rows", "lists"):
            raise ConfigError(f"store must be 'auto', 'dense', 'rows' or 'lists', not {store!r}")
        kind = ("dense" if d <= DENSE else "rows" if d <= ROWS else "lists") if store == "auto" else store
        short_row = max(1, d // 4) if kind == "lists" else 0
        self.d = d
        self.engine = engine
        self.s = 0
        self.b: Floats = np.zeros(d)
        self.rows: Dense | Log = Dense(np.zeros((d, d)), symmetric=True) if kind == "dense" else Log(d, short_row)
        self.simplex = Simplex(d, preferences(np.arange(d) if order is None else order))

    def set_state(self, flat: dict[str, Value]) -> None:
        """Restore a saved sequence."""
        super().set_state(flat)
        self.rows.require(self.simplex.indices)

    def update(self, B: Ints, h: Floats, v: Floats) -> None:
        """Add a round: `H[B, B] += h`, `b[B] += v`, `s += 1`; B has no duplicates."""
        if not (type(B) is np.ndarray and B.dtype is _INT64) and np.asarray(B).dtype.kind not in "iu" and len(B):
            raise ConfigError("B must contain indices (whole numbers); nothing was changed")
        B = np.ascontiguousarray(B, np.int64)
        h, v = np.ascontiguousarray(h, np.float64), np.ascontiguousarray(v, np.float64)
        if B.ndim != 1 or h.shape != (B.size, B.size) or v.shape != B.shape:
            raise ConfigError(f"a round must be B (k,), h (k, k) and v (k,), not {B.shape}, {h.shape}, {v.shape}")
        fault = self.simplex.update(self.rows.H, self.b, B, h, v, lopsided=self.rows.lopsided)
        if fault == Fault.ASYMMETRIC and self.rows.make_lopsided():
            fault = self.simplex.update(self.rows.H, self.b, B, h, v, lopsided=True)
        if fault:
            raise ConfigError(f"a round needs {_NEEDS[Fault(fault)].format(self.d)}; nothing was changed")
        if self.rows.follows:
            self.rows.follow(B, h)
            self.rows.require(self.simplex.indices)
        self.s += 1

    @property
    def H(self) -> Floats:
        """The sum of the h, as a d x d array."""
        return self.rows.take(1, np.arange(self.d))

    @property
    def gamma_max(self) -> float:
        """Return the smallest scalar gamma at which the solution is 0."""
        return gamma_max(self.b) / max(self.s, 1)

    def parts(self) -> Parts | None:
        """Return the arrays of this sequence for compiled code, or None if there is no compiled path.

        They are valid until the next solve outside compiled code; pass them to `resume` afterwards.
        """
        rows = self.rows
        if self.engine != "simplex" or not isinstance(rows, Dense) or rows.follows:
            return None
        counts = np.array([self.simplex.m, self.simplex.updates, self.s])
        return Parts(rows.H, self.b, rows.store, *self.simplex.parts, counts)

    def resume(self, parts: Parts) -> None:
        """Take over the counters after compiled code has worked on these arrays."""
        self.simplex.m, self.simplex.updates, self.s = parts.counts.tolist()

    def solve(self, gamma: float | Floats, reached: Reached | None = None) -> Solution:
        """Return the solution at gamma (a number or one per attribute) with its certificate.

        An infeasible problem raises nothing; its status says so. `reached` is the point at which compiled code stopped
        in this solve.
        """
        scale = float(self.s or 1)
        if type(gamma) is float and gamma >= 0.0:
            self.simplex.Gamma.fill(gamma * scale)
        elif not (_is_vector(gamma, self.d) and scale_widths(gamma, scale, self.simplex.Gamma)):
            np.multiply(check_gamma(gamma, self.d), scale, out=self.simplex.Gamma)
        if self.engine == "simplex":
            sol = self.simplex.solve(self.rows, self.b, scale, reached)
            if sol.status != "failed":
                return sol
        return fallback(
            self.rows, self.b, self.simplex.Gamma, self.simplex.preference, scale, whole=self.engine == "highs"
        )
