"""`keyhole store`: verify, export and import a store."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from ..store.database import Database

app = typer.Typer(help="Maintain a store: check, export, import.", no_args_is_help=True, rich_markup_mode=None)
_Url = Annotated[str, typer.Argument(help="sqlite:///file.db or postgresql://user@host/database")]


@app.command()
def check(url: _Url) -> None:
    """Verify every checksum, and replay every learner from its first event: the result must be the same bytes.

    For a damaged learner, print the first damaged event and how many events can be saved.

    Example: keyhole store check sqlite:///ward.db
    """
    from ..errors import StateError
    from ..store.models import DamagedStore

    try:
        bad, damaged = _print_verdicts(url)
    except DamagedStore as fault:
        what = str(fault).partition("; run keyhole store check")[0]
        raise StateError(f"{what}; no learner can be read: restore the store from a backup") from None
    if bad:
        raise StateError(f"{bad} learner(s) do not match their recorded events; restore the store from a backup")
    if damaged:
        raise StateError("the database is damaged; restore the store from a backup, or export and import it")
    print(" the store is sound")


def _print_verdicts(url: str) -> tuple[int, bool]:
    """Return how many learners are damaged, and whether anything is."""
    from .._internal.escaping import printable
    from ..store.verify import check as verdicts

    bad, damaged = 0, False
    for verdict in verdicts(_existing(url)):
        events = "" if verdict.id is None else f" {verdict.events} events:"
        print(printable(f" {verdict.name}:{events} {'as recorded' if verdict.good else 'NOT as recorded'}"))
        for fault in verdict.faults:
            print(f"   {printable(fault)}".replace("\n", "\\n"))
        if not verdict.good and verdict.sound:
            print(f"   the first {verdict.sound} events are sound and can be saved: keyhole store export --sound")
        bad += not verdict.good and verdict.id is not None
        damaged = damaged or not verdict.good
    return bad, damaged


@app.command()
def export(
    url: _Url,
    out: Annotated[Path, typer.Option(help="A new folder.")],
    sound: Annotated[
        bool, typer.Option("--sound", help="Of a damaged store: the events before the first fault.")
    ] = False,
) -> None:
    """Write all learners and events as Parquet files; tokens are not exported.

    Example: keyhole store export sqlite:///ward.db --out backup
    """
    from ..store.export_import import export_store

    print(f" {export_store(_existing(url), out, sound)} events in {out}")


@app.command(name="import")
def import_(url: _Url, folder: Annotated[Path, typer.Argument(help="What export wrote.")]) -> None:
    """Read an export into a store; every checksum is verified.

    Example: keyhole store import postgresql://me@host/ward backup
    """
    from ..errors import ConfigError
    from ..store import open_store
    from ..store.export_import import import_store

    if not (folder / "store.json").is_file():  # known before the store is created
        raise ConfigError(f"{folder} is not what keyhole store export wrote: it has no file store.json")
    with open_store(url) as store:
        print(f" {import_store(store.database, folder)} events came in")


def _existing(url: str) -> "Database":
    """Return the database of an existing store; opening a missing one would create it."""
    from ..errors import ConfigError, StateError
    from ..store.database import Database

    database = Database(url)
    if database.path is not None and not database.path.is_file():
        raise ConfigError(f"there is no store {database.address}; kh.open_store or keyhole serve creates one")
    if database.path is not None and not database.path.stat().st_size:  # SQLite takes it for a new database
        raise StateError(f"the store {database.address} is an empty file; restore the store from a backup")
    database.open()
    return database
