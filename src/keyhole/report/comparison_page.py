"""The report of a comparison: who was ahead, medians and 10-90 % bands over seeds, as tables and curves."""

from collections.abc import Callable, Sequence

import numpy as np

from .._internal.atomic_io import write_atomically
from .._internal.formatting import digits
from .._internal.output_folder import Folder
from ..experiments.aggregate import CURVES, Band, Row, figure_of, notes_of, summarise
from ..experiments.job import Job, Outcome
from ..figures import Figure, standalone
from .page import Page, Section, Table, how_to_repeat, publish

__all__ = ["SORTS", "comparison_cells", "write_comparison"]

_TOGETHER = 6
"""As many curves in a figure as can be told apart."""
SORTS: dict[str, Callable[[Row], float]] = {
    "regret": lambda row: row.regret.middle,
    "loss": lambda row: row.loss_last_tenth.middle,
    "price": lambda row: row.price_per_row,
    "time": lambda row: row.seconds_per_row,
}
"""By what the lines of a table can be sorted, the smallest first."""

_LEAD = (
    "Medians over seeds with 10-90 % bands. Regret is the squared error beyond that of the true weights, or, where "
    "those are unknown, of the best attributes in hindsight. The typical error is the root of the mean squared loss."
)


def write_comparison(
    folder: Folder, pairs: Sequence[tuple[Job, Outcome]], command: str, sort: str = "", said: Sequence[str] = ()
) -> tuple[list[Row], list[str]]:
    """Write report.html and figures/ of a comparison; gives the rows of its tables and the notes.

    The lines are in the order they were asked for, or sorted by one of `SORTS`; `said` are further notes.
    """
    rows, notes = summarise(pairs), [*said, *notes_of(pairs)]
    if sort:
        rows.sort(key=SORTS[sort])
    sections = []
    for i, stream in enumerate(dict.fromkeys(row.stream for row in rows)):
        mine = [row for row in rows if row.stream == stream]
        drawn = _figures(mine)
        for name, figure in drawn.items():
            stem, _, part = name.partition("/")
            write_atomically(folder.file(f"figures/{stem}-{i + 1}{part}.svg"), standalone(figure.svg).encode())
        head, lines = comparison_cells(mine)
        best = mine.index(_ahead(mine))
        sections.append(Section(stream, table=Table(head, lines, best), figures=list(drawn.values())))
    sections.append(Section("Notes", texts=[] if notes else ["None."], bullets=notes))
    title = f"{len({r.algorithm for r in rows})} algorithms compared"
    publish(folder, Page(title, _advice(rows), [*sections, how_to_repeat(command)], lead=[_LEAD]))
    return rows, notes


def _ahead(rows: Sequence[Row]) -> Row:
    """Who had the smallest regret (the smallest loss at the end where nobody has one)."""
    return min(rows, key=lambda row: (np.nan_to_num(row.regret.middle, nan=np.inf), row.loss_last_tenth.middle))


def _advice(rows: Sequence[Row]) -> str:
    """Who is ahead on how many streams, by how much, and whether the bands overlap."""
    streams = [[r for r in rows if r.stream == s] for s in dict.fromkeys(row.stream for row in rows)]
    wins = [_ahead(mine).algorithm for mine in streams]
    best = max(dict.fromkeys(wins), key=wins.count)
    if len({r.algorithm for r in rows}) == 1:
        return f"{best} was played alone: there is nothing to compare it with."
    where = "" if len(streams) == 1 else f" on {wins.count(best)} of {len(streams)} streams"
    mine = streams[wins.index(best)]
    first, second = sorted(mine, key=lambda row: row.regret.middle)[:2]
    on = "" if len(streams) == 1 else f", {first.stream}"
    sure = "their bands do not overlap" if first.regret.high < second.regret.low else "their bands overlap: not decided"
    seeds = f"{first.seeds} seed{'s' if first.seeds > 1 else ''}"
    numbers = f"{digits(first.regret.middle)}, then {second.algorithm} with {digits(second.regret.middle)}"
    return f"{best} has the smallest regret{where}: {numbers} ({seeds}{on}; {sure})."


def comparison_cells(rows: Sequence[Row]) -> tuple[list[str], list[list[str]]]:
    """Head and lines of the table of one stream."""
    head = [
        "algorithm",
        "regret at T (median, 10-90 %)",
        "loss, last tenth",
        "typical error",
        "support found",
        "attributes/row",
        "us/row",
    ]
    priced = any(row.price_per_row != row.attributes_per_row for row in rows)
    lines = []
    for row in rows:
        found = "-" if np.isnan(row.found) else f"{100 * row.found:.0f} %"
        loss = row.loss_last_tenth.middle
        line = [row.algorithm, _band(row.regret), f"{loss:.4g}", f"{max(loss, 0.0) ** 0.5:.4g}", found]
        line += [f"{row.attributes_per_row:.4g}", f"{1e6 * row.seconds_per_row:.3g}"]
        lines.append([*line, *([f"{row.price_per_row:.4g}"] if priced else [])])
    return [*head, *(["price/row"] if priced else [])], lines


def _band(band: Band) -> str:
    return f"{band.middle:.4g} ({band.low:.4g} to {band.high:.4g})"


def _figures(rows: Sequence[Row]) -> dict[str, Figure]:
    """Curves of all algorithms, some at a time; the key is name/part."""
    found = {}
    for name in CURVES:
        for j in range(0, len(rows), _TOGETHER):
            part = f"-{j // _TOGETHER + 1}" if j else ""
            found[f"{name}/{part}"] = figure_of(rows[j : j + _TOGETHER], name)
    return found
