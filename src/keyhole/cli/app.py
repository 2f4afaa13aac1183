"""The commands, put together."""

import typer

from .algorithms import algorithms
from .bounds import bounds
from .compare import compare
from .demo import demo
from .diagnose import diagnose
from .predict import predict
from .run import run
from .serve import serve
from .store import app as store
from .token import app as token
from .warm import warm

app = typer.Typer(
    name="keyhole",
    help="Online sparse linear regression when every attribute costs something.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
for command in (demo, run, predict, compare, bounds, diagnose, algorithms):
    app.command()(command)
app.command()(serve)
app.command()(warm)
app.add_typer(store, name="store")
app.add_typer(token, name="token")
