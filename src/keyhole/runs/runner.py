"""Playing a file into a run folder, page by page, with periodic checkpoints."""

import time
import warnings
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from typing import Protocol

from .._internal.atomic_io import digest, write_atomically
from .._internal.output_folder import Folder
from .._internal.typing import Floats
from ..core.introspection import reasons
from ..core.learner import Learner
from ..core.registry.catalogue import from_config
from ..core.round import Alarm
from ..core.serialization import from_bytes, to_bytes
from ..data.learner_scaling import Scaling
from ..data.streams import Batch, DataError, Schema, Table
from ..errors import KeyholeWarning, ProtocolError, StateError
from ..simulation import scored, with_center
from .baselines import Baselines
from .journal import Journal, ledger_of, rounds_of
from .results import RunData
from .run_config import Settings
from .stream_blocks import RunPage, page_start, pages
from .totals import Totals

__all__ = ["START", "Run", "Watcher"]

START = "start.kh"

# The maximum number of rows whose records are held in memory.
_HELD = 1 << 18
# Pages to read ahead, because files are read in bursts.
_AHEAD = 4


class Watcher(Protocol):
    """An observer of a run: it receives the progress and may request a stop."""

    def tick(self, rows: int, totals: Totals) -> None:
        """Report that `rows` rows have been played; `totals` may lag by a page or two."""

    def say(self, text: str) -> None:
        """Show a message to the user."""

    def look(self, read: int, size: int) -> None:
        """Report that `read` of the `size` bytes of the file have been examined, before the first row."""

    def wants_to_stop(self) -> bool:
        """Return whether the run should stop now, to be resumed later."""


class _Stop(Exception):
    """Raised to leave a page between two calls of the learner."""


class Run:
    """A run in its folder, which begins or continues from the last checkpoint."""

    def __init__(
        self, folder: Folder, settings: Settings, schema: Schema, table: Table, watcher: Watcher, every: float
    ) -> None:
        self.folder, self.table, self.watcher, self.every = folder, table, watcher, every
        self.scaling = Scaling(schema, settings.scaled, settings.clip)
        self.learner = _starting(folder, settings)
        self.totals = Totals(schema, settings.clip, informed=bool(settings.start))
        self.baselines = Baselines(schema.catalog, settings.limits, self.learner.seed, schema.label.stated_center)
        self.journal = Journal(folder.subfolder("journal"), schema.names)
        self._states = {"totals": self.totals, "baselines": self.baselines}
        self.row = 0
        if found := self.journal.restore(self._states):
            self.row, self.learner = found
        self._saved = (self.row, time.monotonic(), 0.0)
        self._unwritten: Future[None] | None = None

    def go(self) -> bool:
        """Play to the end of the file; return False if the watcher stopped it. All records are written either way."""
        with ThreadPoolExecutor(1) as self._writer, warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", KeyholeWarning)
            ended = all(self._play(raw, caught) for raw in self._pages())
            self._checkpoint()
            if ended:
                self.learner._on_stream_end()
                self._note(_texts(caught))
        return ended

    def write_results(self) -> RunData:
        """Write rounds.parquet, ledger.parquet and model.kh from the journal; return the data for the report."""
        data = RunData(self.row, self.scaling.schema.names)
        for kind in ("rounds", "ledger"):
            self.journal.assemble(kind, self.folder.file(f"{kind}.parquet"), data.see)
        scaling = replace(self.scaling, decimals=data.decimals, seen=self.totals.clips.extremes)
        write_atomically(self.folder.file("model.kh"), to_bytes(self.learner, scaling.to_note()))
        data.schema, data.moments, data.reasons = self.scaling.schema, self.baselines.moments, reasons(self.learner)
        return data

    def _pages(self) -> Iterator[Batch]:
        """Yield the remaining pages; the next pages are read while one is played."""
        schema = self.scaling.schema
        coming = pages(self.table, schema.names, schema.target, page_start(self.row))
        with ThreadPoolExecutor(1) as pool:
            ahead = deque(pool.submit(next, coming, None) for _ in range(_AHEAD))
            while raw := self._wait_for(ahead.popleft()):
                ahead.append(pool.submit(next, coming, None))
                yield raw

    def _wait_for(self, ahead: "Future[Batch | None]") -> Batch | None:
        """Return the page that is being read; if reading fails, write a checkpoint of the rows before it."""
        try:
            return ahead.result()
        except DataError:
            self._checkpoint()
            raise

    def _play(self, raw: Batch, caught: list[warnings.WarningMessage]) -> bool:
        """Play one page; return False if it was left before its end."""
        if raw.first + raw.y.size <= self.row:
            return True  # the short last page, played and recorded before
        page = RunPage(raw, self.scaling, self.row - raw.first, self.totals.catalog.free)
        try:
            page.play(self.learner, True, self._tick)
        except _Stop:
            pass
        except ProtocolError as fault:
            raise DataError(f"{self.table.name}, {fault}", row=page.first + page.played + 1) from None
        self._write_down(page, caught)
        self.watcher.tick(self.row, self.totals)
        if page.complete and self._is_due():
            self._checkpoint()
        return page.complete and not self.watcher.wants_to_stop()

    def _tick(self, rows: int) -> None:
        self.watcher.tick(rows, self.totals)
        if self.watcher.wants_to_stop():
            raise _Stop

    def _write_down(self, page: RunPage, caught: list[warnings.WarningMessage]) -> None:
        """Pass the page to the writer thread, which records it while the next one is played."""
        self._wait_for_writer()
        self.row = page.first + page.played
        weights, alarms = self.learner.weights.copy(), self.learner.alarms
        self._unwritten = self._writer.submit(self._record, page, weights, alarms, _texts(caught))

    def _wait_for_writer(self) -> None:
        """Wait until everything played is recorded."""
        if self._unwritten is not None:
            self._unwritten.result()
            self._unwritten = None

    def _record(self, page: RunPage, weights: Floats, alarms: Sequence[Alarm], messages: list[str]) -> None:
        """Record the new rows of a page in the journal and the totals.

        `weights` and `alarms` are the learner's after these rows, `messages` its warnings. Only the writer thread
        modifies the totals while a page is played.
        """
        schema, y, before = self.scaling.schema, page.raw_labels, self.totals.labels_before
        center = schema.label.stated_center
        z = with_center(self.scaling.predictions(page.predictions[page.new]), y, center, before)
        self.journal.append("rounds", rounds_of(page, z, schema.catalog.charge, scored(y, center, before)))
        self.totals.add(page, z, alarms)
        if page.complete:
            self.journal.append("ledger", ledger_of(page, self.totals, weights))
            self.baselines.add(page.first, page.raw.X, page.raw.y)
            for text in self.totals.close_page():
                self.watcher.say(text)
        self._note(messages)

    def _note(self, messages: list[str]) -> None:
        """Record the learner's warnings in the run."""
        for text in messages:
            self.totals.messages += f"{text}\n"
            self.watcher.say(text)

    def _is_due(self) -> bool:
        """Return whether a checkpoint is due: every `every` seconds, at most 1/20 of the time; 0: after each page."""
        row, at, cost = self._saved
        waited = time.monotonic() - at
        return self.every == 0 or self.row - row >= _HELD or waited > max(self.every, 20 * cost)

    def _checkpoint(self) -> None:
        self._wait_for_writer()
        began = time.monotonic()
        self.journal.checkpoint(self.row, self.learner, self._states)
        now = time.monotonic()
        self._saved = (self.row, now, now - began)


def _starting(folder: Folder, settings: Settings) -> Learner:
    """Return the learner before the first row: new, or with the knowledge of past rows or of a model."""
    if not settings.start:
        return from_config(settings.learner)
    path = folder.path / START
    data = path.read_bytes() if path.is_file() else b""
    if digest(data) != settings.start:
        raise StateError(f"{path} is {'damaged' if data else 'gone'}; repeat the run with: {settings.command}")
    return from_bytes(data)


def _texts(caught: list[warnings.WarningMessage]) -> list[str]:
    """Return keyhole's warnings and clear the list."""
    texts = [str(item.message) for item in caught if issubclass(item.category, KeyholeWarning)]
    caught.clear()
    return texts
