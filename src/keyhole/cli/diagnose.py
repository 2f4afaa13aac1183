"""`keyhole diagnose`: what can be used of a file, its ranges, and whether choosing attributes matters."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

if TYPE_CHECKING:
    from ..data.column_profile import Profile
    from ..data.streams import Schema
    from ..theory.signal import Signal

Progress: TypeAlias = Callable[[int], None]

# Rows in which to look for what moments cannot tell: residuals, drift.
_ROWS = 20_000


def diagnose(
    file: Annotated[Path, typer.Argument(help="CSV or Parquet, one row per instance.")],
    target: Annotated[str, typer.Option(help="The column to predict.")],
    prices: Annotated[Path | None, typer.Option(help="TOML with a price per attribute.")] = None,
    k: Annotated[int, typer.Option("-k", "--k", min=1, help="How many attributes the best choice may have.")] = 5,
    ignore: Annotated[list[str] | None, typer.Option(help="A column to leave alone; may be repeated.")] = None,
    schema: Annotated[Path | None, typer.Option(help="Where to write the schema; else beside the file.")] = None,
    numbers: Annotated[str, typer.Option(help="How its numbers are written, such as '1.234,56'; else a guess.")] = "",
    encoding: Annotated[str, typer.Option(help="How the file's text is encoded, such as latin-1.")] = "",
    force: Annotated[bool, typer.Option("--force", help="Replace a schema that is there.")] = False,
) -> None:
    """Look a file over: usable columns, missing values, ranges (written to a schema), and how much choosing matters.

    Example: keyhole diagnose visits.csv --target cost --prices prices.toml
    """
    from .._internal.escaping import shown
    from ..data.column_profile import Profile, covariance, first_rows
    from ..data.streams import open_table, read_prices
    from ..theory import conditions_of
    from ..theory.signal import signal

    table = open_table(file, encoding=encoding)
    costs = {} if prices is None else read_prices(prices)
    with _progress("looking at every row", table.rows) as step:
        profile = Profile(table, target, ignore or (), step, numbers)
    found = profile.schema(costs).written(encoding=encoding)
    place = schema or file.with_name(f"{Path(file.name.removesuffix('.gz')).stem}.schema.toml")
    with _progress("measuring the signal", profile.rows) as step:
        _, C = covariance(table, found, step)
    k = min(k, len(found.names))
    with _progress(f"searching for the best {k}", None):
        strength = signal(C, k)
    held: tuple[str, ...] = ()
    if strength.support.size:
        rows = first_rows(table, found, min(_ROWS, int(2e7) // len(found.names)))
        held = conditions_of(C, strength.support, rows=rows).lines
    kept = _write(found, place, file, force)
    for line in (*_columns(profile, found), *_values(profile, found), *_signal(strength, found, k), *held, *kept):
        print(f" {shown(line)}")


def _columns(profile: "Profile", schema: "Schema") -> Iterator[str]:
    """How many columns can be used, as what, and what becomes of the others."""
    dropped = [f"{name} ({why})" if why else name for name, why in profile.dropped.items()]
    counts = f"{_thousands(profile.rows)} rows, {len(profile.table.columns)} columns"
    usable = f"{counts} -> {len(schema.names)} usable attributes"
    if len(schema.names) > len(schema.columns):
        usable += f" of {len(schema.columns)} columns"
    yield usable + (f"; dropped: {_some(dropped)}" if dropped else "")
    if profile.missing[-1]:
        yield f"the target '{profile.target}' is missing in {_thousands(profile.missing[-1])} rows: they are skipped"
    if profile.label.numbers:
        yield f"proposed for the target: numbers written as {profile.label.numbers}"
    for name, words in profile.proposed.items():
        yield f"proposed for '{name}': {words}"


def _values(profile: "Profile", schema: "Schema") -> Iterator[str]:
    """Missing values and ranges."""
    gaps = [f"'{name}' {100 * share:.1f} %" for name, share in profile.missing_share().items()]
    outside = sum(e.low < -1 or e.high > 1 for e in schema.encoded)
    missing = f"{_some(gaps, 4)} missing" if gaps else "nothing missing"
    yield f"{missing} | {outside} attributes outside [-1, 1]"


def _signal(s: "Signal", schema: "Schema", k: int) -> Iterator[str]:
    """What all, the best and random attributes explain."""
    names = schema.names
    shares = f"R2 {s.all:.2f} with all, {s.best:.2f} with the best {k}, {s.random:.2f} with a random {k}"
    yield f"linear signal: {shares} -> {s.verdict}"
    sure = "none are better" if s.best_bound == s.best else f"none have R2 above {s.best_bound:.3f}"
    yield f"best {k} found: {', '.join(names[i] for i in s.support)} ({sure})"
    for group in s.groups:
        yield f"interchangeable (correlation 0.95 or more): {_some([names[i] for i in group])}"
    constant = f"compatibility constant of the best-{k} support: {s.delta_s:.2g}; " if s.delta_s == s.delta_s else ""
    yield f"{constant}smallest eigenvalue {max(s.smallest_eigenvalue, 0.0):.2g} (of the scaled rows)"


def _write(schema: "Schema", place: Path, file: Path, force: bool) -> list[str]:
    """Write the schema; one that is there is kept, for a person may have edited it."""
    from .._internal.atomic_io import write_atomically
    from .._internal.output_folder import claim_file
    from ..errors import ConfigError

    if os.path.lexists(place) and not force:
        return [f"{place} was there already and is kept as it is; --force replaces it, --schema FILE writes another"]
    try:
        write_atomically(claim_file(place, force=force, reads=(file,)), schema.to_toml().encode())
    except OSError as fault:
        raise ConfigError(f"{place} cannot be written ({fault.strerror}); say where with --schema FILE") from None
    return [f"types and ranges written to {place}: edit it, then keyhole run {file} --schema {place}"]


@contextmanager
def _progress(what: str, total: int | None) -> Iterator[Progress]:
    """A bar on the terminal while something takes its time; nothing where the output is no terminal."""
    from rich.progress import BarColumn, TextColumn

    from ._progress import Bar

    columns = (TextColumn("{task.description}"), BarColumn(20), TextColumn("{task.completed:,.0f}"))
    with Bar(*columns, transient=True) as bar:
        task = bar.add_task(what, total=total)
        yield lambda rows: bar.update(task, completed=rows)


def _thousands(number: float) -> str:
    return f"{number:,.0f}".replace(",", " ")


def _some(items: list[str], most: int = 12) -> str:
    return ", ".join(items[:most]) + (f", ... ({len(items)} in all)" if len(items) > most else "")
