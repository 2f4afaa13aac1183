"""Begin a run, resume one, finish one."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

from ..errors import ConfigError
from ..files import remove_leftovers
from ..outputs import Folder
from ..streams import DataError, Schema, Table, fingerprint, open_table
from .folder import check_free, check_room, check_unchanged, digest_of, rows_at_most
from .journal import Journal
from .lock import Lock
from .running import Run, Watcher
from .settings import Settings
from .summary import write_summary
from .timing import Timing

__all__ = ["begin", "resume"]

Publish: TypeAlias = Callable[[Folder], None]
"""What is made of a folder whose results are complete: the report."""


def begin(
    settings: Settings, path: Path, watcher: Watcher, publish: Publish, every: float = 5.0, kind: str = "run"
) -> bool:
    """Play a file into a new run folder; False where the watcher stopped it, to be resumed.

    A folder that holds a run is refused; that of a demo (`kind="demo"`) is replaced.
    """
    folder = Folder.claim(path, kind)
    check_room(path, rows_at_most(_table(settings), Path(settings.file)))
    with Lock(path):
        if kind == "demo":
            Journal(folder.subfolder("journal"), ()).remove()
            folder.clear()
        check_free(path)
        remove_leftovers(path)
        settings.write(folder.file("run.json"))
        return _continue(settings, folder, watcher, publish, every)


def resume(path: Path, watcher: Watcher, publish: Publish, every: float = 5.0) -> bool | None:
    """Go on where a run stopped, however it stopped; None where it was finished already."""
    folder = Folder.find(path)
    if folder is None or folder.kind not in ("run", "demo"):
        raise ConfigError(f"there is no run in {path}: begin one with keyhole run FILE --out DIR")
    Settings.read(path / "run.json")
    with Lock(path):
        settings = Settings.read(path / "run.json")
        if settings.status == "finished":
            return None
        table = _table(settings)
        check_unchanged(settings, table)
        check_room(path, rows_at_most(table, Path(settings.file)))
        remove_leftovers(path)
        now = fingerprint(settings.file, Schema.from_toml(settings.schema).encoding).to_dict()
        settings = replace(settings, fingerprint=now, status="running", played="")
        settings.write(folder.file("run.json"))
        return _continue(settings, folder, watcher, publish, every)


def _table(settings: Settings) -> Table:
    """The run's file as its schema sees it."""
    return open_table(settings.file, Schema.from_toml(settings.schema))


def _continue(settings: Settings, folder: Folder, watcher: Watcher, publish: Publish, every: float) -> bool:
    run = Run(folder, settings, _table(settings), watcher, every)
    timing = Timing.begin(folder.file("timing.json"), run.row)
    try:
        ended = run.go()
    except DataError:
        _note_stop(settings, run)
        raise
    finally:
        timing.end(run.row)
    if ended:
        _finish(settings, run, publish)
    return ended


def _note_stop(settings: Settings, run: Run) -> None:
    """The file has a fault: keep what tells that the rows before it are as they were."""
    played = digest_of(run.table, Schema.from_toml(settings.schema), run.journal.row)
    replace(settings, status="stopped", played=played).write(run.folder.file("run.json"))


def _finish(settings: Settings, run: Run, publish: Publish) -> None:
    """Results, summary, report; only then is it finished and the journal removed."""
    run.write_results()
    write_summary(run, settings)
    publish(run.folder)
    replace(settings, status="finished").write(run.folder.file("run.json"))
    run.journal.remove()
