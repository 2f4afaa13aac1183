"""A picture and the table with the same numbers."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import altair as alt

from .._internal.formatting import digits
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


def number(value: float) -> str:
    """A number of a figure's table: as everywhere, without zeros at its end.

    >>> [number(v) for v in (0, 0.03412, 7.0, 2580.0, 20000.0, 1.25e6, 3e21)]
    ['0', '0.0341', '7', '2 580', '20 000', '1 250 000', '3e+21']
    """
    text = digits(value)
    return text.rstrip("0").rstrip(".") if "." in text and "e" not in text else text
