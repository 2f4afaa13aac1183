"""Files as they come: cut, packed, with lines in cells, wide, foreign. They are read, or refused in one sentence."""

import gzip
import time
import warnings
import zipfile
from pathlib import Path

import numpy as np
import pytest

from keyhole.data.streams import DataError, Schema, open_table
from keyhole.errors import KeyholeWarning

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

TEXT = ("a,b\n" + "".join(f"{i},{i / 2}\n" for i in range(30_000))).encode()


def rows_of(path: Path, encoding: str = "") -> int:
    table = open_table(path, encoding=encoding)
    return sum(len(b.X) for b in table.batches([c.name for c in table.columns if c.kind == "number"]))


@pytest.mark.parametrize("share", [0.0001, 0.01, 0.5, 0.99999])
def test_a_gzip_file_that_was_cut_is_refused(share: float, tmp_path: Path) -> None:
    path, packed = tmp_path / "t.csv.gz", gzip.compress(TEXT)
    path.write_bytes(packed[: max(5, int(share * len(packed)))])
    with pytest.raises(DataError, match=r"t\.csv\.gz cannot be read.*(Truncated|truncated|cut)"):
        rows_of(path)
    damaged = bytearray(packed)
    damaged[len(packed) // 2] ^= 255
    path.write_bytes(damaged)
    with pytest.raises(DataError, match=r"t\.csv\.gz"):
        rows_of(path)


def test_what_is_packed_otherwise_is_said_to_be(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "t.zip", "w") as archive:
        archive.writestr("t.csv", TEXT)
    with pytest.raises(DataError, match="is a zip archive or a spreadsheet; unpack it"):
        open_table(tmp_path / "t.zip")
    (tmp_path / "v.csv.gz").write_bytes(TEXT)
    with pytest.raises(DataError, match="cannot be read"):
        open_table(tmp_path / "v.csv.gz")
    with pytest.raises(DataError, match="cannot be read"):
        open_table("a\0b.csv")


def test_cells_with_line_ends_are_read_in_files_of_many_blocks(tmp_path: Path) -> None:
    lines = [f'{i},"line one\nline {i}, ""two"",\n\nend",{i / 2}\n' for i in range(40_000)]
    path = tmp_path / "t.csv"
    path.write_text("a,note,b\n" + "".join(lines))
    assert path.stat().st_size > 1_500_000
    X = np.vstack([b.X for b in open_table(path).batches(["a", "b"])])
    np.testing.assert_array_equal(X, np.column_stack([np.arange(40_000), np.arange(40_000) / 2]))


@pytest.mark.parametrize("long", [{0}, {70}, {0, 70}])
def test_a_row_longer_than_a_block_is_read(long: set[int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("keyhole.data.csv_table.BLOCK", 1000)
    path = tmp_path / "t.csv"
    lines = [f"{i},{'x' * (9000 if i in long else 5)}" for i in range(100)]
    path.write_text("\n".join(["a,note", *lines]))
    for start in (0, 60, 71):
        X = np.vstack([b.X for b in open_table(path).batches(["a"], start=start)])
        np.testing.assert_array_equal(X[:, 0], np.arange(start, 100))


@pytest.mark.parametrize("carrier", ["csv", "parquet"])
def test_whole_numbers_beyond_2_to_the_53_are_reported_once(carrier: str, tmp_path: Path) -> None:
    path = tmp_path / f"t.{carrier}"
    numbers = [1, 2**53 + 1, 2**62, 5]
    if carrier == "csv":
        path.write_text("id,x\n" + "".join(f"{n},1.5e300\n" for n in numbers))
    else:
        pq.write_table(pa.table({"id": numbers, "x": [1.5e300] * 4}), path)
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always", KeyholeWarning)
        list(open_table(path).batches(["id", "x"], size=2))
    told = [str(h.message) for h in heard]
    assert len(told) == 1
    assert f"row 2, column 'id': {2**53 + 1} is a whole number beyond 2^53" in told[0]


def test_numbers_of_400_digits_are_infinite_or_close_and_never_a_traceback(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text(f"a,b\n1,0.{'1' * 400}\n{'9' * 400},2\n")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", KeyholeWarning)
        X = next(open_table(path).batches(["a", "b"])).X
    assert X[1, 0] == np.inf
    assert X[0, 1] == pytest.approx(1 / 9)


def test_encodings_are_read_where_they_are_said(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes("größe,ort\n1,Köln\n2,Ulm\n".encode("latin-1"))
    with pytest.raises(DataError, match="not UTF-8; save it as UTF-8, or give its encoding"):
        open_table(path)
    assert [c.name for c in open_table(path, encoding="latin-1").columns] == ["größe", "ort"]
    with pytest.raises(DataError, match="there is no encoding 'klingon'"):
        open_table(path, encoding="klingon")
    text = (
        'ignored = []\n[file]\nencoding = "latin-1"\n[label]\nname = "größe"\n[attributes]\nort = {type = "category"}\n'
    )
    schema = Schema.from_toml(text).complete(open_table(path, encoding="latin-1"))
    assert schema.names == ("ort=Köln", "ort=Ulm")
    assert next(open_table(path, schema).batches(schema.names, "größe")).X.tolist() == [[1, 0], [0, 1]]
    path.write_bytes("a,b\n1,2\n".encode("utf-16"))
    assert rows_of(path, "utf-16") == 1
    with pytest.raises(DataError, match="is text in UTF-16; say so"):
        rows_of(path, "")


@pytest.mark.parametrize("header", ["a,,b", ",a,b", "a, ,b"])
def test_a_column_without_a_name_is_said_with_its_place(header: str, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(f"{header}\n1,2,3\n")
    with pytest.raises(DataError, match=f"column {1 if header[0] == ',' else 2} has no name"):
        open_table(tmp_path / "t.csv")


def test_names_are_suggested_by_how_they_begin(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("id,cost_next_year\n1,2\n")
    with pytest.raises(DataError, match="no column 'cost'; did you mean 'cost_next_year'"):
        open_table(tmp_path / "t.csv").require(["cost"])


def test_a_file_that_changed_is_looked_at_again(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    for text, kind in (("a\n1\n", "number"), ("a\nx\n", "text"), ("a\n2\n", "number")):
        path.write_text(text)
        assert open_table(path).kind("a") == kind


def test_thousands_of_columns_take_no_time_that_grows_with_their_square(tmp_path: Path) -> None:
    """At 65 s for 16 000 columns it was quadratic; 8 000 are now a small part of a second."""
    names = [f"column {i}" for i in range(8000)]
    table = open_table(pa.table({name: [1.0, 2.0] for name in names}))
    start = time.process_time()
    table.require(names)
    used = table.usable("column 7")
    schema = Schema.plain("column 7", used).with_prices(dict.fromkeys(used, 2.0)).without(used[:4000])
    assert next(open_table(pa.table({n: [1.0] for n in names}), schema).batches(schema.names)).X.shape == (1, 3999)
    assert time.process_time() - start < 8


def test_a_long_row_in_another_encoding_is_one_sentence_and_prints_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, printed = tmp_path / "a.csv", []
    lines = ["a,b,y", *["1,2,3"] * 200_000, "1,\xe9t\xe9,3,4", "1,2,3"]
    path.write_bytes("\n".join(lines).encode("latin-1"))
    monkeypatch.setattr("sys.unraisablehook", printed.append)
    with pytest.raises(DataError, match=r"a\.csv") as told:
        list(open_table(path).batches(["a", "b"], "y"))
    assert "\n" not in str(told.value)
    assert printed == []
