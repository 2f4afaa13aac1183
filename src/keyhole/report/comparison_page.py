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

__all__ = ["comparison_cells", "write_comparison"]

CurveOf: TypeAlias = Callable[[Row], Floats]


def write_comparison(folder: Folder, pairs: Sequence[tuple[Job, Outcome]], command: str) -> tuple[list[Row], list[str]]:
    """Write report.html and figures/ of a comparison; gives the rows of its tables and the notes."""
    rows, notes = summarise(pairs), notes_of(pairs)
    parts = []
    for i, stream in enumerate(dict.fromkeys(row.stream for row in rows)):
        mine = [row for row in rows if row.stream == stream]
        drawn = [_figure(mine, "regret", lambda r: r.curve), _figure(mine, "mean loss", lambda r: r.losses)]
        for name, (_, svg, _, _) in zip(("regret", "loss"), drawn, strict=True):
            write_atomically(folder.file(f"figures/{name}-{i + 1}.svg"), html.standalone(svg).encode())
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
    head = ["algorithm", "regret at T (median, 10-90 %)", "loss, last tenth", "support found", "attributes/row"]
    priced = any(row.price_per_row != row.attributes_per_row for row in rows)
    lines = []
    for row in rows:
        found = "-" if np.isnan(row.found) else f"{100 * row.found:.0f} %"
        line = [row.algorithm, _band(row.regret), f"{row.loss_last_tenth.middle:.4g}", found]
        lines.append([*line, f"{row.attributes_per_row:.4g}", *([f"{row.price_per_row:.4g}"] if priced else [])])
    return [*head, *(["price/row"] if priced else [])], lines


def _band(band: Band) -> str:
    return f"{band.middle:.4g} ({band.low:.4g} to {band.high:.4g})"


def _figure(rows: Sequence[Row], name: str, curve_of: CurveOf) -> tuple[str, str, str, list[str]]:
    """The curves of all algorithms; as many as can be told apart."""
    shown = list(rows)[:COLOURS]
    curves = [Curve(r.algorithm, *curve_of(r)) for r in shown]
    svg = line_chart(name, rows[0].rows, curves, "row", name)
    head = ["up to row", *(f"{c.name}{part}" for c in curves for part in ("", " 10 %", " 90 %"))]
    lines = [
        [str(int(end)), *(number(float(v[i])) for c in curves for v in (c.y, c.low, c.high) if v is not None)]
        for i, end in enumerate(rows[0].rows)
    ]
    more = f" (the first {COLOURS} of {len(rows)})" if len(rows) > COLOURS else ""
    return f"{name.capitalize()} over time{more}", svg, html.table(head, lines), [c.name for c in curves]
