"""The commands, put together."""

import typer

from .demo import demo
from .diagnose import diagnose

app = typer.Typer(
    name="keyhole",
    help="Online sparse linear regression when every attribute costs something.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.command()(demo)
app.command()(diagnose)


@app.callback()
def _keyhole() -> None:
    """Several commands, also while there is only one."""
