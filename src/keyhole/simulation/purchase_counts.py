"""What was bought when: counts per attribute over a few dozen stretches of a stream of any length."""

from collections.abc import Sequence

import numpy as np

from .._internal.typing import Ints
from ..core.sources import SourceCatalog

__all__ = ["Timeline", "bought_now"]

_STRETCHES = 48
# Fewer stretches where d is so large that 48 would take more numbers than this.
_NUMBERS = 1 << 22


class Timeline:
    """counts[i, j]: how often attribute j was bought in rows i * width to (i + 1) * width.

    When the stretches are used up, each two become one of twice the width: memory does not grow with the stream.
    """

    def __init__(self, d: int) -> None:
        stretches = max(2, min(_STRETCHES, _NUMBERS // d // 2 * 2))
        self.counts: Ints = np.zeros((stretches, d), dtype=np.int64)
        self.width = 1
        self.rows = 0

    def add(self, first: int, attributes: Ints, sizes: Ints) -> None:
        """Row first + i bought the first sizes[i] of attributes[i]."""
        self._make_room(first + len(sizes))
        stretch = (first + np.arange(len(sizes))) // self.width
        bought = np.arange(attributes.shape[1]) < sizes[:, None]
        np.add.at(self.counts, (np.repeat(stretch, sizes), attributes[bought]), 1)

    def add_alike(self, start: int, stop: int, attributes: Ints) -> None:
        """Rows start to stop bought the same."""
        self._make_room(stop)
        for i in range(start // self.width, (stop - 1) // self.width + 1):
            n = min(stop, (i + 1) * self.width) - max(start, i * self.width)
            self.counts[i, attributes] += n

    @property
    def bought(self) -> Ints:
        """(d,) in all."""
        return np.asarray(self.counts.sum(axis=0))

    @property
    def ends(self) -> Ints:
        """The last row of each stretch that has rows."""
        n = -(-self.rows // self.width)
        return np.minimum(np.arange(1, n + 1) * self.width, self.rows)

    def _make_room(self, rows: int) -> None:
        self.rows = max(self.rows, rows)
        half = len(self.counts) // 2
        while rows > 2 * half * self.width:
            self.counts[:half] = self.counts[0::2] + self.counts[1::2]
            self.counts[half:] = 0
            self.width *= 2


def bought_now(catalog: SourceCatalog, support: Sequence[int], late: Ints, rows: int) -> list[int]:
    """The sources (by place in the catalog) that a learner buys at the end of a stream.

    These are the sources of its support and whatever else it bought in most of the last rows: a learner may buy a
    source in every row to explore it. `late` counts the purchases of each attribute in the last `rows` rows.

    >>> catalog = SourceCatalog.build(["a", "b", "c"])
    >>> bought_now(catalog, [0], np.array([10, 6, 5]), 10)
    [0, 1]
    """
    often = [s for s, brings in enumerate(catalog.members) if 2 * late[brings[0]] > rows]
    return sorted({int(catalog.of[i]) for i in support} - {-1} | set(often))
