"""`keyhole store`: prove a store right, carry it elsewhere, bring it to this version."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from ..store.database import Database

app = typer.Typer(
    help="Look after a store: check, export, import, upgrade.", no_args_is_help=True, rich_markup_mode=None
)
_Url = Annotated[str, typer.Argument(help="sqlite:///file.db or postgresql://user@host/database")]


@app.command()
def check(url: _Url) -> None:
    """Check every checksum, and replay every learner from its first event: it must come to the same bytes.

    Example: keyhole store check sqlite:///ward.db
    """
    from ..errors import StateError
    from ..store.verify import check as verdicts

    bad = 0
    for verdict in verdicts(_existing(url)):
        since = f" (replayed from event {verdict.replayed_from})" if verdict.replayed_from > 1 else ""
        print(
            f" {verdict.name}: {verdict.events} events{since}: {'as recorded' if verdict.good else 'NOT as recorded'}"
        )
        for fault in verdict.faults:
            print(f"   {fault}")
        bad += not verdict.good
    if bad:
        raise StateError(f"{bad} learner(s) are not as recorded; restore the store from a backup")
    print(" the store is sound")


@app.command()
def export(url: _Url, out: Annotated[Path, typer.Option(help="A new folder.")]) -> None:
    """Write all learners and events as Parquet files; tokens stay.

    Example: keyhole store export sqlite:///ward.db --out backup
    """
    from ..store.export_import import export as carry

    print(f" {carry(_existing(url), out)} events in {out}")


@app.command(name="import")
def import_(url: _Url, folder: Annotated[Path, typer.Argument(help="What export wrote.")]) -> None:
    """Read an export into a store; every checksum is checked on the way.

    Example: keyhole store import postgresql://me@host/ward backup
    """
    from ..store import open_store
    from ..store.export_import import import_ as carry

    with open_store(url) as store:
        print(f" {carry(store.database, folder)} events came in")


@app.command()
def upgrade(
    url: _Url, dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would be done.")] = False
) -> None:
    """Bring a store to this version's schema and arithmetic, in one transaction a step; make a backup before.

    Example: keyhole store upgrade sqlite:///ward.db --dry-run
    """
    from ..store import upgrading

    database = _existing(url)
    done = upgrading.plan(database) if dry_run else upgrading.upgrade(database)
    for line in done:
        print(f" {'would do' if dry_run else 'done'}: {line}")
    if not done:
        print(" nothing to do: the store is this version's")


def _existing(url: str) -> "Database":
    """The database of a store that is there; looking after nothing would only make an empty one."""
    from ..errors import ConfigError
    from ..store.database import Database

    database = Database(url)
    if database.sqlite and not Path(str(database.url.database)).is_file():
        raise ConfigError(f"there is no store {database.shown}; kh.open_store or keyhole serve makes one")
    database.open()
    return database
