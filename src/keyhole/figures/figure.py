"""A picture and the table with the same numbers."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import altair as alt

from .._internal.formatting import number
from .svg import standalone, to_svg

__all__ = ["Figure", "number"]


@dataclass(frozen=True, eq=False)
class Figure:
    """A chart with its title and, since nobody can read a number off a picture, its numbers."""

    title: str
    chart: alt.LayerChart
    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    note: str = ""
    """A sentence under the picture, where it needs one."""

    @cached_property
    def svg(self) -> str:
        """The picture for a page, drawn once: its colours are the page's variables."""
        return to_svg(self.chart, self.title)

    def save(self, path: Path) -> None:
        """The picture as a file of its own, light or dark as the reader's screen is."""
        path.write_text(standalone(self.svg), encoding="utf-8")
