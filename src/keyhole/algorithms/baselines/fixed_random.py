"""The minimal baseline: k attributes drawn once, and online Newton steps on them."""

from collections.abc import Sequence
from typing import ClassVar, Literal

import numpy as np

from ...core.registry.algorithm import AlgorithmInfo
from ...core.sources import Prices, SourceCatalog, Sources
from ._fixed_support import FixedSupport


class FixedRandom(FixedSupport):
    """Online Newton step on k attributes drawn once from the seed: the baseline that any search must beat.

        S ~ uniform k-subset of [d], once;    y_hat = <w, x(S)> within [-1, 1],   w by online Newton steps

    Cost: O(k^2) per round and in memory.

    Parameters
    ----------
    tuning, eps, sigma, delta
        "theory": A_0 = k I and the paper's rho for noise sigma and failure probability delta; "practical" (the
        default): A_0 = 0.3 k I and rho estimated from the residuals. eps is A_0 / (k I) and overrides the preset; 0.3
        was chosen by `benchmarks/tune.py` for "oracle-support", where it matters (here 0.01 to 1 all are within 1 %).
    standardize
        For raw columns: estimate mean and scale of every bought attribute and of the label online, and predict the
        label's running mean plus the scaled part.
    sources, free, prices
        What can be ordered (k sources are drawn), what is free, and the prices: see `keyhole.core.sources`.

    >>> import keyhole as kh
    >>> X, y, w = kh.streams.synthetic(d=20, k=4, T=500, seed=1)
    >>> raw = kh.play(kh.make("fixed-random", d=20, k=4, seed=0, standardize=True), 100 * X + 7, 50 * y - 3)
    >>> raw.bought.tolist().count(500)
    4

    References: the Newton step is that of Li, Liao, Xu and Nie, COLT 2025 (Hazan, Agarwal and Kale 2007).
    """

    name = "fixed-random"
    info: ClassVar[AlgorithmInfo] = AlgorithmInfo(
        setting="k of d",
        bound="O(k ln T) against weights on its k attributes; linear in T against others",
        cost="O(k^2)",
        reference="baseline: online Newton step (Hazan, Agarwal and Kale 2007) on k attributes drawn once",
        status="verified",
        past_rows="any",
        binary_labels=True,
        further="none",
    )

    def __init__(
        self,
        names: tuple[str, ...],
        k: int,
        k0: int,
        seed: int,
        tuning: Literal["practical", "theory"] = "practical",
        eps: float | None = None,
        sigma: float = 0.1,
        delta: float = 0.01,
        standardize: bool = False,
        sources: Sources | None = None,
        free: Sequence[str] | None = None,
        prices: Prices | None = None,
    ) -> None:
        super().__init__(names, k, k0, seed, SourceCatalog.build(names, sources, free, prices))
        basket = self.catalog.basket(self.order)[:k]
        self._begin(np.sort(self.catalog.attributes(basket)), tuning, eps, sigma, delta, standardize)
