"""The report of a comparison: medians and 10-90 % bands over seeds, as tables and curves."""

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np

from .. import __version__
from .._types import Floats
from ..files import write_atomically
from ..outputs import Folder
from ..study.job import Job, Outcome
from ..study.summing import Band, Row, notes_of, summarise
from . import html
from .svg import COLOURS, Curve, line_chart, number

__all__ = ["SORTS", "comparison_cells", "write_comparison"]

CurveOf: TypeAlias = Callable[[Row], Floats]


def _regret(row: Row) -> Floats:
    return row.curve


def _losses(row: Row) -> Floats:
    return row.losses


_CURVES: tuple[tuple[str, str, CurveOf], ...] = (("regret", "regret", _regret), ("loss", "mean loss", _losses))
SORTS: dict[str, Callable[[Row], float]] = {
    "regret": lambda row: row.regret.middle,
    "loss": lambda row: row.loss_last_tenth.middle,
    "price": lambda row: row.price_per_row,
    "time": lambda row: row.seconds_per_row,
}
"""By what the lines of a table can be sorted, the smallest first."""


def write_comparison(
    folder: Folder, pairs: Sequence[tuple[Job, Outcome]], command: str, sort: str = "", said: Sequence[str] = ()
) -> tuple[list[Row], list[str]]:
    """Write report.html and figures/ of a comparison; gives the rows of its tables and the notes.

    The lines are in the order they were asked for, or sorted by one of `SORTS`; `said` are further notes.
    """
    rows, notes = summarise(pairs), [*said, *notes_of(pairs)]
    if sort:
        rows.sort(key=SORTS[sort])
    parts = []
    for i, stream in enumerate(dict.fromkeys(row.stream for row in rows)):
        mine = [row for row in rows if row.stream == stream]
        drawn = []
        for name, title, curve_of in _CURVES:
            for j in range(0, len(mine), COLOURS):  # as many in a figure as can be told apart
                drawn.append(_figure(mine[j : j + COLOURS], title, curve_of))
                part = f"-{j // COLOURS + 1}" if j else ""
                file = folder.file(f"figures/{name}-{i + 1}{part}.svg")
                write_atomically(file, html.standalone(drawn[-1][1]).encode())
        table = html.table(*comparison_cells(mine))
        parts.append(html.section(stream, table, html.figures([html.figure(*figure) for figure in drawn])))
    parts.append(html.section("Notes", html.bullets(notes, "None.")))
    parts.append(html.section("How to reproduce it", html.code(f"pip install keyhole=={__version__}\n{command}")))
    title = f"{len({r.algorithm for r in rows})} algorithms compared"
    lead = (
        "Medians over seeds with 10-90 % bands. Regret is the squared error beyond that of the true weights, or, where "
    )
    lead += "those are unknown, of the best attributes in hindsight."
    write_atomically(folder.file("report.html"), html.page(title, lead, parts).encode())
    return rows, notes


def comparison_cells(rows: Sequence[Row]) -> tuple[list[str], list[list[str]]]:
    """Head and lines of the table of one stream."""
    head = [
        "algorithm",
        "regret at T (median, 10-90 %)",
        "loss, last tenth",
        "support found",
        "attributes/row",
        "us/row",
    ]
    priced = any(row.price_per_row != row.attributes_per_row for row in rows)
    lines = []
    for row in rows:
        found = "-" if np.isnan(row.found) else f"{100 * row.found:.0f} %"
        line = [row.algorithm, _band(row.regret), f"{row.loss_last_tenth.middle:.4g}", found]
        line += [f"{row.attributes_per_row:.4g}", f"{1e6 * row.seconds_per_row:.3g}"]
        lines.append([*line, *([f"{row.price_per_row:.4g}"] if priced else [])])
    return [*head, *(["price/row"] if priced else [])], lines


def _band(band: Band) -> str:
    return f"{band.middle:.4g} ({band.low:.4g} to {band.high:.4g})"


def _figure(rows: Sequence[Row], name: str, curve_of: CurveOf) -> tuple[str, str, str, list[str]]:
    """The curves of some algorithms."""
    curves = [Curve(r.algorithm, *curve_of(r)) for r in rows]
    svg = line_chart(name, rows[0].rows, curves, "row", name)
    head = ["up to row", *(f"{c.name}{part}" for c in curves for part in ("", " 10 %", " 90 %"))]
    lines = [
        [str(int(end)), *(number(float(v[i])) for c in curves for v in (c.y, c.low, c.high) if v is not None)]
        for i, end in enumerate(rows[0].rows)
    ]
    return f"{name.capitalize()} over time", svg, html.table(head, lines), [c.name for c in curves]
