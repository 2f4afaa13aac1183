"""How a CSV file begins is held in memory: what is read is the file, wherever that is cut."""

import gzip
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from keyhole.data.streams import DataError, open_table

# A quoted line's end, a quoted mark, empty cells, a number that is another number when it is cut.
_ROWS = 'a,b,note,y\n1.5,2,"two\nlines",12345\n,-3.25,"a,b",67890\n4,,plain,11\n' + "7.125,8.5,x,-123456789\n" * 3
_COLUMNS = {
    "a": [1.5, None, 4.0, *[7.125] * 3],
    "b": [2.0, -3.25, None, *[8.5] * 3],
    "note": ["two\nlines", "a,b", "plain", *["x"] * 3],
    "y": [12345.0, 67890.0, 11.0, *[-123456789.0] * 3],
}


def _cut_at(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("BLOCK", block), ("_ROWS", 0), ("_PIECE", 16)):
        monkeypatch.setattr(f"keyhole.data.csv_table.{name}", value)


def _columns(path: Path) -> dict[str, list[object]]:
    pieces = list(open_table(path).chunks(["a", "b", "note", "y"], 0, cells=["note"]))
    return pa.Table.from_batches(pieces).to_pydict()


@pytest.mark.parametrize("block", range(2, len(_ROWS) + 3))
def test_wherever_it_is_cut_every_row_comes_once(block: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _cut_at(block, monkeypatch)
    file = tmp_path / "t.csv"
    file.write_text(_ROWS)
    assert _columns(file) == _COLUMNS


@pytest.mark.parametrize("block", range(60, 2000, 29))
def test_wherever_a_packed_file_is_cut_every_row_comes_once(
    block: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _cut_at(block, monkeypatch)
    numbers = [i * 7919 % 10007 for i in range(600)]
    file = tmp_path / "t.csv.gz"
    file.write_bytes(gzip.compress(("a,y\n" + "".join(f"{n},{n}\n" for n in numbers)).encode()))
    assert np.concatenate([batch.y for batch in open_table(file).batches(["a"], "y")]).tolist() == numbers


@pytest.mark.parametrize("block", range(2, 90))
def test_a_fault_is_named_by_its_row_wherever_the_start_is_cut(
    block: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _cut_at(block, monkeypatch)
    file = tmp_path / "t.csv"
    file.write_text("a,y\n" + "1,2\n" * 9 + "oops,2\n" + "3,4\n" * 9)
    with pytest.raises(DataError, match=r"row 10 .*column 'a': 'oops' is not a number"):
        list(open_table(file).batches(["a"], "y"))


def test_a_thousand_long_rows_are_served_without_opening_the_file_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, d = tmp_path / "wide.csv", 600
    names = [f"x{j}" for j in range(d)]
    row = ",".join("0.123456789" for _ in names)
    file.write_text(",".join(names) + "\n" + f"{row}\n" * 1500)
    table, opened = open_table(file), 0
    plain = pa.csv.open_csv

    def counted(source: object, *more: object) -> object:
        nonlocal opened
        opened += source == str(file)
        return plain(source, *more)

    monkeypatch.setattr(pa.csv, "open_csv", counted)
    assert next(table.batches(names, None, size=1000)).X.shape == (1000, d)
    assert opened == 0
    assert sum(len(batch.X) for batch in table.batches(names)) == 1500
    assert opened == 1


def test_a_header_longer_than_a_block_is_read(tmp_path: Path) -> None:
    file, names = tmp_path / "t.csv", [f"a{'n' * 40}{j}" for j in range(30_000)]
    file.write_text(",".join(names) + "\n" + ",".join(["1"] * len(names)) + "\n")
    assert open_table(file).names == tuple(names)


def test_a_file_that_unpacks_to_very_much_is_not_held_whole(tmp_path: Path) -> None:
    file = tmp_path / "t.csv.gz"
    file.write_bytes(gzip.compress(b"a,y\n" + b"1,2\n" * 5_000_000))
    table = open_table(file)
    assert len(table._start.data) < 1 << 24  # type: ignore[attr-defined]
    assert sum(len(batch.y) for batch in table.batches(["a"], "y")) == 5_000_000


def test_a_packed_file_that_is_cut_short_says_so(tmp_path: Path) -> None:
    file = tmp_path / "t.csv.gz"
    whole = gzip.compress("".join(f"{i * 7919 % 10007},{i}\n" for i in range(3000)).encode())
    file.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(DataError, match=r"t\.csv\.gz cannot be read"):
        list(open_table(file).batches(["0"]))


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('a,b,y\n"0,1,2\n3,4,5\n', 2),
        ('a,b,y\n0,1,"2\n3,4,5\n', 2),
        ('a,b,y\n0,"two\nlines",2\n0,"say ""hi""",2\n3,"4,5\n6,7,8\n', 5),
        ('a;b;y\n0;1;2\n3;"4;5\n', 3),
        ('\ufeff"a,b,y\n0,1,2\n', 1),
        ('a,b,y\n0,1,2\n3,4,"', 3),
    ],
)
def test_a_quote_that_is_not_closed_is_named(text: str, line: int, tmp_path: Path) -> None:
    """All rows after it became one cell: "the target 'y' holds text", "has a header but no rows"."""
    (tmp_path / "t.csv").write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match=rf"t\.csv: line {line} opens a quote that is never closed"):
        open_table(tmp_path / "t.csv")


def test_a_quote_within_a_cell_opens_nothing(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text('a,b,note,y\n1,2,5",3\n1,2,"a""b",3\n1,2,"",3\n1,2,"a"b",3\n')
    assert _columns(tmp_path / "t.csv")["note"] == ['5"', 'a"b', None, 'ab"']
