"""What a run has done so far, on disk: segments of records and one checkpoint, so that nothing is lost.

A segment is written whole, then the checkpoint that counts it, each in one step; what lies beyond the checkpoint after
a crash is thrown away and played again. At the end the segments become two files whose bytes do not depend on where
they were cut.
"""

import io
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq

from ..errors import StateError
from ..files import make_folder, remove, remove_leftovers, replacing, write_atomically
from ..loading import from_bytes
from ..protocol import Learner
from ..saving import to_bytes
from ..state import Stateful, Value
from .tables import CODED, LEDGER, ROUNDS, named

__all__ = ["Journal"]

_GROUP = 1 << 17
_SEGMENT = re.compile(r"(rounds|ledger)-[0-9]{15}\.arrow")
_SCHEMAS = {"rounds": CODED, "ledger": LEDGER}
# Names repeat and numbers do not.
_WORDS = ["bought.list.element", "bought_after.list.element", "attribute"]


class Journal:
    """The folder `journal` of a run; `row` is how many rows the last checkpoint counts, `names` are the attributes'."""

    def __init__(self, folder: Path, names: Sequence[str]) -> None:
        self.folder, self.names, self.row = folder, names, 0
        self._held: dict[str, list[pa.Table]] = {kind: [] for kind in _SCHEMAS}

    def append(self, kind: str, table: pa.Table) -> None:
        """Hold records ("rounds", `CODED`, or "ledger") until the next checkpoint."""
        self._held[kind].append(table)

    def checkpoint(self, row: int, learner: Learner, states: Mapping[str, Stateful]) -> None:
        """Write down everything up to `row` rows."""
        make_folder(self.folder)
        for kind, tables in self._held.items():
            if any(table.num_rows for table in tables):  # an empty one would replace the segment that ends here
                write_atomically(
                    self.folder / f"{kind}-{row:015d}.arrow", _quickly(pa.concat_tables(tables).combine_chunks())
                )
            tables.clear()
        write_atomically(self.folder / "checkpoint.npz", _pack(row, learner, states))
        self.row = row

    def restore(self, states: Mapping[str, Stateful]) -> tuple[int, Learner] | None:
        """(row, learner) of the last checkpoint, with `states` put back; None where a run has not come that far."""
        remove_leftovers(self.folder)
        path = self.folder / "checkpoint.npz"
        found = _unpack(path, states) if path.exists() else None
        for segment in self._segments():
            if found is None or _last_row(segment) > found[0]:
                remove(segment)
        self.row = found[0] if found else 0
        return found

    def assemble(self, kind: str, path: Path) -> None:
        """All segments of a kind as one Parquet file; memory does not grow with it."""
        segments = [segment for segment in self._segments() if segment.name.startswith(kind)]
        schema = ROUNDS if kind == "rounds" else LEDGER
        options = {"compression": "zstd", "use_dictionary": _WORDS, "write_statistics": ["row", "last_row"]}
        with replacing(path) as file, pq.ParquetWriter(file, schema, **options) as writer:
            for table in _regrouped(segments, _SCHEMAS[kind]):
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


def _last_row(segment: Path) -> int:
    return int(segment.stem.split("-")[1])


def _regrouped(segments: list[Path], schema: pa.Schema) -> Iterator[pa.Table]:
    """The rows of all segments in tables of the same length, whatever the segments' lengths."""
    held = schema.empty_table()
    for path in segments:
        held = pa.concat_tables([held, feather.read_table(path, memory_map=False)])
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


def _pack(row: int, learner: Learner, states: Mapping[str, Stateful]) -> bytes:
    """A checkpoint as an npz archive without pickle."""
    flat = {f"{name}/{key}": value for name, state in states.items() for key, value in state.get_state().items()}
    arrays = {key: value for key, value in flat.items() if isinstance(value, np.ndarray)}
    header = json.dumps({"row": row, "scalars": {k: v for k, v in flat.items() if k not in arrays}})
    content = {"header": header.encode(), "learner": to_bytes(learner)}
    buffer = io.BytesIO()
    np.savez(buffer, **{k: np.frombuffer(v, dtype=np.uint8) for k, v in content.items()}, **arrays)  # type: ignore[arg-type]
    return buffer.getvalue()


def _unpack(path: Path, states: Mapping[str, Stateful]) -> tuple[int, Learner]:
    try:
        with np.load(path, allow_pickle=False) as archive:
            content = {key: archive[key] for key in archive.files}
        header = json.loads(content.pop("header").tobytes())
        learner = from_bytes(content.pop("learner").tobytes())
        flat: dict[str, Value] = {**header["scalars"], **content}
        for name, state in states.items():
            state.set_state({key.removeprefix(f"{name}/"): v for key, v in flat.items() if key.startswith(f"{name}/")})
        return int(header["row"]), learner
    except (KeyError, TypeError, ValueError, OSError) as fault:
        raise StateError(f"{path} cannot be continued ({fault}); delete the folder and begin again") from None
