"""Beginning, resuming and finishing a run, and reading a finished one from its folder."""

import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from shlex import quote
from typing import Any, TypeAlias

import numpy as np

from .._internal.atomic_io import digest_of_file, read_json, write_atomically, write_json
from .._internal.output_folder import Folder
from ..core.serialization import from_bytes
from ..data.encoded_table import EncodedTable
from ..data.fingerprint import block_of, fingerprint
from ..data.streams import DataError, Fingerprint, Schema, Table, open_table
from ..errors import ConfigError, StateError
from ..estimation.moment_regression import Moments
from .baselines import StreamMoments, page_weight
from .journal import Journal
from .played_pages import pages
from .results import RunData, read_records
from .run_config import RunPlan, Settings, require_format
from .runner import START, Run, Watcher

__all__ = ["Timing", "begin", "check_unchanged", "digest_of_rows", "find", "reopen", "resume", "rows_at_most"]


def rows_at_most(table: Table, file: Path) -> int:
    """Return the number of rows, or an upper bound if it is unknown: a value and its comma take at least two bytes."""
    if table.rows is not None:
        return table.rows
    return file.stat().st_size // (2 * table.width)


def check_unchanged(settings: Settings, schema: Schema, table: Table, now: Fingerprint) -> None:
    """Check that the file has not changed since the run began; after a fault, only the rows already played count."""
    changes = Fingerprint.from_dict(settings.fingerprint).changes(now)
    if changes and not _was_mended(settings, schema, table):
        what = "; ".join(changes)
        raise ConfigError(f"{settings.file} changed since this run began: {what}; restore it, or begin a new run")


def _was_mended(settings: Settings, schema: Schema, table: Table) -> bool:
    """Return whether the run stopped at a fault in the file and all rows played before are unchanged."""
    if settings.status != "stopped":
        return False
    try:
        return digest_of_rows(table, schema, int(settings.played.split(":")[0])) == settings.played
    except DataError:
        return False


def digest_of_rows(table: Table, schema: Schema, rows: int) -> str:
    """Return a digest of the rows that a run has played: "ROWS:...". Nothing is read if no row was played."""
    return table.digest((*schema.names, *schema.price_columns), schema.target, rows) if rows else "0:"


class Timing:
    """The sessions of a run in `timing.json`: one per process that worked on it, including those that were killed."""

    def __init__(self, path: Path, sessions: list[dict[str, object]], row: int) -> None:
        self.path, self.sessions, self.row = path, sessions, row
        self._clock = time.perf_counter()

    @classmethod
    def begin(cls, path: Path, row: int, say: Callable[[str], None]) -> "Timing":
        """Begin a session after `row` rows; `say` is called if the earlier sessions cannot be read."""
        sessions: list[dict[str, object]] = []
        if row and path.exists():
            try:
                sessions = list(read_json(path)["sessions"])  # type: ignore[call-overload]
            except (StateError, KeyError, TypeError):
                say(f"{path} was damaged: the times of earlier sessions are lost, and nothing else")
        timing = cls(path, [*sessions, {"began": _now(), "first_row": row + 1}], row)
        timing._write()
        return timing

    def end(self, row: int) -> None:
        """End the session after `row` rows."""
        seconds = time.perf_counter() - self._clock
        speed = (row - self.row) / max(seconds, 1e-9)
        self.sessions[-1] |= {"ended": _now(), "last_row": row, "seconds": seconds, "rows_per_second": speed}
        self._write()

    def _write(self) -> None:
        write_json(self.path, {"sessions": self.sessions})


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


Publish: TypeAlias = Callable[[Folder, RunData], None]
"""A function that publishes a folder with complete results: it writes the report."""

# A generous estimate of the bytes per row in the journal and the results together, and a reserve.
_BYTES_PER_ROW, _SPARE = 200, 20_000_000
RESULTS = ("rounds.parquet", "ledger.parquet", "model.kh", "summary.json")


def begin(
    plan: RunPlan, path: Path, watcher: Watcher, publish: Publish, every: float = 5.0, kind: str = "run"
) -> RunData | None:
    """Play a file into a new run folder; return None if the watcher stopped it, to be resumed later.

    A folder that holds a run is refused; that of a demo (`kind="demo"`) is replaced. The fingerprint of the file is
    computed while the file is played.
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
        run = Run(folder, settings, plan.schema, plan.table, watcher, every, plan.unplayed)
        return _continue(run, publish, coming)


def find(path: Path) -> tuple[Folder, Settings]:
    """Return the run in a folder; a `ConfigError` if there is none, or if the results of a finished one are damaged."""
    folder = Folder.find(path)
    if folder is not None and folder.kind == "plan":
        raise ConfigError(f"{path} holds a plan, whose report is {path / 'report.html'}; give the folder of a run")
    if folder is None or folder.kind not in ("run", "demo"):
        raise ConfigError(f"there is no run in {path}: begin one with keyhole run FILE --out DIR")
    settings = Settings.read(path / "run.json")
    for name, digest in settings.results.items():
        if not (path / name).is_file() or digest_of_file(path / name) != digest:
            what = f"{path / name} is {'damaged' if (path / name).is_file() else 'gone'}"
            raise ConfigError(f"{what}; the run's other results are intact; {settings.how_to_repeat(path)}")
    return folder, settings


def resume(path: Path, watcher: Watcher, publish: Publish, every: float = 5.0) -> RunData | bool | None:
    """Continue an interrupted run from its last checkpoint; return True if it was already finished."""
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
        return _continue(Run(folder, settings, schema, table, watcher, every), publish, None)


def _continue(run: Run, publish: Publish, coming: "Future[Fingerprint] | None") -> RunData | None:
    """Continue playing; `coming` is the fingerprint of the file if it is still being computed."""
    timing = Timing.begin(run.folder.file("timing.json"), run.row, run.watcher.say)
    try:
        ended = run.go()
    except DataError:
        played = digest_of_rows(run.table, run.schema, run.journal.row)
        _note(run, _fingerprint(run.settings, coming), status="stopped", played=played)
        raise
    finally:
        timing.end(run.row)
    fingerprint = _fingerprint(run.settings, coming)
    if coming is not None:
        _note(run, fingerprint)
    return _finish(run, fingerprint, publish) if ended else None


def _fingerprint(settings: Settings, coming: "Future[Fingerprint] | None") -> dict[str, object]:
    """Return the fingerprint that was computed in the background, or that of the settings."""
    return settings.fingerprint if coming is None else coming.result().to_dict()


def _note(run: Run, fingerprint: dict[str, object], **changes: Any) -> None:
    """Write the settings of a run with these changes."""
    replace(run.settings, fingerprint=fingerprint, **changes).write(run.folder.file("run.json"))


def _finish(run: Run, fingerprint: dict[str, object], publish: Publish) -> RunData:
    """Write results, summary and report; then mark the run as finished and remove the journal."""
    data = run.write_results()
    publish(run.folder, data)
    _note(run, fingerprint, status="finished", results={n: digest_of_file(run.folder.path / n) for n in RESULTS})
    run.journal.remove()
    return data


def _check_room(folder: Folder, table: Table, settings: Settings) -> None:
    folder.check_room(rows_at_most(table, Path(settings.file)) * _BYTES_PER_ROW + _SPARE)


def _check_free(path: Path) -> None:
    """Check that the folder holds no run yet."""
    if (path / "run.json").exists():
        done = Settings.read(path / "run.json").status == "finished"
        fix = "choose another --out" if done else f"continue it with: keyhole run --resume {quote(str(path))}"
        raise ConfigError(f"{path} holds {'a finished' if done else 'an unfinished'} run already; {fix}")


_WIDEST = 1000


def reopen(path: Path) -> tuple[Folder, RunData, str]:
    """Return a finished run for its report: the folder, the data, and what could not be read ("" if everything could).

    Values in hindsight need the file that was played; without it, the report shows only what the run measured.

    Raises
    ------
    ConfigError
        If there is no run, or if it is not finished.
    """
    folder, settings = find(path)
    if settings.status != "finished":
        raise ConfigError(
            f"the run in {path} is not finished; continue it with: keyhole run --resume {quote(str(path))}"
        )
    schema = Schema.read(path / "schema.toml")
    summary = read_json(path / "summary.json")
    require_format(path / "summary.json", summary)
    learner = from_bytes((path / "model.kh").read_bytes())
    moments, missing = None, ""
    try:
        moments = _moments(schema, settings.file)
    except DataError as fault:
        missing = f"{fault}: nothing in hindsight is drawn"
    data = read_records(path, int(summary["rows"]), schema, learner, moments)  # type: ignore[call-overload]
    return folder, replace(data, summary=dict(summary)), missing


def _moments(schema: Schema, file: str) -> Moments | None:
    """Return the moments of all rows of the file, as the run computed them."""
    if len(schema.names) > _WIDEST:
        return None
    table = EncodedTable(open_table(file, encoding=schema.encoding), schema)
    sums = StreamMoments(len(schema.names))
    for batch in pages(table, schema.names, schema.target, 0):
        rows = sums.page(batch.X, np.asarray(batch.y)) if page_weight(batch.first) else None
        if rows is not None:
            sums.add(rows, page_weight(batch.first))
    return None if sums.empty else sums.moments
