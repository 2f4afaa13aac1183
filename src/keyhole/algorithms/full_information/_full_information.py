"""The base class of the full-information references, which buy every attribute in every round."""

from abc import abstractmethod
from collections.abc import Sequence

import numpy as np

from ..._internal.typing import Bools, Floats, Ints
from ...core.learner import Acquisition, Learner, PlayedRows
from ...core.round import Round
from ...core.sources import SourceCatalog
from ...errors import ConfigError


class BuysEverything(Learner):
    """A learner defined by one recursion over full rows, which a subclass implements as `_rounds`, compiled.

    The protocol and the compiled path use the same recursion, so they agree bit for bit. A round with a NaN label is
    predicted and changes nothing.
    """

    def __init__(self, names: Sequence[str], k: int, k0: int, seed: int, catalog: SourceCatalog | None = None) -> None:
        super().__init__(names, k, k0, seed, catalog)
        if k != self.d:
            raise ConfigError(f"{self.name} buys all d = {self.d} attributes, but k = {k}; omit k, or give k = d")

    @abstractmethod
    def _rounds(self, X: Floats, y: Floats) -> Floats:
        """Return the predictions for rows without NaN, learning after each row whose label is not NaN."""

    def _support(self) -> Ints:
        """Return the attributes with non-zero weight, without the free ones."""
        return np.flatnonzero((self.weights != 0.0) & (self.catalog.of >= 0))

    def _ask(self, t: int, pool: Bools | None) -> Acquisition:
        B = np.arange(self.d) if pool is None else np.flatnonzero(pool)
        return Acquisition("exploit", B if self.catalog.plain else self.catalog.attributes(self.catalog.basket(B)))

    def _predict(self, r: Round, x: Floats) -> float:
        return float(self._rounds(self._row(r, x), np.array([np.nan]))[0])

    def _tell(self, r: Round, x: Floats, y: float, more: Floats) -> None:
        self._rounds(self._row(r, x), np.array([y]))

    def _row(self, r: Round, x: Floats) -> Floats:
        """Return the row as a (1, d) matrix, with zeros for unbought or unobserved values."""
        row = np.zeros((1, self.d))
        row[0, r.attributes] = np.nan_to_num(x, nan=0.0)
        return row

    def _play_block(self, X: Floats, y: Floats, prices: Floats | None) -> PlayedRows:
        if prices is not None:
            return super()._play_block(X, y, prices)
        predictions = self._rounds(np.nan_to_num(X, nan=0.0), y)
        self.t += y.size
        return PlayedRows.alike(predictions, np.arange(self.d))
