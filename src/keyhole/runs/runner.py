"""From a file to a run folder: page after page, with a checkpoint now and then."""

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

# Records of at most this many rows are held in memory.
_HELD = 1 << 18
# Pages read ahead: a file comes in bursts.
_AHEAD = 4


class Watcher(Protocol):
    """Who watches a run: is told how far it is, and may ask it to stop."""

    def tick(self, rows: int, totals: Totals) -> None:
        """`rows` rows have been played; `totals` may be a page or two behind."""

    def say(self, text: str) -> None:
        """Something a person should know."""

    def look(self, read: int, size: int) -> None:
        """`read` of the `size` bytes of the file have been looked at, before the first row."""

    def wants_to_stop(self) -> bool:
        """Whether the run should stop now, to be resumed later."""


class _Stop(Exception):
    """Leave a page between two calls of the learner."""


class Run:
    """A run in its folder: continues from the last checkpoint, or begins."""

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
        """Play to the end of the file; False where the watcher stopped it. Either way everything is written down."""
        with ThreadPoolExecutor(1) as self._writer, warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", KeyholeWarning)
            ended = all(self._play(raw, caught) for raw in self._pages())
            self._checkpoint()
            if ended:
                self.learner._on_stream_end()
                self._note(_texts(caught))
        return ended

    def write_results(self) -> RunData:
        """rounds.parquet, ledger.parquet and model.kh from the journal; what a page shows of them is handed on."""
        data = RunData(self.row, self.scaling.schema.names)
        for kind in ("rounds", "ledger"):
            self.journal.assemble(kind, self.folder.file(f"{kind}.parquet"), data.see)
        scaling = replace(self.scaling, decimals=data.decimals, seen=self.totals.clips.extremes)
        write_atomically(self.folder.file("model.kh"), to_bytes(self.learner, scaling.to_note()))
        data.schema, data.moments, data.reasons = self.scaling.schema, self.baselines.moments, reasons(self.learner)
        return data

    def _pages(self) -> Iterator[Batch]:
        """The rows from here on; the next pages are read while this one is played."""
        schema = self.scaling.schema
        coming = pages(self.table, schema.names, schema.target, page_start(self.row))
        with ThreadPoolExecutor(1) as pool:
            ahead = deque(pool.submit(next, coming, None) for _ in range(_AHEAD))
            while raw := self._wait_for(ahead.popleft()):
                ahead.append(pool.submit(next, coming, None))
                yield raw

    def _wait_for(self, ahead: "Future[Batch | None]") -> Batch | None:
        """The page that is being read; where it cannot be, what was played before it is kept."""
        try:
            return ahead.result()
        except DataError:
            self._checkpoint()
            raise

    def _play(self, raw: Batch, caught: list[warnings.WarningMessage]) -> bool:
        """One page; False where it was left in the middle."""
        if raw.first + raw.y.size <= self.row:
            return True  # the short last page, played and written down before
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
        """Hand the page to the writer, who records one page while the next is played."""
        self._wait_for_writer()
        self.row = page.first + page.played
        weights, alarms = self.learner.weights.copy(), self.learner.alarms
        self._unwritten = self._writer.submit(self._record, page, weights, alarms, _texts(caught))

    def _wait_for_writer(self) -> None:
        """Wait until all that was played is recorded."""
        if self._unwritten is not None:
            self._unwritten.result()
            self._unwritten = None

    def _record(self, page: RunPage, weights: Floats, alarms: Sequence[Alarm], messages: list[str]) -> None:
        """The page's new rows into the journal and the totals; `weights` and `alarms` are the learner's after them, and
        `messages` what it warned of. Only the writer touches the totals while a page is played."""
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
        """The learner's own warnings belong to the run."""
        for text in messages:
            self.totals.messages += f"{text}\n"
            self.watcher.say(text)

    def _is_due(self) -> bool:
        """Every so many seconds, but never for a twentieth of the time; `every` = 0: after each page."""
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
    """The learner before the first row: new, or as the past rows or a model left it."""
    if not settings.start:
        return from_config(settings.learner)
    path = folder.path / START
    data = path.read_bytes() if path.is_file() else b""
    if digest(data) != settings.start:
        raise StateError(f"{path} is {'damaged' if data else 'gone'}; do it again with: {settings.command}")
    return from_bytes(data)


def _texts(caught: list[warnings.WarningMessage]) -> list[str]:
    """What keyhole warned of, taken off the list."""
    texts = [str(item.message) for item in caught if issubclass(item.category, KeyholeWarning)]
    caught.clear()
    return texts
