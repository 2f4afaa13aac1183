"""`keyhole frontier`: the error that each amount of money buys."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ._early_checks import require_file
from ._text_tables import comma_separated, sentences, typed_command

if TYPE_CHECKING:
    from ..experiments import Frontier


def frontier(
    file: Annotated[str, typer.Argument(help="CSV or Parquet with a schema that has prices, or a data set's name.")],
    out: Annotated[Path, typer.Option(help="The folder of the results; the same command continues in it.")],
    target: Annotated[str | None, typer.Option(help="The column to predict.")] = None,
    schema: Annotated[Path | None, typer.Option(help="Types, panels and prices, as `diagnose` proposes them.")] = None,
    prices: Annotated[Path | None, typer.Option(help="TOML with a price per attribute or panel.")] = None,
    free: Annotated[list[str] | None, typer.Option(help="Free columns, with commas; may be repeated.")] = None,
    numbers: Annotated[str, typer.Option(help="How its numbers are written, such as '1.234,56'.")] = "",
    na: Annotated[list[str] | None, typer.Option(help="A word that means 'missing'; may be repeated.")] = None,
    encoding: Annotated[str, typer.Option(help="How its text is encoded, such as latin-1.")] = "",
    k: Annotated[
        int | None, typer.Option("-k", "--k", min=1, help="Attributes (or panels) a row may buy at most.")
    ] = None,
    levels: Annotated[int, typer.Option(min=2, help="How many error costs, chosen from the data.")] = 8,
    seeds: Annotated[int, typer.Option(min=1, help="Runs per level: seeds 0, 1, ...")] = 3,
    rounds: Annotated[int, typer.Option(min=10, help="Rows per run, at most.")] = 1_000_000,
    in_order: Annotated[
        bool, typer.Option("--in-order", help="Play the rows as they come; else each seed shuffles them.")
    ] = False,
    jobs: Annotated[int, typer.Option(min=1, help="Processes.")] = 1,
    executor: Annotated[str, typer.Option(help="joblib, dask (on this machine), or dask=tcp://HOST:PORT.")] = "joblib",
) -> None:
    """Show what each amount of money buys: `thrifty` at several error costs, beside the best baskets in hindsight.

    Example: keyhole frontier visits.csv --schema visits.schema.toml --target cost --out runs/frontier
    """
    require_file(file)

    from .._internal.escaping import printable
    from .._internal.output_folder import Folder
    from ..data.streams import Schema, unpriced
    from ..experiments import StreamSpec
    from ..experiments import frontier as make
    from ..report import write_frontier
    from .compare import _bar as bar

    stream = StreamSpec.parse(
        file, target, schema, not in_order, prices, comma_separated(free), numbers, encoding, na or ()
    )
    with bar(levels * seeds) as progress:
        try:
            found = make(
                stream, out=out, levels=levels, seeds=seeds, rounds=rounds, k=k, executor=executor, jobs=jobs,
                progress=progress,
            )  # fmt: skip
        except KeyboardInterrupt:
            print(f"interrupted; finished runs are kept in {out}: type the same command to continue", file=sys.stderr)
            raise typer.Exit(3) from None
    write_frontier(Folder.claim(out, "frontier"), found, typed_command())
    print_frontier(found)
    for note in unpriced(Schema.from_toml(stream.schema)) if stream.schema else ():
        print(f" note: {printable(note)}")
    print(f" report: {out / 'report.html'}")


def print_frontier(found: "Frontier") -> None:
    """Print the table, the omitted levels, and the advice."""
    from rich.console import Console
    from rich.table import Table

    from .._internal.escaping import printable
    from ..report import frontier_cells, frontier_notes

    console = Console(width=None if sys.stdout.isatty() else 160)
    title = f" {found.stream}: {found.rows} rows, {len(found.sources)} sources, label {found.target}"
    console.print(printable(title), markup=False, highlight=False)
    head, rows = frontier_cells(found)
    table = Table(box=None, pad_edge=True)
    for name in head:
        table.add_column(name, justify="left" if name == "basket" else "right", overflow="fold")
    for row in rows:
        table.add_row(*map(printable, row))
    console.print(table, markup=False)
    for note in frontier_notes(found):
        console.print(f" {printable(note)}", markup=False, highlight=False, soft_wrap=True)
    for line in sentences(found.sentence):
        console.print(f" {printable(line)}", markup=False, highlight=False, soft_wrap=True)
