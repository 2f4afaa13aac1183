"""How often a category had a value that is none of those its schema knows."""

from typing import ClassVar

import numpy as np

from .._internal.typing import Floats, Ints
from ..core.state import CountCheck, Stateful, StateSchema
from .schema import Schema

__all__ = ["UnseenCategories"]


class UnseenCategories(Stateful):
    """Counts, per category, of rows whose value is none of its values: there all of its attributes are 0.

    Every row is counted, bought or not. The counts are state: they are saved and restored with a run.

    >>> from keyhole.data.streams import Attribute, Range
    >>> sex = Attribute("sex", type="category", values=("f", "m"))
    >>> others = UnseenCategories(Schema(Range("y"), (Attribute("x"), sex)))
    >>> others.count(np.array([[1.0, 0.0, 1.0], [2.0, 0.0, 0.0], [3.0, np.nan, np.nan]]))
    >>> others.report()
    {'sex': "'sex' had a value in 1 row that is none of its values (f, m): it counts as other"}
    """

    _state: ClassVar[StateSchema] = {
        "counts": CountCheck(),
    }

    def __init__(self, schema: Schema) -> None:
        self._places: list[tuple[str, tuple[str, ...], slice]] = []
        first = 0
        for a in schema.attributes:
            last = first + len(a.encoded())
            if a.type == "category":
                self._places.append((a.name, a.values or (), slice(first, last)))
            first = last
        self.counts: Ints = np.zeros(len(self._places), dtype=np.int64)

    def count(self, X: Floats) -> None:
        """Take note of encoded rows (n, d)."""
        for i, (_, _, place) in enumerate(self._places):
            self.counts[i] += int((X[:, place] == 0.0).all(axis=1).sum())

    def report(self) -> dict[str, str]:
        """One sentence per category that had such a value, by its name."""
        found = zip(self._places, self.counts.tolist(), strict=True)
        return {name: self._sentence(name, values, n) for (name, values, _), n in found if n}

    def _sentence(self, name: str, values: tuple[str, ...], n: int) -> str:
        known = ", ".join(values[:6]) + (", ..." if len(values) > 6 else "")
        rows = "1 row" if n == 1 else f"{n} rows"
        return f"'{name}' had a value in {rows} that is none of its values ({known}): it counts as other"
