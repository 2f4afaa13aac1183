"""The walk of a file before its first row is played: how often it is opened."""

import builtins
from pathlib import Path

import pyarrow.csv as csv
import pytest

from keyhole.runs.request import Request, prepare


def test_a_file_is_opened_for_its_head_for_its_types_and_for_its_first_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "t.csv"
    file.write_text("a,b,y\n" + "".join(f"{i},{i % 3},{i % 5}\n" for i in range(300)))
    opened: list[str] = []
    plain, parsed = builtins.open, csv.open_csv

    def counted(path: object, *more: object, **named: object) -> object:
        if str(path) == str(file):
            opened.append("plain")
        return plain(path, *more, **named)  # type: ignore[call-overload]

    def counted_csv(path: object, *more: object) -> object:
        opened.append("parsed")
        return parsed(path, *more)

    monkeypatch.setattr(builtins, "open", counted)
    monkeypatch.setattr(csv, "open_csv", counted_csv)
    plan = prepare(Request(file=file, target="y", budget=1, algorithm="thrifty"))
    assert opened == ["plain", "parsed", "parsed"]
    assert sum(len(batch.y) for batch in plan.table.batches(plan.schema.names, "y")) == 300
    assert opened == ["plain", "parsed", "parsed", "parsed"]  # and once more for the play
