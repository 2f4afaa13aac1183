"""Begin a run, resume one, finish one."""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

from .._internal.atomic_io import digest_of_file, write_atomically
from .._internal.output_folder import Folder
from ..data.encoded_table import EncodedTable
from ..data.fingerprint import block_of, fingerprint
from ..data.streams import DataError, Fingerprint, Schema, Table, open_table
from ..errors import ConfigError
from .input_check import check_unchanged, digest_of_rows, rows_at_most
from .journal import Journal
from .results import RunData
from .run_config import RunPlan
from .run_settings import Settings
from .runner import START, Run, Watcher
from .summary import write_summary
from .timing import Timing

__all__ = ["begin", "find", "resume"]

Publish: TypeAlias = Callable[[Folder, RunData], None]
"""What is made of a folder whose results are complete: the report."""

# A generous guess at what a round takes on disk, in the journal and in the results together; and some more.
_BYTES_PER_ROW, _SPARE = 200, 20_000_000
RESULTS = ("rounds.parquet", "ledger.parquet", "model.kh", "summary.json")


def begin(
    plan: RunPlan, path: Path, watcher: Watcher, publish: Publish, every: float = 5.0, kind: str = "run"
) -> RunData | None:
    """Play a file into a new run folder; None where the watcher stopped it, to be resumed.

    A folder that holds a run is refused; that of a demo (`kind="demo"`) is replaced. The file's fingerprint is taken
    while it is played.
    """
    folder = Folder.claim(path, kind)
    _check_room(folder, plan.table, plan.settings)
    with folder.lock(), ThreadPoolExecutor(1) as pool:
        if kind == "demo":
            Journal(folder.subfolder("journal"), ()).remove()
            folder.clear()
        _check_free(path)
        file, columns = plan.settings.file, plan.table.table.names
        size = Path(file).stat().st_size
        unread = Fingerprint(size, columns, block_of(size), ())
        settings = replace(plan.settings, fingerprint=unread.to_dict())
        write_atomically(folder.file("schema.toml"), plan.schema.to_toml().encode())
        if plan.start:
            write_atomically(folder.file(START), plan.start)
        settings.write(folder.file("run.json"))
        coming = pool.submit(fingerprint, file, columns)
        return _continue(settings, plan.schema, plan.table, folder, watcher, publish, every, coming)


def find(path: Path) -> tuple[Folder, Settings]:
    """The run in a folder; a `ConfigError` where there is none, or where a finished one is damaged."""
    folder = Folder.find(path)
    if folder is None or folder.kind not in ("run", "demo"):
        raise ConfigError(f"there is no run in {path}: begin one with keyhole run FILE --out DIR")
    settings = Settings.read(path / "run.json")
    for name, digest in settings.results.items():
        if not (path / name).is_file() or digest_of_file(path / name) != digest:
            what = f"{path / name} is {'damaged' if (path / name).is_file() else 'gone'}"
            raise ConfigError(f"{what}; the run's other results are whole: do it again with: {settings.command}")
    return folder, settings


def resume(path: Path, watcher: Watcher, publish: Publish, every: float = 5.0) -> RunData | bool | None:
    """Go on where a run stopped, however it stopped; True where it was finished already."""
    folder, _ = find(path)
    with folder.lock():
        settings = Settings.read(path / "run.json")
        if settings.status == "finished":
            return True
        schema = Schema.read(path / "schema.toml")
        file = open_table(settings.file, encoding=schema.encoding)
        now = fingerprint(settings.file, file.names, watcher.look)
        table = EncodedTable(file, schema)
        check_unchanged(settings, schema, table, now)
        _check_room(folder, table, settings)
        settings = replace(settings, fingerprint=now.to_dict(), status="running", played="")
        settings.write(folder.file("run.json"))
        return _continue(settings, schema, table, folder, watcher, publish, every, None)


def _continue(
    settings: Settings,
    schema: Schema,
    table: Table,
    folder: Folder,
    watcher: Watcher,
    publish: Publish,
    every: float,
    coming: "Future[Fingerprint] | None",
) -> RunData | None:
    """Play on; `coming` is the file's fingerprint, where that is still being taken."""
    run = Run(folder, settings, schema, table, watcher, every)
    timing = Timing.begin(folder.file("timing.json"), run.row, watcher.say)
    try:
        ended = run.go()
    except DataError:
        _note_stop(settings, run, coming)
        raise
    finally:
        timing.end(run.row)
    settings = _fingerprinted(settings, folder, coming)
    return _finish(settings, run, publish) if ended else None


def _fingerprinted(settings: Settings, folder: Folder, coming: "Future[Fingerprint] | None") -> Settings:
    """The settings with the fingerprint that was taken meanwhile."""
    if coming is None:
        return settings
    settings = replace(settings, fingerprint=coming.result().to_dict())
    settings.write(folder.file("run.json"))
    return settings


def _note_stop(settings: Settings, run: Run, coming: "Future[Fingerprint] | None") -> None:
    """The file has a fault: keep what tells that the rows before it are as they were."""
    settings = _fingerprinted(settings, run.folder, coming)
    played = digest_of_rows(run.table, run.scaling.schema, run.journal.row)
    replace(settings, status="stopped", played=played).write(run.folder.file("run.json"))


def _finish(settings: Settings, run: Run, publish: Publish) -> RunData:
    """Results, summary, report; only when all that is safely on disk is it finished and the journal removed."""
    data = run.write_results()
    write_summary(run, settings, data)
    publish(run.folder, data)
    digests = {name: digest_of_file(run.folder.path / name) for name in RESULTS}
    replace(settings, status="finished", results=digests).write(run.folder.file("run.json"))
    run.journal.remove()
    return data


def _check_room(folder: Folder, table: Table, settings: Settings) -> None:
    folder.check_room(rows_at_most(table, Path(settings.file)) * _BYTES_PER_ROW + _SPARE)


def _check_free(path: Path) -> None:
    """No run lives in this folder yet."""
    if (path / "run.json").exists():
        done = Settings.read(path / "run.json").status == "finished"
        fix = "choose another --out" if done else f"continue it with: keyhole run --resume {path}"
        raise ConfigError(f"{path} holds {'a finished' if done else 'an unfinished'} run already; {fix}")
