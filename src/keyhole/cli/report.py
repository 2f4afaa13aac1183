"""`keyhole report`: rewrite the report of a finished run."""

from pathlib import Path
from typing import Annotated

import typer


def report(
    folder: Annotated[Path, typer.Argument(help="The folder of a finished run.")],
) -> None:
    """Rewrite the report of a finished run, from its results and the file that was played; nothing else changes.

    Example: keyhole report runs/visits
    """
    from .._internal.escaping import printable
    from ..report import write_report
    from ..runs import reopen

    place, data, missing = reopen(folder)
    with place.lock():
        write_report(place, data)
    if missing:
        print(printable(f" warning: {missing}"))
    print(f" report: {folder / 'report.html'}")
