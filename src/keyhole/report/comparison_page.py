"""The report of a comparison: ranking, medians and 10-90 % bands over seeds, as tables and curves."""

from collections.abc import Callable, Sequence

import numpy as np

from .._internal.atomic_io import write_atomically
from .._internal.formatting import digits
from .._internal.output_folder import Folder
from ..experiments.aggregate import CURVES, Band, Row, figure_of, notes_of, one_run, summarise
from ..experiments.job import CALIBRATION, Job, Outcome
from ..figures import Figure, standalone
from ..simulation import first_row_note
from .page import Page, Section, Table, how_to_repeat, probability_cells, probability_section, publish

__all__ = ["SORTS", "comparison_cells", "comparison_headline", "write_comparison"]

SORTS: dict[str, Callable[[Row], float]] = {
    "regret": lambda row: row.regret.middle,
    "loss": lambda row: row.loss_last_tenth.middle,
    "price": lambda row: row.price_per_row,
    "time": lambda row: row.seconds_per_row,
}
"""The criteria by which the rows of a table can be sorted, smallest first."""

_LEAD = (
    "Medians over seeds with 10-90 % bands. Regret is the squared error beyond that of the true weights, or, where "
    "those are unknown, of the best basket of the same budget in hindsight: the same rival for all. The typical error "
    "is the root of the mean squared error of a whole run."
)
_REFERENCES = "References, in grey, buy everything or use the true support; they are not ranked."
_ASIDE = (
    "The schema states no ranges for some columns, and ranges computed from the rows themselves are not used here: the "
    f"first {CALIBRATION} rows of each seed's order (at most a tenth) are set aside to estimate them, and no learner "
    "plays those rows."
)


def write_comparison(
    folder: Folder, pairs: Sequence[tuple[Job, Outcome]], command: str, sort: str = "", said: Sequence[str] = ()
) -> tuple[list[Row], list[str]]:
    """Write report.html and figures/ of a comparison; return the rows of its tables and the notes.

    Learners come before references, each in the requested order or sorted by one of `SORTS`; `said` are further notes.
    """
    rows, notes = summarise(pairs), [*said, *notes_of(pairs), *_about_rows(pairs)]
    if sort:
        rows.sort(key=SORTS[sort])
    rows.sort(key=lambda row: row.reference)
    sections = []
    for i, stream in enumerate(dict.fromkeys(row.stream for row in rows)):
        mine = [row for row in rows if row.stream == stream]
        drawn = _figures(mine)
        for name, figure in drawn.items():
            write_atomically(folder.file(f"figures/{name}-{i + 1}.svg"), standalone(figure.svg).encode())
        head, lines = comparison_cells(mine)
        grey = tuple(j for j, row in enumerate(mine) if row.reference)
        small = [_REFERENCES] if grey else []
        table = Table(head, lines, mine.index(_ranked(mine)[0]) if _ranked(mine) else None, grey=grey)
        sections.append(Section(stream, table=table, figures=list(drawn.values()), notes=small))
        sections += _probabilities(stream, mine)
    sections.append(Section("Notes", texts=[] if notes else ["None."], bullets=notes))
    title = f"{len({r.algorithm for r in rows})} algorithms compared"
    headline, details = comparison_headline(rows)
    publish(folder, Page(title, headline, [*sections, how_to_repeat(command)], lead=[_LEAD], details=details))
    return rows, notes


def _probabilities(stream: str, rows: Sequence[Row]) -> list[Section]:
    """Return a section on the reliability of the leading learner's probabilities, if labels are yes or no."""
    scored = [row for row in _ranked(rows) if row.probabilities is not None]
    if not scored:
        return []
    return probability_section(scored[0].probabilities, f"Probabilities of {scored[0].algorithm} on {stream}")


def _about_rows(pairs: Sequence[tuple[Job, Outcome]]) -> list[str]:
    """Return notes on omitted rows, and on seeds that gave identical runs."""
    streams = {job.stream for job, _ in pairs if not job.stream.is_synthetic}
    schemas = [stream.rows(0, 1).schema for stream in streams]
    found = [first_row_note()] if any(s.without_estimates().label.stated_center is None for s in schemas) else []
    found += [_ASIDE] if any(s.without_estimates().unbounded for s in schemas) else []
    return found + (one_run(pairs) if any(not stream.shuffle for stream in streams) else [])


def _ranked(rows: Sequence[Row]) -> list[Row]:
    """Return the learners with the most common budget, by regret (or by loss if none has a regret)."""
    learners = [row for row in rows if not row.reference]
    if not learners:
        return []
    budgets = [row.budget for row in learners]
    common = max(dict.fromkeys(budgets), key=budgets.count)
    same = [row for row in learners if row.budget == common]
    return sorted(same, key=lambda row: (np.nan_to_num(row.regret.middle, nan=np.inf), row.typical_error.middle))


def comparison_headline(rows: Sequence[Row]) -> tuple[str, str]:
    """Return the leader among learners of one budget; then its margin, and whether the bands overlap."""
    streams = [_ranked([r for r in rows if r.stream == s]) for s in dict.fromkeys(row.stream for row in rows)]
    streams = [mine for mine in streams if len(mine) > 1]
    if not streams:
        return "No two learners had the same budget: there is nothing to rank.", ""
    wins = [mine[0].algorithm for mine in streams]
    best = max(dict.fromkeys(wins), key=wins.count)
    where = "" if len(streams) == 1 else f" on {wins.count(best)} of {len(streams)} streams"
    first, second = streams[wins.index(best)][:2]
    on = "" if len(streams) == 1 else f", {first.stream}"
    apart = first.regret.high < second.regret.low
    sure = "their bands do not overlap" if apart else "their bands overlap: not decided"
    sure = sure if first.seeds > 1 else "not decided by one"
    leads = f"has the smallest regret{where}"
    if not apart or first.seeds == 1:
        leads = f"has the smallest median regret{where}, but this is not decided"
    seeds = f"{first.seeds} seed{'s' if first.seeds > 1 else ''}"
    of = f"Of {len(streams[wins.index(best)])} learners with {first.budget}"
    numbers = f"Regret {digits(first.regret.middle)}; next is {second.algorithm} with {digits(second.regret.middle)}"
    return f"{of}, {best} {leads}.", f"{numbers} ({seeds}{on}; {sure})."


def comparison_cells(rows: Sequence[Row]) -> tuple[list[str], list[list[str]]]:
    """Return head and rows of the table of one stream."""
    truth = any(not np.isnan(row.found) for row in rows)
    priced = any(row.price_per_row != row.attributes_per_row for row in rows)
    budgets = len({row.budget for row in rows if not row.reference}) > 1
    head = [
        "algorithm",
        *(["budget"] if budgets else []),
        "regret at T (median, 10-90 %)",
        "typical error",
        "in the last tenth",
    ]
    scored = any(row.probabilities is not None for row in rows)
    head += ["AUC", "Brier score", "log loss"] if scored else []
    head += [*(["support found"] if truth else []), "attributes/row", *(["price/row"] if priced else []), "us/row"]
    lines = []
    for row in rows:
        found = "-" if np.isnan(row.found) else f"{100 * row.found:.0f} %"
        late = digits(max(row.loss_last_tenth.middle, 0.0) ** 0.5, 4)
        name = f"{row.algorithm} (reference)" if row.reference else row.algorithm
        budget = ["" if row.reference else row.budget] if budgets else []
        line = [name, *budget, _band(row.regret)]
        line += [digits(row.typical_error.middle, 4), late]
        line += probability_cells(row.probabilities) if scored else []
        line += [found] if truth else []
        line += [digits(row.attributes_per_row), *([f"{row.price_per_row:.2f}"] if priced else [])]
        lines.append([*line, digits(1e6 * row.seconds_per_row)])
    return head, lines


def _band(band: Band) -> str:
    return f"{digits(band.middle, 4)} ({digits(band.low, 4)} to {digits(band.high, 4)})"


def _figures(rows: Sequence[Row]) -> dict[str, Figure]:
    """Return one chart per quantity with the curves of all algorithms, each labelled at its end."""
    found = {}
    for name in CURVES:
        found[name] = figure_of(rows, name)
    return found
