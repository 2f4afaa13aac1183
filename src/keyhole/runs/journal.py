"""The records of a run: their Arrow schemas, and the segments and the checkpoint that hold them on disk.

A segment is written completely, then the checkpoint that includes it, each atomically; records beyond the checkpoint
are discarded after a crash and played again. At the end the segments are merged into two files, whose bytes do not
depend on the boundaries of the segments.
"""

import io
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq

from .._internal.atomic_io import (
    digest,
    make_folder,
    remove,
    remove_leftovers,
    replacing,
    write_atomically,
)
from .._internal.typing import Floats
from ..core.learner import Learner
from ..core.serialization import from_bytes, pack, to_bytes, unpack
from ..core.sources import SourceCatalog
from ..core.state import Stateful, Value
from ..errors import StateError
from .played_pages import PlayedPage, Purchases
from .totals import Totals

__all__ = ["CODED", "LEDGER", "ROUNDS", "Journal", "ledger_of", "named", "past_rows_entry", "rounds_of"]

_NAMES = pa.dictionary(pa.int32(), pa.string())

ROUNDS = pa.schema(
    [
        ("row", pa.int64()),
        ("explored", pa.bool_()),
        ("prediction", pa.float64()),
        ("label", pa.float64()),
        ("loss", pa.float64()),
        ("bought", pa.list_(_NAMES)),
        ("bought_after", pa.list_(_NAMES)),
        ("unobserved", pa.int32()),
        ("price", pa.float64()),
    ]
)
"""One row per round: `row` counts from 1; `bought_after` are the extra attributes bought after the label; `price` is
the total. `loss` is NaN without a label, and in the first labelled row unless the schema states the label's centre."""

CODED = pa.schema([(f.name, pa.list_(pa.int32()) if pa.types.is_list(f.type) else f.type) for f in ROUNDS])
"""`ROUNDS` with attribute indices instead of names, which are faster to write until a run is finished."""

LEDGER = pa.schema(
    [
        ("first_row", pa.int64()),
        ("last_row", pa.int64()),
        ("attribute", pa.string()),
        ("source", pa.string()),
        ("bought", pa.int64()),
        ("unobserved", pa.int64()),
        ("clipped", pa.int64()),
        ("price", pa.float64()),
        ("spent", pa.float64()),
        ("weight", pa.float64()),
    ]
)
"""One row per page and attribute that was bought in it or has a weight at its end. `source` is the source ordered, ""
for a free attribute; the price of a panel is entered once, at its first attribute, so that `spent` adds up. If prices
differ between rows, `price` is the mean price paid on the page, or the usual price if nothing was bought. If the
learner starts with past rows, the first entry says so, with `last_row` 0."""


def rounds_of(page: PlayedPage, catalog: SourceCatalog) -> pa.Table:
    """Return the rows of a page as `CODED`."""
    before, after, y = page.before, page.after, page.labels
    columns = {
        "row": np.arange(page.first + 1, page.last + 1),
        "explored": page.explored,
        "prediction": page.predictions,
        "label": y,
        "loss": np.where(page.scored, (page.predictions - y) ** 2, np.nan),
        "bought": _lists(before),
        "bought_after": _lists(after),
        "unobserved": (before.sums(np.isnan(before.values)) + after.sums(np.isnan(after.values))).astype(np.int32),
        "price": before.sums(page.charges(before, catalog)) + after.sums(page.charges(after, catalog)),
    }
    return pa.table(columns, schema=CODED)


def ledger_of(first: int, last: int, totals: Totals, weights: Floats) -> pa.Table:
    """Return the purchases of a complete page, rows `first` to `last`, and the weights at its end."""
    catalog = totals.catalog
    i = np.flatnonzero((totals.bought > 0) | (weights != 0))
    columns = {
        "first_row": np.full(i.size, first),
        "last_row": np.full(i.size, last),
        "attribute": [catalog.names[j] for j in i],
        "source": [catalog.sources[s] if s >= 0 else "" for s in catalog.of[i]],
        "bought": totals.bought[i],
        "unobserved": totals.unobserved[i],
        "clipped": totals.clipped[i],
        "price": totals.mean_prices[i],
        "spent": totals.spent_on_each[i],
        "weight": weights[i],
    }
    return pa.table(columns, schema=LEDGER)


def past_rows_entry(n: int) -> pa.Table:
    """Return the entry for n past rows, which cost nothing."""
    numbers = {field.name: [0] for field in LEDGER}
    return pa.table(numbers | {"attribute": [f"past rows: {n}, free"], "source": [""]}, schema=LEDGER)


def named(coded: pa.Table, names: Sequence[str]) -> pa.Table:
    """Convert `CODED` to `ROUNDS`; the table must be a single chunk."""
    texts = pa.array(names, pa.string())
    for i, field in enumerate(ROUNDS):
        if pa.types.is_list(field.type):
            lists = coded.column(i).chunk(0)
            words = pa.DictionaryArray.from_arrays(lists.values, texts)
            coded = coded.set_column(i, field, pa.ListArray.from_arrays(lists.offsets, words))
    return coded


def _lists(purchases: Purchases) -> pa.Array:
    """Return the purchases as a list of attributes per row."""
    offsets = np.zeros(purchases.counts.size + 1, dtype=np.int32)
    np.cumsum(purchases.counts, out=offsets[1:])
    return pa.ListArray.from_arrays(offsets, purchases.attributes.astype(np.int32))


_GROUP = 1 << 17
_CHECKPOINT = "checkpoint.kh"
_SEGMENT = re.compile(r"(rounds|ledger)-[0-9]{15}\.arrow")
_SCHEMAS = {"rounds": CODED, "ledger": LEDGER}
# Dictionary encoding only for columns of names, since numbers rarely repeat.
_PARQUET = {
    "compression": "zstd",
    "use_dictionary": ["bought.list.element", "bought_after.list.element", "attribute", "source"],
    "write_statistics": ["row", "last_row"],
    "write_page_checksum": True,
}


class Journal:
    """The folder `journal` of a run; `row` is the row count of the last checkpoint, `names` the attribute names."""

    def __init__(self, folder: Path, names: Sequence[str]) -> None:
        self.folder, self.names, self.row = folder, names, 0
        self._held: dict[str, list[pa.Table]] = {kind: [] for kind in _SCHEMAS}
        self._written: dict[str, str] = {}  # the segments in the checkpoint, with their digests

    def append(self, kind: str, table: pa.Table) -> None:
        """Buffer records ("rounds", as `CODED`, or "ledger") until the next checkpoint."""
        self._held[kind].append(table)

    def checkpoint(self, row: int, learner: Learner, state: Stateful) -> None:
        """Write everything up to `row` rows to disk."""
        make_folder(self.folder)
        for kind, tables in self._held.items():
            if any(table.num_rows for table in tables):  # an empty segment would replace the one that ends here
                name, data = f"{kind}-{row:015d}.arrow", _quickly(pa.concat_tables(tables).combine_chunks())
                write_atomically(self.folder / name, data)
                self._written[name] = digest(data)
            tables.clear()
        write_atomically(self.folder / _CHECKPOINT, _pack(row, self._written, learner, state))
        self.row = row

    def restore(self, state: Stateful) -> tuple[int, Learner] | None:
        """Return (row, learner) of the last checkpoint and restore `state`; None if there is no checkpoint yet."""
        remove_leftovers(self.folder)
        path = self.folder / _CHECKPOINT
        self.row, self._written, learner = _unpack(path, state) if path.exists() else (0, {}, None)
        there = self._segments()
        for segment in there:
            if segment.name not in self._written:
                remove(segment)
        for name in sorted(self._written.keys() - {segment.name for segment in there}):
            raise _lost(self.folder / name, "is gone")
        return None if learner is None else (self.row, learner)

    def assemble(self, kind: str, path: Path) -> None:
        """Merge all segments of a kind into one Parquet file and verify each; memory use is bounded."""
        segments = [(self.folder / name, self._written[name]) for name in sorted(self._written) if kind in name]
        schema = ROUNDS if kind == "rounds" else LEDGER
        with replacing(path) as file, pq.ParquetWriter(file, schema, **_PARQUET) as writer:
            for table in _regrouped(segments, _SCHEMAS[kind]):
                writer.write_table(named(table, self.names) if kind == "rounds" else table, row_group_size=_GROUP)

    def remove(self) -> None:
        """Remove the journal of a finished run; foreign files in its folder are kept."""
        remove_leftovers(self.folder)
        for path in (self.folder / _CHECKPOINT, *self._segments()):
            remove(path)
        with suppress(OSError):
            self.folder.rmdir()

    def _segments(self) -> list[Path]:
        """Return the segments on disk, in order."""
        return sorted(path for path in self.folder.iterdir() if _SEGMENT.fullmatch(path.name))


def _lost(segment: Path, what: str) -> StateError:
    """Return the error for records that can only be restored by playing again."""
    last = int(segment.stem.split("-")[1])
    text = f"{segment} {what}, and with it records up to row {last}"
    return StateError(f"{text}; begin a new run of the same data file in another folder")


def _regrouped(segments: list[tuple[Path, str]], schema: pa.Schema) -> Iterator[pa.Table]:
    """Yield the rows of all segments in tables of equal length, whatever the lengths of the segments."""
    held = schema.empty_table()
    for path, expected in segments:
        data = path.read_bytes() if path.is_file() else b""
        if digest(data) != expected:
            raise _lost(path, "is damaged")
        held = pa.concat_tables([held, feather.read_table(pa.BufferReader(data))])
        while held.num_rows >= _GROUP:
            yield held.slice(0, _GROUP).combine_chunks()
            held = held.slice(_GROUP)
    if held.num_rows:
        yield held.combine_chunks()


def _quickly(table: pa.Table) -> bytes:
    """Serialise a segment as Arrow, which takes a tenth of the time of Parquet; a segment is read only once."""
    buffer = io.BytesIO()
    feather.write_feather(table, buffer, compression="lz4")
    return buffer.getvalue()


def _pack(row: int, segments: dict[str, str], learner: Learner, state: Stateful) -> bytes:
    """Return the bytes of a checkpoint."""
    flat = {f"run.{key}": value for key, value in state.get_state().items()}
    arrays = {key: value for key, value in flat.items() if isinstance(value, np.ndarray)}
    scalars = {key: value for key, value in flat.items() if key not in arrays}
    model = np.frombuffer(to_bytes(learner), dtype=np.uint8)
    return pack({"row": row, "segments": segments, "scalars": scalars}, {"learner": model, **arrays})


def _unpack(path: Path, state: Stateful) -> tuple[int, dict[str, str], Learner]:
    try:
        header, arrays = unpack(path.read_bytes())
        learner = from_bytes(arrays.pop("learner").tobytes())
        flat: dict[str, Value] = {**header["scalars"], **arrays}
        state.set_state({key.removeprefix("run."): value for key, value in flat.items()})
        return int(header["row"]), dict(header["segments"]), learner
    except (KeyError, TypeError, ValueError, OSError) as fault:
        what = f"{path} cannot be continued ({fault})"
        raise StateError(f"{what}; begin a new run of the same data file in another folder") from None
