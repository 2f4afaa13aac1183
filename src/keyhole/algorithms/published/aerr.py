"""AERR, attribute-efficient ridge regression: two samples per example, gradient steps on the l2 ball."""

from math import sqrt
from typing import ClassVar

import numpy as np

from ..._internal.typing import Floats, Ints
from ...core.registry.algorithm import AlgorithmInfo
from .._options import Presets
from ._attribute_efficient import AttributeEfficient


class AERR(AttributeEfficient):
    """Attribute-efficient ridge regression, predicting with the k largest weights.

        train (exploration rounds; m = k - 1):
            i_1..i_m uniform with replacement,   xt = (d/m) sum_r x_{i_r} e_{i_r}
            j with probability w_j^2 / |w|_2^2,  phi = |w|_2^2 x_j / w_j - y          (w = 0: phi = -y)
            v = w - eta_s phi xt,                w = v B / max(B, |v|_2),             w_bar: the average
        predict (the others):  S = top-k of |w_bar|, online Newton steps on x(S)

    Cost: O(d) per exploration, O(k^2) on other rounds. Memory O(d).

    Parameters
    ----------
    tuning
        "theory": eta_s = sqrt(m / (2 d s)) and the plain average; "practical" (the default): `step` = 0.01 times that
        and an average with weights s^`average`, `average` = 3, chosen by `benchmarks/tune.py`. Such small steps hardly
        leave w = 0: they find the attributes with the largest correlation with the label.
    step, average
        These numbers; each overrides the preset.
    radius
        B, the bound on |w|_2 and on the label.
    explore
        The exploration rounds: a rate such as "2 t^(-1/3)", or "squares".
    exploit
        "newton" (the default: it halves the regret in `benchmarks/tune.py`): online Newton steps on S that keep the
        state of the attributes that stay; "weights": y_hat = <w_bar(S), x(S)>, without learning in exploiting rounds.

    >>> import keyhole as kh
    >>> X, y, w = kh.streams.synthetic(d=20, k=4, T=5000, seed=1)
    >>> history = kh.play(kh.make("aerr", d=20, k=4, seed=0), X, y)
    >>> bool(history.losses[-1000:].mean() < (y**2).mean())
    True

    References: Hazan and Koren, ICML 2012 (reconstructed: the steps are ours, from the abstract and the bound; they
    agree with the published rate).
    """

    name = "aerr"
    info: ClassVar[AlgorithmInfo] = AlgorithmInfo(
        setting="k of d",
        bound="excess risk 4 sqrt(2d / ((k-1) s)) of the dense predictor after s explorations",
        cost="O(d) to explore, O(k^2) else",
        reference="Hazan and Koren, ICML 2012, ridge; predicts with its k largest weights",
        status="reconstructed",
        conditions="i",
        further="|x|_2 <= 1; k >= 2",
    )
    power = 2
    presets: ClassVar[Presets] = {
        "theory": {"step": 1.0, "average": 0.0},
        "practical": {"step": 0.01, "average": 3.0},
    }

    def _eta(self, s: int, m: int) -> float:
        return sqrt(m / (2.0 * self.d * s))

    def _descend(self, B: Ints, g: Floats, eta: float) -> None:
        self.w[B] -= eta * g
        self.w *= self.radius / max(self.radius, float(np.linalg.norm(self.w)))
