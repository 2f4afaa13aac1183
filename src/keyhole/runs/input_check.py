"""Is the file of a run still what it was when the run began."""

from pathlib import Path

from ..data.streams import DataError, Fingerprint, Schema, Table
from ..errors import ConfigError
from .run_settings import Settings

__all__ = ["check_unchanged", "digest_of_rows", "rows_at_most"]


def rows_at_most(table: Table, file: Path) -> int:
    """How many rows there are, or, where that is not known, no fewer: a value and its comma take two bytes."""
    if table.rows is not None:
        return table.rows
    return file.stat().st_size // (2 * table.width)


def check_unchanged(settings: Settings, schema: Schema, table: Table, now: Fingerprint) -> None:
    """The file is what it was when the run began; after a stop at a fault it may differ beyond what was played."""
    changes = Fingerprint.from_dict(settings.fingerprint).changes(now)
    if changes and not _was_mended(settings, schema, table):
        what = "; ".join(changes)
        raise ConfigError(f"{settings.file} changed since this run began: {what}; restore it, or begin a new run")


def _was_mended(settings: Settings, schema: Schema, table: Table) -> bool:
    """Whether the run stopped at a fault in the file and all rows played before are as they were."""
    if settings.status != "stopped":
        return False
    try:
        return digest_of_rows(table, schema, int(settings.played.split(":")[0])) == settings.played
    except DataError:
        return False


def digest_of_rows(table: Table, schema: Schema, rows: int) -> str:
    """A digest of what a run has played: "ROWS:...". Nothing is read where nothing was played."""
    return table.digest(schema.names, schema.target, rows) if rows else "0:"
