"""`keyhole run`: play a file into a run folder."""

import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ._early_checks import require_algorithms, require_file
from ._text_tables import comma_separated, sentences, thousands, typed_command, written

if TYPE_CHECKING:
    from ..experiments import Frontier
    from ..runs import RunData, RunPlan, Settings
    from ._progress import Screen


def run(
    ctx: typer.Context,
    file: Annotated[Path | None, typer.Argument(help="CSV or Parquet, one row per instance.")] = None,
    target: Annotated[str | None, typer.Option(help="The column to predict.")] = None,
    k: Annotated[
        int | None, typer.Option("-k", "--k", help="Attributes (or panels) that may be bought per row.")
    ] = None,
    budget_per_row: Annotated[float | None, typer.Option(help="Money that may be spent per row.")] = None,
    error_cost: Annotated[float | None, typer.Option(help="What one unit of squared error costs, in money.")] = None,
    total_budget: Annotated[
        float | None, typer.Option(help="Money for all rows together, with --expected-rows.")
    ] = None,
    expected_rows: Annotated[int | None, typer.Option(help="For how many rows --total-budget must last.")] = None,
    k0: Annotated[int, typer.Option(help="Attributes that may be bought per row after the label.")] = 0,
    algorithm: Annotated[str, typer.Option(help="NAME or NAME[option=value,...]; see `algorithms`.")] = "thrifty",
    schema: Annotated[Path | None, typer.Option(help="Ranges and prices, as `diagnose` writes them.")] = None,
    prices: Annotated[Path | None, typer.Option(help="TOML with a price per attribute or panel.")] = None,
    free: Annotated[list[str] | None, typer.Option(help="Free columns, with commas; may be repeated.")] = None,
    ignore: Annotated[list[str] | None, typer.Option(help="A column to ignore; may be repeated.")] = None,
    numbers: Annotated[str, typer.Option(help="How its numbers are written, such as '1.234,56'.")] = "",
    encoding: Annotated[str, typer.Option(help="How its text is encoded, such as latin-1.")] = "",
    na: Annotated[list[str] | None, typer.Option(help="A word that means 'missing'; may be repeated.")] = None,
    out: Annotated[Path | None, typer.Option(help="The run folder; it must not hold a run yet.")] = None,
    past: Annotated[Path | None, typer.Option(help="A table of past rows to learn from first, for free.")] = None,
    model: Annotated[Path | None, typer.Option(help="Go on with this model.kh, of a plan or of another run.")] = None,
    resume: Annotated[Path | None, typer.Option(help="Continue the run in this folder.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of everything random.")] = 0,
    checkpoint_every: Annotated[float, typer.Option(min=0.0, help="Seconds between checkpoints.")] = 5.0,
) -> None:
    """Play a file row by row: buy, predict, see the label, learn. A resumed run equals an uninterrupted one.

    Example: keyhole run visits.csv --target cost -k 5 --out runs/visits

    Example: keyhole run visits-2026.csv --target cost -k 5 --past visits-2025.csv --out runs/2026

    Example: keyhole run visits-2026.csv --model runs/plan/model.kh --out runs/2026

    Example: keyhole run --resume runs/visits
    """
    from ..errors import ConfigError

    if resume is not None:
        if file is not None or out is not None:
            raise ConfigError("--resume DIR takes everything from the folder; omit FILE and --out")
        _resume(ctx, resume, checkpoint_every)
        return
    if file is None or out is None:
        raise ConfigError("give a file and an output folder: keyhole run FILE --target NAME -k K --out DIR")
    require_file(file)
    require_algorithms([algorithm])

    from ..runs import RunConfig, prepare

    asked = RunConfig(
        file, target, k, budget_per_row, k0, error_cost, total_budget, expected_rows, algorithm, schema, prices
    )
    asked = replace(asked, ignored=ignore or (), free=comma_separated(free), numbers=numbers, encoding=encoding)
    if model is not None:
        _refuse_algorithm(ctx, model)
    asked = replace(asked, na=na or (), past=past, model=model)
    plan = prepare(replace(asked, seed=seed, command=typed_command()))
    _suggest(plan.settings)
    play(plan, out, checkpoint_every)


def _refuse_algorithm(ctx: typer.Context, model: Path) -> None:
    """Refuse --algorithm and --seed, which a model already has."""
    from ..errors import ConfigError

    for name in ("algorithm", "seed"):
        source = ctx.get_parameter_source(name)
        if source is not None and source.name != "DEFAULT":
            raise ConfigError(f"{model} has its own {name}; omit --{name}")


def _suggest(settings: "Settings") -> None:
    """Suggest 'vaw' if k covers every attribute and nothing else limits the purchases."""
    from ..core.registry.catalogue import record

    k, limits = settings.options["k"], settings.limits
    chooses = not record(settings.learner["name"]).buys_all
    limited = limits.error_cost is not None or limits.budget_per_row < float("inf")
    if k == len(settings.learner["names"]) and chooses and not limited:
        print(f"note: -k {k} buys every attribute; 'vaw' is made for that", file=sys.stderr)


def _refuse_other_options(ctx: typer.Context, settings: "Settings") -> None:
    """Refuse options given with --resume that differ from those of the run."""
    from ..core.registry.plugins import import_algorithm
    from ..core.registry.spec import Spec
    from ..errors import ConfigError

    for name, had in settings.options.items():
        source = ctx.get_parameter_source(name)
        if source is None or source.name == "DEFAULT":
            continue
        given = ctx.params[name]
        if isinstance(given, Path):
            given = str(given.resolve())
        elif name == "algorithm":
            spec = Spec.parse(given)
            import_algorithm(spec.name)
            given = str(spec)
        elif name == "free":
            given = ",".join(comma_separated(given)) or None
        if (list(given) if isinstance(given, tuple) else given) != had:
            flag = "-k" if name == "k" else f"--{name.replace('_', '-')}"
            has = f"{flag} {had}" if had not in (None, "", []) else f"no {flag}"
            raise ConfigError(f"this run has {has}, not {given}; omit the option, or begin a new run")


def _resume(ctx: typer.Context, folder: Path, every: float) -> None:
    """Continue a run, or report that it is finished."""
    from .. import runs
    from ..report import write_report
    from ._progress import Screen

    _, settings = runs.find(folder)
    _refuse_other_options(ctx, settings)
    screen = Screen(str(settings.learner["name"]))
    _watched(screen, folder, lambda: runs.resume(folder, screen, write_report, every))


def play(plan: "RunPlan", folder: Path, every: float, kind: str = "run", frontier: "Frontier | None" = None) -> None:
    """Start a run and show a progress bar; exit with code 3 if interrupted. If a frontier is given, the report marks
    where this run lies on it.
    """
    from .. import runs
    from ..report import write_report
    from ._progress import Screen

    screen = Screen(str(plan.settings.learner["name"]), plan.table.rows)
    publish = partial(write_report, frontier=frontier)
    for text in plan.notes:
        screen.say(text, "note" if text.startswith("past rows") else "warning")
    _watched(screen, folder, lambda: runs.begin(plan, folder, screen, publish, every, kind))


def _watched(screen: "Screen", folder: Path, go: "Callable[[], RunData | bool | None]") -> None:
    resume = f"keyhole run --resume {quote(str(folder))}"
    try:
        with screen:
            ended = go()
    except KeyboardInterrupt:
        print(f"interrupted; continue with: {resume}")
        raise typer.Exit(3) from None
    except OSError as fault:
        print(f"keyhole: {fault}; mend that, then continue with: {resume}", file=sys.stderr)
        raise typer.Exit(3) from None
    if ended is True:
        print(f"{folder} is finished; its report is {folder / 'report.html'}")
    elif not ended:
        print(f"interrupted at row {thousands(screen.rows)}; continue with: {resume}")
        raise typer.Exit(3)
    else:
        print(f" {screen.title}   {screen.line}")
        _print_headline(ended.summary, folder)


def _print_headline(summary: "dict[str, Any]", folder: Path) -> None:
    """Print the table of a finished run and its baselines."""
    from .._internal.escaping import printable
    from ..report import headline, most_bought, random_sizes

    head, rows, _ = headline(summary)
    for line in written(head, rows, 79):
        print(f" {line}")
    print(" typical error: each row predicted before its label was seen")
    print(" in hindsight: weights fitted to all rows at once")
    if sizes := random_sizes(summary):
        print(f" {sizes}")
    if not summary["labelled"]:
        print(" warning: no row had a label: nothing was learnt, and the mse means nothing", file=sys.stderr)
    print(f" bought most: {printable(most_bought(summary))}")
    for line in sentences(summary["verdict"]):
        print(f" {printable(line)}")
    print(f" report: {folder / 'report.html'}")
