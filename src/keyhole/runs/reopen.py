"""A finished run read back from its folder: what its report is drawn from."""

from pathlib import Path

import numpy as np
import pyarrow.parquet as pq

from .._internal.atomic_io import read_json
from .._internal.output_folder import Folder
from ..core.introspection import reasons
from ..core.serialization import from_bytes
from ..data.encoded_table import EncodedTable
from ..data.streams import DataError, Schema, open_table
from ..errors import ConfigError
from ..estimation.moment_regression import Moments
from .lifecycle import find
from .results import RunData
from .stream_blocks import pages
from .stream_moments import StreamMoments, page_weight

__all__ = ["reopen"]

_WIDEST = 1000


def reopen(path: Path) -> tuple[Folder, RunData, str]:
    """A finished run as its report needs it: the folder, the data, and what could not be read ("" where all could).

    What is computed in hindsight needs the file that was played: without it, the report says what the run measured.

    Raises
    ------
    ConfigError
        Where there is no run, or one that is not finished.
    """
    folder, settings = find(path)
    if settings.status != "finished":
        raise ConfigError(f"the run in {path} is not finished; continue it with: keyhole run --resume {path}")
    schema = Schema.read(path / "schema.toml")
    summary = read_json(path / "summary.json")
    data = RunData(int(summary["rows"]), schema.names)  # type: ignore[call-overload]
    for kind in ("rounds", "ledger"):
        file = pq.ParquetFile(path / f"{kind}.parquet")
        for i in range(file.num_row_groups):
            data.see(kind, file.read_row_group(i).combine_chunks())
    data.schema, data.summary = schema, dict(summary)
    data.reasons = reasons(from_bytes((path / "model.kh").read_bytes()))
    missing = ""
    try:
        data.moments = _moments(schema, settings.file)
    except DataError as fault:
        missing = f"{fault}: nothing in hindsight is drawn"
    return folder, data, missing


def _moments(schema: Schema, file: str) -> Moments | None:
    """Of all rows of the file, as the run computed them."""
    if len(schema.names) > _WIDEST:
        return None
    table = EncodedTable(open_table(file, encoding=schema.encoding), schema)
    sums = StreamMoments(len(schema.names))
    for batch in pages(table, schema.names, schema.target, 0):
        rows = sums.page(batch.X, np.asarray(batch.y)) if page_weight(batch.first) else None
        if rows is not None:
            sums.add(rows, page_weight(batch.first))
    return None if sums.empty else sums.moments
