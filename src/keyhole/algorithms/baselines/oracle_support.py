"""Oracle: online Newton steps on the true support; for reference only."""

from collections.abc import Sequence
from typing import ClassVar, Literal

import numpy as np

from ...core.registry.algorithm import AlgorithmInfo
from ...core.sources import Prices, SourceCatalog, Sources
from ...errors import ConfigError
from .._options import places
from ._fixed_support import FixedSupport


class OracleSupport(FixedSupport):
    """Online Newton step on the given true support: the regret that remains without the search.

        S = support;    y_hat = <w, x(S)> within [-1, 1],   w by online Newton steps

    Cost: O(k^2) per round and in memory.

    Parameters
    ----------
    support
        The true attributes, by name or by number: 1 to k of them, or of their sources. Required.
    tuning, eps, sigma, delta, standardize, sources, free, prices
        As for "fixed-random".

    >>> import keyhole as kh
    >>> X, y, w = kh.streams.synthetic(d=20, k=4, T=2000, seed=1)
    >>> learner = kh.make("oracle-support", d=20, k=4, seed=0, support=w.nonzero()[0])
    >>> bool(kh.play(learner, X, y).regret(w)[-1] < 1)
    True

    References: the Newton step is that of Li, Liao, Xu and Nie, COLT 2025 (Hazan, Agarwal and Kale 2007).
    """

    name = "oracle-support"
    info: ClassVar[AlgorithmInfo] = AlgorithmInfo(
        setting="reference",
        bound="O(k ln T)",
        cost="O(k^2)",
        reference="baseline: online Newton step (Hazan, Agarwal and Kale 2007) on the true support",
        status="verified",
        past_rows="any",
        binary_labels=True,
        oracle=True,
        further="the support is given",
    )

    # The options are listed by name, as in `FixedRandom`, because the catalogue and editors read the signature.
    def __init__(
        self,
        names: tuple[str, ...],
        k: int,
        k0: int,
        seed: int,
        support: Sequence[str | int] | None = None,
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
        if support is None:
            raise ConfigError(f"{self.name} uses the true support: give support=, at most k = {k} attributes")
        S = places("support", support, self.names)
        basket = self.catalog.basket(S)
        if not (1 <= basket.size <= k or (S.size and not basket.size)):
            what = "attributes" if self.catalog.plain else "sources"
            raise ConfigError(f"support must have between 1 and k = {k} {what}; it has {basket.size}")
        self._begin(np.sort(self.catalog.attributes(basket)), tuning, eps, sigma, delta, standardize)
