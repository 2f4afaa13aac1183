"""`keyhole diagnose`: the usable columns of a file, their ranges, and whether the choice of attributes matters."""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from .._internal.formatting import join_names, thousands
from ._early_checks import require_file

if TYPE_CHECKING:
    from .._internal.typing import Floats
    from ..data.column_profile import Profile, ProposedPanel
    from ..data.streams import Schema
    from ..theory.conditions import Signal

Progress: TypeAlias = Callable[[int], None]

# The number of rows examined for what moments cannot show: residuals and drift.
_ROWS = 20_000


def diagnose(
    file: Annotated[Path, typer.Argument(help="CSV or Parquet, one row per instance.")],
    target: Annotated[str, typer.Option(help="The column to predict.")],
    prices: Annotated[Path | None, typer.Option(help="TOML with a price per attribute.")] = None,
    k: Annotated[int, typer.Option("-k", "--k", min=1, help="How many attributes the best choice may have.")] = 5,
    ignore: Annotated[list[str] | None, typer.Option(help="A column to ignore; may be repeated.")] = None,
    schema: Annotated[Path | None, typer.Option(help="Where to write the schema; by default next to the file.")] = None,
    numbers: Annotated[str, typer.Option(help="How its numbers are written, such as '1.234,56'; else a guess.")] = "",
    encoding: Annotated[str, typer.Option(help="How the file's text is encoded, such as latin-1.")] = "",
    na: Annotated[list[str] | None, typer.Option(help="A word that means 'missing'; may be repeated.")] = None,
    theory: Annotated[bool, typer.Option("--theory", help="Show the paper's conditions, too.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace a schema that is there.")] = False,
) -> None:
    """Examine a file: usable columns, bad cells, panels, ranges (written to a schema), and how much choosing matters.

    Example: keyhole diagnose visits.csv --target cost --prices prices.toml
    """
    require_file(file)

    from .._internal.escaping import printable
    from ..data.column_profile import Profile, covariance, proposed_schema, scaled_first_rows
    from ..data.streams import open_table, read_prices
    from ..data.table import schema_beside
    from ..theory.conditions import conditions_of, signal

    table = open_table(file, encoding=encoding)
    costs = {} if prices is None else read_prices(prices)
    with _progress("looking at every row", table.rows) as step:
        profile = Profile(table, target, ignore or (), step, numbers, na or ())
    found = profile.schema(costs).written(encoding=encoding)
    place = schema or schema_beside(file)
    with _progress("measuring the signal", profile.rows) as step:
        _, C = covariance(table, found, step)
    k = min(k, len(found.names))
    with _progress(f"searching for the best {k}", None):
        strength = signal(C, k)
    rows = scaled_first_rows(table, found, min(_ROWS, int(2e7) // len(found.names)))
    panels = profile.panels()
    kept = _write(proposed_schema(found, panels), place, file, force)
    lines = [*_columns(profile, found), *_bad_cells(profile), *_values(profile), *_panels(panels)]
    lines += [*_signal(strength, found, k), *_drift(rows, found)]
    if theory and strength.support.size:
        lines += [*_theory(strength, k), *conditions_of(C, strength.support, rows=rows).lines]
    for line in (*lines, *kept, _command(file, place, found, min(k, len(found.sources)))):
        print(f" {printable(line)}")


def _columns(profile: "Profile", schema: "Schema") -> Iterator[str]:
    """Report how many columns are usable, with their types, and what happens to the others."""
    dropped = [f"{name} ({why})" if why else name for name, why in profile.dropped.items()]
    counts = f"{thousands(profile.rows)} rows, {len(profile.table.columns)} columns"
    usable = f"{counts} -> {len(schema.names)} usable attributes"
    if len(schema.names) > len(schema.columns):
        usable += f" of {len(schema.columns)} columns"
    yield usable + (f"; dropped: {join_names(dropped, 12)}" if dropped else "")
    if profile.missing[-1]:
        yield f"the target '{profile.target}' is missing in {thousands(profile.missing[-1])} rows: they are skipped"
    if profile.label.is_binary:
        positive = f', positive = "{profile.label.positive}"' if profile.label.positive else ""
        yield f'proposed for the target: type = "yes/no"{positive}; predictions are then probabilities'
    if profile.label.numbers:
        yield f"proposed for the target: numbers written as {profile.label.numbers}"
    for name, words in profile.proposed.items():
        yield f"proposed for '{name}': {words}"


def _bad_cells(profile: "Profile") -> Iterator[str]:
    """Report the cells in numeric columns that are not numbers, and how the schema proposes to treat them."""
    from ..data.schema_toml import quoted

    used = {a.name: a for a in profile.used} | {profile.target: profile.label}
    for column, counts in profile.bad_cells:
        cells = ", ".join(f"{quoted(word)} {thousands(n)}" for word, n in counts.items())
        n = sum(counts.values())
        yield f"'{column}': {thousands(n)} {'cell is not a number' if n == 1 else 'cells are not numbers'}: {cells}"
        line = used.get(column)
        if line is not None:
            missing = [f"missing = [{', '.join(map(quoted, line.missing))}]"] if line.missing else []
            limits = [
                f"{key} = {{{', '.join(f'{quoted(word)} = {value:g}' for word, value in pairs)}}}"
                for key, pairs in (("below", line.below), ("above", line.above))
                if pairs
            ]
            yield f"  proposed in the schema: {', '.join([*missing, *limits])}"


def _values(profile: "Profile") -> Iterator[str]:
    """Report missing values."""
    gaps = [f"'{name}' {100 * share:.1f} %" for name, share in profile.missing_share().items()]
    yield f"missing: {join_names(gaps, 6)}" if gaps else "nothing is missing"


def _panels(panels: "Sequence[ProposedPanel]") -> Iterator[str]:
    for panel in panels:
        yield f"perhaps one order: {join_names(panel.columns, 12)} ({panel.why}); commented in the schema"


def _signal(s: "Signal", schema: "Schema", k: int) -> Iterator[str]:
    """Report the variance explained by all, by the best and by random attributes."""
    from ..theory.conditions import DRAWS

    names = [schema.names[i] for i in s.support]
    best = f"the best {k} found ({', '.join(names)}) explain {100 * s.best:.0f} %"
    yield (
        f"The {len(schema.names)} attributes together explain {100 * s.all:.0f} % of the variance of "
        f"'{schema.target}'; {best}."
    )
    chance = f"{k} attributes chosen at random explain {100 * s.random:.0f} % (median of {DRAWS} draws)"
    yield f"{chance}: {s.verdict}."
    for group in s.groups:
        if len({schema.column_of[schema.names[i]] for i in group}) == 1:
            continue  # the indicators of a single category
        yield f"interchangeable (correlation 0.95 or more): {join_names([schema.names[i] for i in group], 12)}"


def _drift(rows: "Floats", schema: "Schema") -> Iterator[str]:
    """Report whether the rows change over the file, and in which column."""
    from ..theory.conditions import DRIFT, drift_of

    # A date always changes.
    dates = {e.name for a in schema.attributes if a.type == "date" for e in a.encoded()}
    names = [*schema.names, schema.target]
    kept = [j for j, name in enumerate(names) if name not in dates]
    z, column = drift_of(rows[:, kept])
    name = names[kept[column]]
    if z > DRIFT:
        yield f"Drift: the mean of '{name}' differs between the first and the second half of the rows (z {z:.1f})."
    else:
        yield "No drift: no column's mean differs between the first and the second half of the rows."


def _theory(s: "Signal", k: int) -> Iterator[str]:
    constant = f"compatibility constant of the best-{k} support: {s.delta_s:.2g}; " if s.delta_s == s.delta_s else ""
    yield f"{constant}smallest eigenvalue {max(s.smallest_eigenvalue, 0.0):.2g} (of the scaled rows)"
    sure = "none are better" if s.best_bound == s.best else f"none have R2 above {s.best_bound:.3f}"
    yield f"best {k}: R2 {s.best:.3f} ({sure})"


def _command(file: Path, place: Path, schema: "Schema", k: int) -> str:
    """Return the suggested next command, ready to run."""
    from shlex import join

    out = Path("runs") / Path(file.name.removesuffix(".gz")).stem
    return "next: " + join(["keyhole", "run", str(file), "--schema", str(place), "-k", str(k), "--out", str(out)])


def _write(text: str, place: Path, file: Path, force: bool) -> list[str]:
    """Write the schema; an existing one is kept, because a person may have edited it."""
    from .._internal.atomic_io import write_atomically
    from .._internal.output_folder import claim_file
    from ..errors import ConfigError

    if os.path.lexists(place) and not force:
        return [f"{place} was there already and is kept as it is; --force replaces it, --schema FILE writes another"]
    try:
        write_atomically(claim_file(place, force=force, reads=(file,)), text.encode())
    except OSError as fault:
        raise ConfigError(f"{place} cannot be written ({fault.strerror}); say where with --schema FILE") from None
    return [f"types and ranges written to {place}: add prices and panels there, then run it"]


@contextmanager
def _progress(what: str, total: int | None) -> Iterator[Progress]:
    """Show a progress bar during a long operation; nothing if the output is not a terminal."""
    from rich.progress import BarColumn, TextColumn

    from ._progress import Bar

    columns = (TextColumn("{task.description}"), BarColumn(20), TextColumn("{task.completed:,.0f}"))
    with Bar(*columns, transient=True) as bar:
        task = bar.add_task(what, total=total)
        yield lambda rows: bar.update(task, completed=rows)
