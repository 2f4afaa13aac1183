"""`keyhole compare`: comparison of algorithms on the same streams."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Annotated

import typer

from ._early_checks import require_algorithms, require_file
from ._text_tables import comma_separated, typed_command, without_bands, written

if TYPE_CHECKING:
    from ..experiments import Comparison, Executor, Job, Outcome, Progress, Row


def compare(
    sources: Annotated[list[str], typer.Argument(help="synthetic:d=20,k=4,..., a data set's name, or a file.")],
    algorithms: Annotated[str, typer.Option(help="A list of NAME or NAME[option=value,...], with commas.")],
    out: Annotated[Path, typer.Option(help="The folder of the results; the same command continues in it.")],
    rounds: Annotated[int, typer.Option(min=1, help="Rows per run, at most.")] = 20_000,
    seeds: Annotated[int, typer.Option(min=1, help="Runs per algorithm and stream: seeds 0, 1, ...")] = 10,
    jobs: Annotated[int, typer.Option(min=1, help="Processes.")] = 1,
    executor: Annotated[str, typer.Option(help="joblib, dask (on this machine), or dask=tcp://HOST:PORT.")] = "joblib",
    k: Annotated[int | None, typer.Option("-k", "--k", min=1, help="Attributes per row; synthetic: its k.")] = None,
    k0: Annotated[int, typer.Option(min=0, help="Attributes per row after the label, for those that take them.")] = 0,
    target: Annotated[str | None, typer.Option(help="The column to predict, for files.")] = None,
    schema: Annotated[Path | None, typer.Option(help="Ranges and prices, for files.")] = None,
    budget_per_row: Annotated[
        float | None, typer.Option(min=0.0, help="Money per row, for those who plan with it.")
    ] = None,
    error_cost: Annotated[float | None, typer.Option(help="The cost of one unit of squared error, likewise.")] = None,
    total_budget: Annotated[float | None, typer.Option(help="A budget for all rows of a run, likewise.")] = None,
    prices: Annotated[Path | None, typer.Option(help="TOML with a price per attribute, for files.")] = None,
    free: Annotated[
        list[str] | None, typer.Option(help="Free columns, with commas, for files; may be repeated.")
    ] = None,
    numbers: Annotated[str, typer.Option(help="How numbers are written in files, such as '1.234,56'.")] = "",
    na: Annotated[list[str] | None, typer.Option(help="A word that means 'missing'; may be repeated.")] = None,
    encoding: Annotated[str, typer.Option(help="How the text of files is encoded, such as latin-1.")] = "",
    sort: Annotated[str, typer.Option(help="Sort by regret, loss, price or time; else as listed.")] = "",
    in_order: Annotated[
        bool, typer.Option("--in-order", help="Play the rows of files as they come; else each seed shuffles them.")
    ] = False,
) -> None:
    """Play algorithms x streams x seeds. Finished runs are skipped; the numbers do not depend on --jobs or --executor.

    Example: keyhole compare synthetic:d=20,k=4 --algorithms "ds-oslrc[tuning=theory],vaw" --seeds 5 --out runs/a
    """
    from ..core.registry.spec import split
    from ..errors import ConfigError

    for source in sources:
        require_file(source)
    require_algorithms(split(algorithms))

    from ..experiments import Comparison, Executor, StreamSpec
    from ..report import SORTS, write_comparison

    if sort and sort not in SORTS:
        raise ConfigError(f"--sort must be one of {', '.join(SORTS)}, not '{sort}'")
    found = [
        StreamSpec.parse(name, target, schema, not in_order, prices, comma_separated(free), numbers, encoding, na or ())
        for name in sources
    ]
    comparison = Comparison(
        out, found, split(algorithms), seeds, rounds, k, k0, budget_per_row, error_cost, total_budget
    )
    pairs = _run(comparison, Executor.parse(executor, jobs), out)
    rows, notes = write_comparison(comparison.folder, pairs, typed_command(), sort, comparison.notes)
    _print(rows, notes, out)


def _run(comparison: "Comparison", executor: "Executor", out: Path) -> "Sequence[tuple[Job, Outcome]]":
    """Return every job with its outcome; Ctrl-C keeps finished jobs."""
    with _bar(len(comparison.jobs)) as progress:
        try:
            return comparison.run(executor, progress)
        except KeyboardInterrupt:
            print(f"interrupted; finished runs are kept in {out}: type the same command to continue", file=sys.stderr)
            raise typer.Exit(3) from None


@contextmanager
def _bar(total: int) -> "Iterator[Progress]":
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn

    from ._progress import Bar

    columns = (TextColumn("running {task.total} jobs"), BarColumn(), MofNCompleteColumn(), TextColumn("ETA"))
    with Bar(*columns, TimeRemainingColumn()) as bar:
        task = bar.add_task("", total=total)
        yield lambda done, of: bar.update(task, completed=done, total=of)


def _fitting(
    head: Sequence[str], cells: Sequence[Sequence[str]], width: int
) -> tuple[Sequence[str], Sequence[Sequence[str]]]:
    """Drop the bands, and then the less important columns, if the table is wider than the page."""
    head, cells = without_bands(head, cells, width)
    for name in ("us/row", "attributes/row", "in the last tenth"):
        if name in head and any(len(line) > width for line in written(head, cells, width)):
            j = list(head).index(name)
            head, cells = [*head[:j], *head[j + 1 :]], [[*row[:j], *row[j + 1 :]] for row in cells]
    return head, cells


def _print(rows: "Sequence[Row]", notes: Sequence[str], out: Path) -> None:
    from .._internal.escaping import printable
    from ..report import comparison_cells, comparison_headline

    width = get_terminal_size((160, 40)).columns
    for stream in dict.fromkeys(row.stream for row in rows):
        print(printable(stream))
        head, cells = _fitting(*comparison_cells([row for row in rows if row.stream == stream]), width)
        for line in written(head, cells, width):
            print(printable(line))
    print(f" {printable(' '.join(comparison_headline(rows)).strip())}")
    for note in notes:
        print(f"note: {printable(note)}")
    print(f"report: {out / 'report.html'}")
