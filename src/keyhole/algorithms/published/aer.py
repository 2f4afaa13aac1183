"""AER-style attribute-efficient regression: two samples per example, projected gradient steps on the l1 ball."""

from math import sqrt
from typing import ClassVar

import numpy as np

from ..._internal.typing import Floats, Ints
from ...core.registry.algorithm import AlgorithmInfo
from .._options import Presets
from ._attribute_efficient import AttributeEfficient


class AER(AttributeEfficient):
    """Attribute-efficient regression in the style of its first paper, predicting with the k largest weights.

        train (exploration rounds; m = k - 1):
            i_1..i_m uniform with replacement,   xt = (d/m) sum_r x_{i_r} e_{i_r}
            j with probability |w_j| / |w|_1,    phi = |w|_1 sign(w_j) x_j - y        (w = 0: phi = -y)
            w = the projection of w - eta_s phi xt onto |w|_1 <= B,                   w_bar: the average
        predict (the others):  S = top-k of |w_bar|, online Newton steps on x(S)

    Cost: O(d log d) per exploration, O(k^2) on other rounds. Memory O(d).

    Parameters
    ----------
    tuning
        "theory": eta_s = 1 / sqrt(d (d/m + 1) s), from E phi^2 <= 4B^2 and E |xt|_2^2 <= d (d/m + 1), and the plain
        average; "practical" (the default): `step` = 0.1 times that and an average with weights s^`average`, `average` =
        3, chosen by `benchmarks/tune.py`.
    step, average
        These numbers; each overrides the preset.
    radius
        B, the bound on |w|_1 and on the label.
    explore, exploit
        As for "aerr".

    >>> import keyhole as kh
    >>> X, y, w = kh.streams.synthetic(d=20, k=4, T=5000, seed=1)
    >>> history = kh.play(kh.make("aer", d=20, k=4, seed=0), X, y)
    >>> bool(history.losses[-1000:].mean() < (y**2).mean())
    True

    References: Cesa-Bianchi, Shalev-Shwartz and Shamir, ICML 2010 (reconstructed: all steps are ours; only the
    principle of two independent samples is theirs).
    """

    name = "aer"
    info: ClassVar[AlgorithmInfo] = AlgorithmInfo(
        setting="k of d",
        bound="excess risk O(d / sqrt(k s)) of the dense predictor after s explorations",
        cost="O(d log d) to explore, O(k^2) else",
        reference="Cesa-Bianchi, Shalev-Shwartz and Shamir, ICML 2010; predicts with its k largest weights",
        status="reconstructed",
        conditions="i",
        further="k >= 2",
    )
    power = 1
    presets: ClassVar[Presets] = {
        "theory": {"step": 1.0, "average": 0.0},
        "practical": {"step": 0.1, "average": 3.0},
    }

    def _eta(self, s: int, m: int) -> float:
        return 1.0 / sqrt(self.d * (self.d / m + 1.0) * s)

    def _descend(self, B: Ints, g: Floats, eta: float) -> None:
        self.w[B] -= eta * g
        self.w = onto_l1_ball(self.w, self.radius)


def onto_l1_ball(v: Floats, radius: float) -> Floats:
    """Return the projection of v onto |w|_1 <= radius, by soft thresholding (Duchi et al. 2008).

    >>> onto_l1_ball(np.array([2.0, -1.0, 0.5]), 1.0).tolist()
    [1.0, -0.0, 0.0]
    """
    size = np.abs(v)
    if size.sum() <= radius:
        return v
    descending = np.sort(size)[::-1]
    theta = (np.cumsum(descending) - radius) / np.arange(1, v.size + 1)
    last = np.flatnonzero(descending >= theta)[-1]  # never empty, even if rounding loses the radius
    w: Floats = np.sign(v) * np.maximum(size - theta[last], 0.0)
    return w * (radius / max(radius, float(np.abs(w).sum())))  # for a huge v, rounding can violate the radius
