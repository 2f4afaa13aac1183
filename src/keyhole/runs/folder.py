"""The folder of a run before the first row: may it be written, is it free, is the file still the same."""

import os
import shutil
from pathlib import Path

from ..errors import ConfigError
from ..streams import DataError, Fingerprint, Schema, Table, fingerprint
from .settings import Settings

__all__ = ["check_free", "check_room", "check_unchanged", "digest_of", "rows_at_most"]

# A generous guess at what a round takes on disk, in the journal and in the results together.
_BYTES_PER_ROW = 200
_SPARE = 20_000_000


def check_room(folder: Path, rows: int) -> None:
    """The folder can be written and has room for the records of that many rows."""
    try:
        probe = folder / f".probe.{os.getpid()}"
        probe.write_bytes(b"keyhole")
        probe.unlink()
    except OSError as fault:
        raise ConfigError(f"{folder} cannot be written ({fault.strerror}); choose another folder") from None
    needed, free = rows * _BYTES_PER_ROW + _SPARE, shutil.disk_usage(folder).free
    if free < needed:
        text = f"{folder} may need {needed / 1e6:.0f} MB and its disk has {free / 1e6:.0f} MB free"
        raise ConfigError(f"{text}; make room or choose another folder")


def rows_at_most(table: Table, file: Path) -> int:
    """How many rows there are, or, where that is not known, no fewer: a value and its comma take two bytes."""
    if table.rows is not None:
        return table.rows
    return file.stat().st_size // (2 * table.width)


def check_free(folder: Path) -> None:
    """No run lives in this folder yet."""
    if (folder / "run.json").exists():
        done = Settings.read(folder / "run.json").status == "finished"
        fix = "choose another --out" if done else f"continue it with: keyhole run --resume {folder}"
        raise ConfigError(f"{folder} holds {'a finished' if done else 'an unfinished'} run already; {fix}")


def check_unchanged(settings: Settings, table: Table) -> None:
    """The file is what it was when the run began; after a stop at a fault it may differ beyond what was played."""
    changes = Fingerprint.from_dict(settings.fingerprint).changes(
        fingerprint(settings.file, Schema.from_toml(settings.schema).encoding)
    )
    if changes and not _was_mended(settings, table):
        what = "; ".join(changes)
        raise ConfigError(f"{settings.file} changed since this run began: {what}; restore it, or begin a new run")


def _was_mended(settings: Settings, table: Table) -> bool:
    """Whether the run stopped at a fault in the file and all rows played before are as they were."""
    if settings.status != "stopped":
        return False
    try:
        return (
            digest_of(table, Schema.from_toml(settings.schema), int(settings.played.split(":")[0])) == settings.played
        )
    except DataError:
        return False


def digest_of(table: Table, schema: Schema, rows: int) -> str:
    """A digest of what a run has played: "ROWS:...". Nothing is read where nothing was played."""
    return table.digest(schema.names, schema.target, rows) if rows else "0:"
