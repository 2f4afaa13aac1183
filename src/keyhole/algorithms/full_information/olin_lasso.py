"""OLin-LASSO: the LASSO of a first batch, whose linear term follows all the data."""

from collections.abc import Mapping
from math import log, sqrt
from typing import ClassVar

import numpy as np

from ..._internal.numba._jit import jit
from ..._internal.typing import Floats
from ...core.learner import Learner
from ...core.state import Gram, Numbers, Rule
from ...errors import ConfigError
from .._options import Presets, preset
from .._quadratic import add_residual, add_row, inner, lasso
from ._full_information import BuysEverything

# The problem of a round is solved until no gradient is off by more than this.
_TOLERANCE = 1e-10
_SWEEPS = 1000


@jit
def _objective(G: Floats, b: Floats, lam: float, v: Floats) -> float:
    """v'Gv/2 - b'v + lam |v|_1."""
    return float(0.5 * np.dot(v, np.dot(G, v)) - np.dot(b, v) + lam * np.abs(v).sum())


@jit
def _step(theta: Floats, G0: Floats, G: Floats, b: Floats, lam: float) -> bool:
    """theta_t in place; whether the batch was able to stand for all the data.

    The linear term is that of theta_{t-1}, taken once before the solver moves: c = b - (G - G0) theta_{t-1}.
    """
    c = b - np.dot(G - G0, theta)
    new = theta.copy()
    lasso(G0, c, lam, new, _TOLERANCE, _SWEEPS)
    if not _objective(G, b, lam, new) <= _objective(G, b, lam, theta) + 1e-12:
        return False
    theta[:] = new
    return True


@jit
def _olin(
    theta: Floats,
    XX: Floats,
    Xy: Floats,
    G0: Floats,
    tally: Floats,
    n: int,
    X: Floats,
    y: Floats,
    n0: int,
    scale: float,
) -> tuple[Floats, int]:
    """The rounds, one after another; n counts those learnt from, G0 is X_0'X_0/n_0; scale < 0: times r_t."""
    y_hat = np.empty(y.size)
    for t in range(y.size):
        y_hat[t] = inner(theta, X[t])
        if np.isnan(y[t]):
            continue
        n += 1
        add_row(XX, Xy, X[t], y[t])
        r = add_residual(tally, y_hat[t] - y[t])
        G, b, lam = XX / n, Xy / n, (scale if scale >= 0.0 else -scale * r) / np.sqrt(n)
        if n <= n0:
            G0[:] = G
        # Deviation: a batch whose step would raise the running objective is replaced by all rows so far (our guard;
        # then the step is the batch LASSO, which cannot raise it).
        if not _step(theta, G0, G, b, lam):
            G0[:] = G
            lasso(G0, b, lam, theta, _TOLERANCE, _SWEEPS)
    return y_hat, n


class OLinLasso(BuysEverything):
    """Online linearised LASSO on all d attributes.

        theta_t = argmin_v  L_0(v) + <grad L_t(theta_{t-1}) - grad L_0(theta_{t-1}), v> + lam_t |v|_1
        lam_t = c r_t sqrt(ln d / t)

    L_t is the mean of half the squared errors over all rows so far, L_0 that over the first n0 of them (over all of
    them while there are fewer: then theta_t is the batch LASSO). r_t is the root mean square of the errors so far, so
    that the width follows the noise and the unit of the label. Solved by warm coordinate descent to 1e-10.

    Cost: O(d^2) a round and in memory, times the few sweeps of the solver.

    Parameters
    ----------
    tuning
        "theory": c = 1, r_t = 1 and n0 = 50, as in the one public implementation; "practical" (the default): c = 0.2
        and n0 = 200, chosen by `benchmarks/tune.py` (where r_t is 0.1). The width that the theory really asks for also
        has a term in |theta_{t-1} - theta*|_1, which nobody knows.
    c, n0
        The numbers above; each overrides the preset.

    >>> import keyhole as kh
    >>> X, y, w = kh.streams.synthetic(d=20, k=4, T=2000, seed=1)
    >>> bool(kh.play(kh.make("olin-lasso", d=20, seed=0), X, y).regret(w)[-1] < 3)
    True

    References: Yang et al., AISTATS 2023 (reconstructed: the width lam_t; the update is the published one).
    """

    name = "olin-lasso"
    _fields: ClassVar[tuple[str, ...]] = (*Learner._fields, "theta", "XX", "Xy", "G0", "tally", "n")
    _rules: ClassVar[Mapping[str, Rule]] = {**dict.fromkeys(("XX", "G0"), Gram()), "tally": Numbers(least=0.0)}
    presets: ClassVar[Presets] = {"theory": {"c": 1.0, "n0": 50}, "practical": {"c": 0.2, "n0": 200}}

    def __init__(
        self,
        names: tuple[str, ...],
        k: int,
        k0: int,
        seed: int,
        tuning: str = "practical",
        c: float | None = None,
        n0: int | None = None,
    ) -> None:
        super().__init__(names, k, k0, seed)
        numbers = preset(self.presets, tuning, c=c, n0=n0)
        if not 1 <= numbers["n0"] <= 1e15 or numbers["n0"] % 1:
            raise ConfigError(f"n0 must be a whole number of rows >= 1; it is {n0}")
        self.n0 = int(numbers["n0"])
        self.scale = numbers["c"] * sqrt(log(max(self.d, 2))) * (1.0 if tuning == "theory" else -1.0)
        self.tally: Floats = np.zeros(2)
        self.theta: Floats = np.zeros(self.d)
        self.XX: Floats = np.zeros((self.d, self.d))
        self.Xy: Floats = np.zeros(self.d)
        self.G0: Floats = np.zeros((self.d, self.d))
        self.n = 0

    @property
    def weights(self) -> Floats:
        """theta_t, with true zeros."""
        return self.theta.copy()

    @classmethod
    def _entries(cls, d: int, k: int) -> int:
        return d * d

    def _rounds(self, X: Floats, y: Floats) -> Floats:
        y_hat, self.n = _olin(self.theta, self.XX, self.Xy, self.G0, self.tally, self.n, X, y, self.n0, self.scale)
        return y_hat
