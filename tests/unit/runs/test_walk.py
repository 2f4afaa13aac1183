"""The walk of a file before its first row is played: how often it is opened."""

import builtins
from pathlib import Path

import pyarrow.csv as csv
import pytest

from keyhole.runs.run_config import RunConfig, prepare


@pytest.mark.parametrize("rows", [300, 300_000])
def test_a_file_is_opened_once_to_be_looked_at_and_once_to_be_played(
    rows: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "t.csv"
    file.write_text("a,b,y\n" + "".join(f"{i},{i % 3},{i % 5}\n" for i in range(rows)))
    opened: list[str] = []
    plain, parsed = builtins.open, csv.open_csv

    def counted(path: object, *more: object, **named: object) -> object:
        if str(path) == str(file):
            opened.append("plain")
        return plain(path, *more, **named)  # type: ignore[call-overload]

    def counted_csv(source: object, *more: object) -> object:
        if str(source) == str(file):  # and not what is held in memory of it
            opened.append("parsed")
        return parsed(source, *more)

    monkeypatch.setattr(builtins, "open", counted)
    monkeypatch.setattr(csv, "open_csv", counted_csv)
    plan = prepare(RunConfig(file=file, target="y", k=1, algorithm="thrifty"))
    assert opened == ["plain"]
    assert sum(len(batch.y) for batch in plan.table.batches(plan.schema.names, "y")) == rows
    assert opened == (["plain"] if rows == 300 else ["plain", "parsed"])  # a short one is held whole
