"""What a run has done so far, on disk: segments of records and one checkpoint, so that nothing is lost.

A segment is written whole, then the checkpoint that counts it, each in one step; what lies beyond the checkpoint after
a crash is thrown away and played again. At the end the segments become two files whose bytes do not depend on where
they were cut.
"""

import io
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq

from .._internal.atomic_io import (
    digest,
    make_folder,
    read_sealed,
    remove,
    remove_leftovers,
    replacing,
    write_atomically,
    write_sealed,
)
from ..core.learner import Learner
from ..core.serialization import from_bytes, to_bytes
from ..core.state import Stateful, Value
from ..errors import StateError
from .result_tables import CODED, LEDGER, ROUNDS, named

__all__ = ["Journal"]

See: TypeAlias = Callable[[str, pa.Table], None]

_GROUP = 1 << 17
_SEGMENT = re.compile(r"(rounds|ledger)-[0-9]{15}\.arrow")
_SCHEMAS = {"rounds": CODED, "ledger": LEDGER}
# Names repeat and numbers do not.
_PARQUET = {
    "compression": "zstd",
    "use_dictionary": ["bought.list.element", "bought_after.list.element", "attribute", "source"],
    "write_statistics": ["row", "last_row"],
    "write_page_checksum": True,
}


class Journal:
    """The folder `journal` of a run; `row` is how many rows the last checkpoint counts, `names` are the attributes'."""

    def __init__(self, folder: Path, names: Sequence[str]) -> None:
        self.folder, self.names, self.row = folder, names, 0
        self._held: dict[str, list[pa.Table]] = {kind: [] for kind in _SCHEMAS}
        self._written: dict[str, str] = {}  # the segments that count, with their digests

    def append(self, kind: str, table: pa.Table) -> None:
        """Hold records ("rounds", `CODED`, or "ledger") until the next checkpoint."""
        self._held[kind].append(table)

    def checkpoint(self, row: int, learner: Learner, states: Mapping[str, Stateful]) -> None:
        """Write down everything up to `row` rows."""
        make_folder(self.folder)
        for kind, tables in self._held.items():
            if any(table.num_rows for table in tables):  # an empty one would replace the segment that ends here
                name, data = f"{kind}-{row:015d}.arrow", _quickly(pa.concat_tables(tables).combine_chunks())
                write_atomically(self.folder / name, data)
                self._written[name] = digest(data)
            tables.clear()
        write_sealed(self.folder / "checkpoint.npz", _pack(row, self._written, learner, states))
        self.row = row

    def restore(self, states: Mapping[str, Stateful]) -> tuple[int, Learner] | None:
        """(row, learner) of the last checkpoint, with `states` put back; None where a run has not come that far."""
        remove_leftovers(self.folder)
        path = self.folder / "checkpoint.npz"
        self.row, self._written, learner = _unpack(path, states) if path.exists() else (0, {}, None)
        there = self._segments()
        for segment in there:
            if segment.name not in self._written:
                remove(segment)
        for name in sorted(self._written.keys() - {segment.name for segment in there}):
            raise _lost(self.folder / name, "is gone")
        return None if learner is None else (self.row, learner)

    def assemble(self, kind: str, path: Path, see: See) -> None:
        """All segments of a kind as one Parquet file, each checked; memory does not grow with it.

        `see` is shown the records on their way.
        """
        segments = [(self.folder / name, self._written[name]) for name in sorted(self._written) if kind in name]
        schema = ROUNDS if kind == "rounds" else LEDGER
        with replacing(path) as file, pq.ParquetWriter(file, schema, **_PARQUET) as writer:
            for table in _regrouped(segments, _SCHEMAS[kind]):
                see(kind, table)
                writer.write_table(named(table, self.names) if kind == "rounds" else table, row_group_size=_GROUP)

    def remove(self) -> None:
        """The run is finished: the journal has done its work. What somebody else put into its folder stays."""
        remove_leftovers(self.folder)
        for path in (self.folder / "checkpoint.npz", *self._segments()):
            remove(path)
        with suppress(OSError):
            self.folder.rmdir()

    def _segments(self) -> list[Path]:
        """The segments on disk, in order."""
        return sorted(path for path in self.folder.iterdir() if _SEGMENT.fullmatch(path.name))


def _lost(segment: Path, what: str) -> StateError:
    """Records that cannot be had again but by playing."""
    last = int(segment.stem.split("-")[1])
    text = f"{segment} {what}, and with it records up to row {last}"
    return StateError(f"{text}; the file that was played is all that is needed: begin a new run in another folder")


def _regrouped(segments: list[tuple[Path, str]], schema: pa.Schema) -> Iterator[pa.Table]:
    """The rows of all segments in tables of the same length, whatever the segments' lengths."""
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
    """A segment is read once, soon: Arrow's own format takes a tenth of the time that Parquet takes."""
    buffer = io.BytesIO()
    feather.write_feather(table, buffer, compression="lz4")
    return buffer.getvalue()


def _pack(row: int, segments: dict[str, str], learner: Learner, states: Mapping[str, Stateful]) -> bytes:
    """A checkpoint as an npz archive without pickle."""
    flat = {f"{name}/{key}": value for name, state in states.items() for key, value in state.get_state().items()}
    arrays = {key: value for key, value in flat.items() if isinstance(value, np.ndarray)}
    scalars = {key: value for key, value in flat.items() if key not in arrays}
    header = json.dumps({"row": row, "segments": segments, "scalars": scalars})
    content = {"header": header.encode(), "learner": to_bytes(learner)}
    buffer = io.BytesIO()
    np.savez(buffer, **{k: np.frombuffer(v, dtype=np.uint8) for k, v in content.items()}, **arrays)  # type: ignore[arg-type]
    return buffer.getvalue()


def _unpack(path: Path, states: Mapping[str, Stateful]) -> tuple[int, dict[str, str], Learner]:
    try:
        with np.load(io.BytesIO(read_sealed(path)), allow_pickle=False) as archive:
            content = {key: archive[key] for key in archive.files}
        header = json.loads(content.pop("header").tobytes())
        learner = from_bytes(content.pop("learner").tobytes())
        flat: dict[str, Value] = {**header["scalars"], **content}
        for name, state in states.items():
            state.set_state({key.removeprefix(f"{name}/"): v for key, v in flat.items() if key.startswith(f"{name}/")})
        return int(header["row"]), dict(header["segments"]), learner
    except (KeyError, TypeError, ValueError, OSError) as fault:
        what = f"{path} cannot be continued ({fault})"
        raise StateError(f"{what}; the file that was played is whole: begin a new run in another folder") from None
