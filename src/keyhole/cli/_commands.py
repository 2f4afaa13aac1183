"""The application that combines all commands."""

import os
from typing import Annotated

import typer

from .algorithms import algorithms
from .bounds import bounds
from .compare import compare
from .demo import demo
from .diagnose import diagnose
from .frontier import frontier
from .plan import plan
from .predict import predict
from .report import report
from .run import run
from .serve import serve
from .store import app as store
from .study import study
from .token import app as token

app = typer.Typer(
    name="keyhole",
    help="Online sparse linear regression when every attribute costs something.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def _version(asked: bool) -> None:
    if asked:
        from .. import __version__

        print(f"keyhole {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
    large_files: Annotated[
        bool, typer.Option("--large-files", help="Read tables of any width and compressed files of any expansion.")
    ] = False,
) -> None:
    """Online sparse linear regression when every attribute costs something."""
    if large_files:
        os.environ["KEYHOLE_LARGE_FILES"] = "1"  # also for child processes


for command in (demo, run, plan, predict, frontier, report, compare, study, bounds, diagnose, algorithms):
    app.command()(command)
app.command()(serve)
app.add_typer(store, name="store")
app.add_typer(token, name="token")
