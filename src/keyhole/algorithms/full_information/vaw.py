"""The Vovk-Azoury-Warmuth forecaster: online ridge regression that includes the row about to be predicted."""

from collections.abc import Sequence
from typing import ClassVar, Literal

import numpy as np

from ..._core import vaw_epoch
from ..._internal.typing import Floats
from ...core.registry.algorithm import AlgorithmInfo
from ...core.sources import Prices, SourceCatalog, Sources
from ...core.state import InverseGramCheck, NumberCheck, StateSchema
from .._options import Presets, number, preset
from ._full_information import BuysEverything


class VAW(BuysEverything):
    """The Vovk-Azoury-Warmuth forecaster on all d attributes.

        A_t = A_{t-1} + x_t x_t',   A_0 = a I
        y_hat_t = <A_t^-1 b_{t-1}, x_t>,   b_t = b_{t-1} + y_t x_t

    The regret against any u is at most a |u|^2 + d max y^2 ln(1 + T max x^2 / a) for every data sequence.

    Cost: O(d^2) per round and in memory.

    Parameters
    ----------
    tuning
        "theory" and "practical" (the default): a = 1, which `benchmarks/tune.py` could not improve.
    a
        The ridge; overrides the preset.
    sources, free, prices
        What can be ordered (all of it is), what is free, and the prices: see `keyhole.core.sources`.

    >>> import keyhole as kh
    >>> X, y, w = kh.streams.synthetic(d=20, k=4, T=2000, seed=1)
    >>> bool(kh.play(kh.make("vaw", d=20, seed=0), X, y).regret(w)[-1] < 5)
    True

    References: Vovk, NIPS 1997; Azoury and Warmuth, Machine Learning 2001.
    """

    name = "vaw"
    info: ClassVar[AlgorithmInfo] = AlgorithmInfo(
        setting="d of d",
        bound="a |w|_2^2 + d max y^2 ln(1 + T / a)",
        cost="O(d^2)",
        reference="Vovk, NIPS 1997; Azoury and Warmuth, Machine Learning 2001",
        status="verified",
        past_rows="any",
        binary_labels=True,
        buys_all=True,
        further="none",
    )
    _state: ClassVar[StateSchema] = {
        "A_inv": InverseGramCheck("a"),
        "b": NumberCheck(),
    }
    presets: ClassVar[Presets] = {"theory": {"a": 1.0}, "practical": {"a": 1.0}}

    def __init__(
        self,
        names: tuple[str, ...],
        k: int,
        k0: int,
        seed: int,
        tuning: Literal["practical", "theory"] = "practical",
        a: float | None = None,
        sources: Sources | None = None,
        free: Sequence[str] | None = None,
        prices: Prices | None = None,
    ) -> None:
        super().__init__(names, k, k0, seed, SourceCatalog.build(names, sources, free, prices))
        self.a = number("a", preset(self.presets, tuning, a=a)["a"], above=0.0)
        self.A_inv: Floats = np.eye(self.d) / self.a
        self.b: Floats = np.zeros(self.d)

    def _weights(self) -> Floats:
        """Return A^-1 b, the ridge estimate from all labelled rounds so far."""
        return self.A_inv @ self.b

    @classmethod
    def _min_state_size(cls, d: int, k: int) -> int:
        return d * d

    def _learn(self, X: Floats, y: Floats) -> None:
        self._rounds(np.nan_to_num(X, nan=0.0), y)

    def _rounds(self, X: Floats, y: Floats) -> Floats:
        y_hat = np.empty(y.size)
        vaw_epoch(self.A_inv, self.b, X, y, y_hat)
        return y_hat
