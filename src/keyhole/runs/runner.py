"""Playing a file into a run folder, page by page, with periodic checkpoints."""

import time
import warnings
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from typing import ClassVar, Protocol

from .._internal.atomic_io import digest, write_atomically, write_json
from .._internal.output_folder import Folder
from .._internal.typing import Floats
from ..core.learner import Learner, PlayedRows
from ..core.registry.catalogue import from_config
from ..core.round import Alarm
from ..core.serialization import from_bytes, to_bytes
from ..core.state import CountCheck, NoCheck, Part, Stateful, StateSchema
from ..data.encoded_table import EncodedTable
from ..data.scaling import Scaling
from ..data.streams import Batch, DataError, Schema
from ..data.value_counts import ValueRanges
from ..errors import KeyholeWarning, ProtocolError, StateError
from ..simulation import play_rows
from .baselines import Baselines
from .journal import Journal, ledger_of, past_rows_entry, rounds_of
from .played_pages import page_of, page_start, pages
from .results import RunData, read_records, summary_of
from .run_config import Settings
from .totals import Totals, missing_warning, totals_of

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


class RunState(Stateful):
    """What changes while a run is played, besides its learner; a checkpoint holds both."""

    _state: ClassVar[StateSchema] = {
        "total": Part(),
        "page": Part(),
        "baselines": Part(),
        "warned_level": CountCheck(),
        "messages": NoCheck(),
    }

    def __init__(self, schema: Schema, baselines: Baselines) -> None:
        self.total = Totals.zero(schema)
        self.page = Totals.zero(schema)
        """Over the rows of the current page; the ledger of the page is made of them."""
        self.baselines = baselines
        self.warned_level = 0
        self.messages = ""
        """The learner's warnings, one in a line."""


class Run:
    """A run in its folder, which begins with `learner` or continues from the last checkpoint."""

    def __init__(
        self,
        folder: Folder,
        settings: Settings,
        schema: Schema,
        table: EncodedTable,
        watcher: Watcher,
        every: float,
        learner: Learner | None = None,
    ) -> None:
        self.folder, self.settings, self.schema = folder, settings, schema
        self.table, self.watcher, self.every = table, watcher, every
        self.scaling = Scaling(schema, settings.scaled, settings.clip)
        self.ranges = ValueRanges.of(schema, settings.clip)
        baselines = Baselines(schema.catalog, settings.limits, settings.seed, schema.label.stated_center)
        self.state = RunState(schema, baselines)
        self.journal = Journal(folder.subfolder("journal"), schema.names)
        start, found = _start_of(folder, settings), self.journal.restore(self.state)
        if found is None:
            found = 0, learner or (from_bytes(start) if start else from_config(settings.learner))
            if found[1].n_past_rows:
                self.journal.append("ledger", past_rows_entry(found[1].n_past_rows))
        self.row, self.learner = found
        # Alarms are numbered by the labels of the learner, which may have had some before this run.
        self._labels_before = max(getattr(self.learner, "n_labels", 0) - self.state.total.labelled, 0)
        self._saved = (self.row, time.monotonic(), 0.0)
        self._unwritten: Future[None] | None = None

    def go(self) -> bool:
        """Play to the end of the file; return False if the watcher stopped it. All records are written either way."""
        with ThreadPoolExecutor(1) as self._writer, warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", KeyholeWarning)
            ended = all(self._play(raw, caught) for raw in self._pages())
            self._checkpoint()
            self.watcher.tick(self.row, self.state.total)
            if ended:
                self.learner._on_stream_end()
                self._note(_texts(caught))
        return ended

    def write_results(self) -> RunData:
        """Write rounds.parquet, ledger.parquet, model.kh and summary.json; return the data for the report."""
        for kind in ("rounds", "ledger"):
            self.journal.assemble(kind, self.folder.file(f"{kind}.parquet"))
        totals, baselines = self.state.total, self.state.baselines
        data = read_records(self.folder.path, self.row, self.schema, self.learner, baselines.moments)
        seen = self.ranges.extremes(totals.values)
        note = replace(self.scaling, seen=seen).to_note()
        write_atomically(self.folder.file("model.kh"), to_bytes(self.learner, note))
        lines = baselines.lines(totals.ordered / max(totals.rows, 1))
        messages, rounds = self.state.messages.splitlines(), self.folder.path / "rounds.parquet"
        summary = summary_of(self.settings, data, self.learner, totals, lines, messages, rounds)
        write_json(self.folder.file("summary.json"), summary)
        return replace(data, summary=summary)

    def _pages(self) -> Iterator[Batch]:
        """Yield the remaining pages; the next pages are read while one is played."""
        columns = (*self.schema.names, *self.schema.price_columns)
        coming = map(self.table.split_prices, pages(self.table, columns, self.schema.target, page_start(self.row)))
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
        begun, last = self.row - raw.first, raw.first + raw.y.size
        if last <= self.row:
            return True  # the short last page, played and recorded before
        rows, labels = self.scaling.rows(raw.X)[begun:], self.scaling.labels(raw.y)[begun:]
        prices = None if raw.prices is None else raw.prices[begun:]
        played: list[PlayedRows] = []
        row, stopped = self.row, False
        try:
            with self.learner.locked():
                for some in play_rows(self.learner, rows, labels, row, prices):
                    played.append(some)
                    row += some.predictions.size
                    self.watcher.tick(row, self.state.total)
                    if stopped := self.watcher.wants_to_stop():
                        break
        except ProtocolError as fault:
            raise DataError(f"{self.table.name}, {fault}", row=row + 1) from None
        self._wait_for_writer()
        self.row = row
        weights, alarms = self.learner.weights.copy(), self.learner.alarms
        self._unwritten = self._writer.submit(self._record, raw, begun, played, weights, alarms, _texts(caught))
        if row == last and self._is_due():
            self._checkpoint()
        return not stopped

    def _wait_for_writer(self) -> None:
        """Wait until everything played is recorded."""
        if self._unwritten is not None:
            self._unwritten.result()
            self._unwritten = None

    def _record(
        self,
        raw: Batch,
        begun: int,
        played: Sequence[PlayedRows],
        weights: Floats,
        alarms: Sequence[Alarm],
        messages: list[str],
    ) -> None:
        """Record the rows that were played on a page; the writer thread does this while the next page is played.

        `weights` and `alarms` are the learner's after these rows, `messages` its warnings. Only the writer thread
        changes the state of the run while a page is played.
        """
        state = self.state
        page = page_of(raw, begun, played, self.scaling, state.total.labelled, informed=bool(self.settings.start))
        alarms = [replace(alarm, row=alarm.row - self._labels_before) for alarm in alarms]
        new = totals_of(page, self.schema, self.ranges, alarms)
        state.total, state.page = state.total.with_page(new, page), state.page.with_page(new, page)
        self.journal.append("rounds", rounds_of(page, self.schema.catalog))
        if page.complete:
            self.journal.append("ledger", ledger_of(raw.first + 1, page.last, state.page, weights))
            state.baselines.add(raw.first, raw.X, raw.y)
            state.page = Totals.zero(self.schema)
            state.warned_level, text = missing_warning(state.total, state.warned_level)
            if text:
                self.watcher.say(text)
        self._note(messages)

    def _note(self, messages: list[str]) -> None:
        """Record the learner's warnings in the run."""
        for text in messages:
            self.state.messages += f"{text}\n"
            self.watcher.say(text)

    def _is_due(self) -> bool:
        """Return whether a checkpoint is due: every `every` seconds, at most 1/20 of the time; 0: after each page."""
        row, at, cost = self._saved
        waited = time.monotonic() - at
        return self.every == 0 or self.row - row >= _HELD or waited > max(self.every, 20 * cost)

    def _checkpoint(self) -> None:
        self._wait_for_writer()
        began = time.monotonic()
        self.journal.checkpoint(self.row, self.learner, self.state)
        now = time.monotonic()
        self._saved = (self.row, now, now - began)


def _start_of(folder: Folder, settings: Settings) -> bytes:
    """Return the learner before the first row as a model file; nothing if it had no prior knowledge."""
    if not settings.start:
        return b""
    path = folder.path / START
    data = path.read_bytes() if path.is_file() else b""
    if digest(data) != settings.start:
        raise StateError(f"{path} is {'damaged' if data else 'gone'}; {settings.how_to_repeat(folder.path)}")
    return data


def _texts(caught: list[warnings.WarningMessage]) -> list[str]:
    """Return keyhole's warnings and clear the list."""
    texts = [str(item.message) for item in caught if issubclass(item.category, KeyholeWarning)]
    caught.clear()
    return texts
