"""`keyhole run`: a file, played into a run folder."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from ..runs import Settings


def run(
    file: Annotated[Path | None, typer.Argument(help="CSV or Parquet, one row per instance.")] = None,
    target: Annotated[str | None, typer.Option(help="The column to predict.")] = None,
    budget: Annotated[int | None, typer.Option(help="Attributes that may be bought per row.")] = None,
    spend: Annotated[float | None, typer.Option(help="Money that may be spent per row.")] = None,
    extra: Annotated[int, typer.Option(help="Attributes that may be bought per row after the label.")] = 0,
    algorithm: Annotated[str | None, typer.Option(help="NAME or NAME[option=value,...]; see `algorithms`.")] = None,
    schema: Annotated[Path | None, typer.Option(help="Ranges and prices, as `diagnose` writes them.")] = None,
    prices: Annotated[Path | None, typer.Option(help="TOML with a price per attribute.")] = None,
    ignore: Annotated[list[str] | None, typer.Option(help="A column to leave alone; may be repeated.")] = None,
    out: Annotated[Path | None, typer.Option(help="The run folder; it must not hold a run yet.")] = None,
    resume: Annotated[Path | None, typer.Option(help="Continue the run in this folder.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of everything random.")] = 0,
    checkpoint_every: Annotated[float, typer.Option(min=0.0, help="Seconds between checkpoints.")] = 5.0,
) -> None:
    """Play a file row by row: buy, predict, see the label, learn. Killed and resumed equals uninterrupted.

    Example: keyhole run visits.csv --target cost --budget 5 --out runs/visits

    Example: keyhole run --resume runs/visits
    """
    from ..errors import ConfigError
    from ..runs import Request, Settings, prepare

    if resume is not None:
        if file is not None or out is not None:
            raise ConfigError("--resume DIR takes everything from the folder; leave FILE and --out away")
        conduct(Settings.read(resume / "run.json"), resume, checkpoint_every, resumed=True)
        return
    if file is None or out is None:
        raise ConfigError("say which file and where to: keyhole run FILE --target NAME --budget K --out DIR")
    asked = Request(file, target, budget, spend, extra, algorithm, schema, prices, ignore or (), seed, _command())
    settings = prepare(asked)
    _suggest(settings)
    conduct(settings, out, checkpoint_every, resumed=False)


def _suggest(settings: "Settings") -> None:
    """A budget of everything is no budget."""
    from ..catalogue import algorithms

    names = settings.learner.get("names")
    chooses = {a.name for a in algorithms() if a.setting != "d of d"}
    if isinstance(names, list) and settings.learner["k"] == len(names) and settings.learner["name"] in chooses:
        print(f"note: --budget {len(names)} buys every attribute; 'vaw' is made for that", file=sys.stderr)


def conduct(settings: "Settings", folder: Path, every: float, resumed: bool, kind: str = "run") -> None:
    """Begin or resume, with a bar; exits with 3 where it was interrupted."""
    from .. import runs
    from ..report import write_report
    from ..streams import Schema, open_table
    from ._watching import Screen, thousands

    schema = Schema.from_toml(settings.schema)
    total = open_table(settings.file, schema).rows if settings.status != "finished" else None
    screen = Screen(str(settings.learner["name"]), total, len(schema.names), float(schema.prices.sum()))
    try:
        with screen:
            if resumed:
                ended = runs.resume(folder, screen, write_report, every)
            else:
                ended = runs.begin(settings, folder, screen, write_report, every, kind)
    except KeyboardInterrupt:
        print(f"interrupted; continue with: keyhole run --resume {folder}")
        raise typer.Exit(3) from None
    except OSError as fault:
        print(f"keyhole: {fault}; mend that, then continue with: keyhole run --resume {folder}", file=sys.stderr)
        raise typer.Exit(3) from None
    if ended is None:
        print(f"{folder} is finished; its report is {folder / 'report.html'}")
    elif not ended:
        print(f"interrupted at row {thousands(screen.rows)}; continue with: keyhole run --resume {folder}")
        raise typer.Exit(3)
    else:
        print(f" {screen.title}   {screen.line}")
        print_headline(folder)


def print_headline(folder: Path) -> None:
    """The table of a finished run, beside what it is compared with."""
    import json

    from ..report import headline, most_bought

    summary = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
    head, rows, _ = headline(summary)
    width = max(len(row[0]) for row in rows)
    for row in (head, *rows):
        print(f" {row[0]:{width}}  {row[1]:>9}  {row[2]:>14}  {row[3]:>10}")
    if not summary["labelled"]:
        print(" warning: no row had a label: nothing was learnt, and the mse means nothing", file=sys.stderr)
    print(f" bought most: {most_bought(summary)}")
    print(f" report: {folder / 'report.html'}")


def _command() -> str:
    """What was typed."""
    import shlex

    return shlex.join(["keyhole", *sys.argv[1:]])
