"""AELR, attribute-efficient lasso regression: two samples per example, exponentiated gradient on the l1 ball."""

from math import log, sqrt
from typing import ClassVar

import numpy as np

from ..._internal.typing import Floats, Ints
from ...core.registry.algorithm import AlgorithmInfo
from ...core.state import NumberCheck, StateSchema
from .._options import Presets
from ._attribute_efficient import AttributeEfficient


class AELR(AttributeEfficient):
    """Attribute-efficient lasso regression, predicting with the k largest weights.

        train (exploration rounds; m = k - 1):
            i_1..i_m uniform with replacement,   xt = (d/m) sum_r x_{i_r} e_{i_r}
            j with probability |w_j| / |w|_1,    phi = |w|_1 sign(w_j) x_j - y        (w = 0: phi = -y)
            u -= eta_s clip(phi xt, -1/eta_s, 1/eta_s)
            w = B sinh(u) / sum_i cosh(u_i),     w_bar: the average
        predict (the others):  S = top-k of |w_bar|, online Newton steps on x(S)

    u is half the log ratio of the two weights that exponentiated gradient keeps per attribute.

    Cost: O(d) per exploration, O(k^2) on other rounds. Memory O(d).

    Parameters
    ----------
    tuning
        "theory": eta_s = sqrt(2 m ln(2d) / (5 d s)) / (4B) and the plain average; "practical" (the default): `step` = 1
        times that and an average with weights s^`average`, `average` = 3, chosen by `benchmarks/tune.py`.
    step, average
        These numbers; each overrides the preset.
    radius
        B, the bound on |w|_1 and on the label.
    explore, exploit
        As for "aerr".

    >>> import keyhole as kh
    >>> X, y, w = kh.streams.synthetic(d=20, k=4, T=5000, seed=1)
    >>> history = kh.play(kh.make("aelr", d=20, k=4, seed=0), X, y)
    >>> bool(history.losses[-1000:].mean() < (y**2).mean())
    True

    References: Hazan and Koren, ICML 2012 (reconstructed: the steps and eta are ours, from the abstract and the rate).
    """

    name = "aelr"
    info: ClassVar[AlgorithmInfo] = AlgorithmInfo(
        setting="k of d",
        bound="excess risk 4 sqrt(10 d ln(2d) / ((k-1) s)) of the dense predictor after s explorations",
        cost="O(d) to explore, O(k^2) else",
        reference="Hazan and Koren, ICML 2012, lasso; predicts with its k largest weights",
        status="reconstructed",
        conditions="i",
        further="k >= 2",
    )
    power = 1
    _state: ClassVar[StateSchema] = {
        "u": NumberCheck(),
    }
    presets: ClassVar[Presets] = {
        "theory": {"step": 1.0, "average": 0.0},
        "practical": {"step": 1.0, "average": 3.0},
    }

    def _begin(self) -> None:
        self.u: Floats = np.zeros(self.d)

    def _eta(self, s: int, m: int) -> float:
        return sqrt(2.0 * m * log(2.0 * self.d) / (5.0 * self.d * s)) / (4.0 * self.radius)

    def _descend(self, B: Ints, g: Floats, eta: float) -> None:
        self.u[B] -= eta * np.clip(g, -1.0 / eta, 1.0 / eta)
        up, down = np.exp(self.u - (top := np.abs(self.u).max())), np.exp(-self.u - top)
        self.w = self.radius * (up - down) / (up + down).sum()
