"""OLin-LASSO: the LASSO of a first batch, with a linear term updated from all data."""

from math import log, sqrt
from typing import ClassVar, Literal

import numpy as np

from ..._core import olin_lasso_epoch
from ..._internal.typing import Floats
from ...core.registry.algorithm import AlgorithmInfo
from ...core.state import CountCheck, GramCheck, NumberCheck, StateSchema
from ...errors import ConfigError
from .._options import Presets, preset
from ._full_information import BuysEverything


class OLinLasso(BuysEverything):
    """Online linearised LASSO on all d attributes.

        theta_t = argmin_v  L_0(v) + <grad L_t(theta_{t-1}) - grad L_0(theta_{t-1}), v> + lam_t |v|_1
        lam_t = c r_t sqrt(ln d / t)

    L_t is the mean of half the squared errors over all rows so far, and L_0 that over the first n0 rows (with fewer
    rows, over all of them: then theta_t is the batch LASSO). r_t is the root mean square error so far, so that the
    penalty follows the noise and the unit of the label. Solved by warm-started coordinate descent to 1e-10.

    Cost: O(d^2) per round and in memory, times the few sweeps of the solver.

    Parameters
    ----------
    tuning
        "theory": c = 1, r_t = 1 and n0 = 50, as in the only public implementation; "practical" (the default): c = 0.2
        and n0 = 200, chosen by `benchmarks/tune.py` (where r_t is 0.1). The penalty of the actual theory also has a
        term in |theta_{t-1} - theta*|_1, which is unknown.
    c, n0
        The numbers above; each overrides the preset.

    >>> import keyhole as kh
    >>> X, y, w = kh.streams.synthetic(d=20, k=4, T=2000, seed=1)
    >>> bool(kh.play(kh.make("olin-lasso", d=20, seed=0), X, y).regret(w)[-1] < 3)
    True

    References: Yang et al., AISTATS 2023 (reconstructed: the width lam_t; the update is the published one).
    """

    name = "olin-lasso"
    info: ClassVar[AlgorithmInfo] = AlgorithmInfo(
        setting="d of d",
        bound="|theta_t - w|_2 = O(sqrt(k ln d / t)), with high probability",
        cost="O(d^2)",
        reference="Yang et al., AISTATS 2023",
        status="reconstructed",
        buys_all=True,
        conditions="abi",
        further="restricted strong convexity",
    )
    _state: ClassVar[StateSchema] = {
        "theta": NumberCheck(),
        "XX": GramCheck(),
        "Xy": NumberCheck(),
        "G0": GramCheck(),
        "tally": NumberCheck(least=0.0),
        "n": CountCheck(),
    }
    presets: ClassVar[Presets] = {"theory": {"c": 1.0, "n0": 50}, "practical": {"c": 0.2, "n0": 200}}

    def __init__(
        self,
        names: tuple[str, ...],
        k: int,
        k0: int,
        seed: int,
        tuning: Literal["practical", "theory"] = "practical",
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

    def _weights(self) -> Floats:
        """Return theta_t, with exact zeros."""
        return self.theta.copy()

    @classmethod
    def _min_state_size(cls, d: int, k: int) -> int:
        return d * d

    def _rounds(self, X: Floats, y: Floats) -> Floats:
        y_hat, sums = np.empty(y.size), (self.theta, self.XX, self.Xy, self.G0, self.tally)
        self.n = olin_lasso_epoch(*sums, self.n, X, y, self.n0, self.scale, y_hat)
        return y_hat
