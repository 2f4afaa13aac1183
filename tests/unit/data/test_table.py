"""Tables: the same numbers whatever carries them, in exact batches, and faults named by row and column."""

import gzip
import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from keyhole.data.streams import Batch, DataError, Table, open_table
from keyhole.errors import ConfigError

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
pd = pytest.importorskip("pandas")

Floats = npt.NDArray[np.float64]
N = 1000
NAMES = ["a", "b.c", "flag", "y"]


def numbers() -> Floats:
    """Rows of two floats, a flag and a label; some are missing, none where the flag is."""
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(N, 4))
    rows[:, 2] = rng.integers(0, 2, N)
    rows[rng.random(N) < 0.1, 0] = np.nan
    rows[17, 3] = np.nan
    return rows


def frame() -> "pd.DataFrame":
    table = pd.DataFrame(numbers(), columns=NAMES)
    return table.assign(flag=table["flag"].astype(bool), note="text", day=pd.Timestamp("2020-01-02"))


def csv(folder: Path, name: str = "t.csv", sep: str = ",") -> Path:
    path = folder / name
    frame().to_csv(path, index=False, sep=sep)
    return path


def parquet(folder: Path) -> Path:
    path = folder / "t.parquet"
    pq.write_table(pa.Table.from_pandas(frame()), path, row_group_size=130)
    return path


def zipped(folder: Path) -> Path:
    path = folder / "t.csv.gz"
    path.write_bytes(gzip.compress(csv(folder).read_bytes()))
    return path


CARRIERS: dict[str, Callable[[Path], object]] = {
    "csv": csv,
    "semicolons": lambda folder: csv(folder, "s.csv", ";"),
    "bars": lambda folder: csv(folder, "b.csv", "|"),
    "tabs": lambda folder: csv(folder, "t.tsv", "\t"),
    "gzip": zipped,
    "parquet": parquet,
    "pandas": lambda folder: frame(),
    "arrow": lambda folder: pa.Table.from_pandas(frame()),
}


@pytest.fixture(params=list(CARRIERS))
def table(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Table:
    """The same rows in each carrier, read in pieces smaller than the table."""
    monkeypatch.setattr("keyhole.data.csv_table.BLOCK", 8192)
    monkeypatch.setattr("keyhole.data.file_table._ROWS", 64)
    monkeypatch.setattr("keyhole.data.file_table._ROWS", 64)
    return open_table(CARRIERS[request.param](tmp_path))


@pytest.mark.parametrize(
    ("start", "size"), [(0, 100), (0, 5000), (1, 64), (129, 1), (130, 100), (777, 33), (N - 1, 9), (N, 9), (N + 5, 9)]
)
def test_batches_hold_exactly_the_rows_from_the_start_on(table: Table, start: int, size: int) -> None:
    batches = list(table.batches(NAMES[:3], "y", start, size))
    expected = numbers()[start:]
    assert [b.first for b in batches] == list(range(start, N, size))
    assert all(len(b.X) == len(b.y) == min(size, N - b.first) for b in batches)
    np.testing.assert_array_equal(np.concatenate([np.empty((0, 3)), *(b.X for b in batches)]), expected[:, :3])
    np.testing.assert_array_equal(np.concatenate([np.empty(0), *(b.y for b in batches)]), expected[:, 3])


def test_columns_come_in_the_order_asked_and_no_target_means_no_labels(table: Table) -> None:
    batch = next(table.batches(["flag", "a"], size=N))
    np.testing.assert_array_equal(batch.X, numbers()[:, [2, 0]])
    assert batch.X.flags.c_contiguous
    assert np.isnan(batch.y).all()


def test_a_table_knows_the_kind_of_each_column(table: Table) -> None:
    kinds = {c.name: c.kind for c in table.columns}
    assert kinds == dict.fromkeys(NAMES, "number") | {"note": "text", "day": "time"}


def test_text_stops_unless_it_is_ignored(table: Table) -> None:
    with pytest.raises(DataError, match=r"'note' holds text.*ignore it"):
        table.usable("y")
    with pytest.raises(DataError, match=r"'day' holds dates"):
        table.usable("y", ["note"])
    assert table.usable("y", ["note", "day"]) == ("a", "b.c", "flag")
    with pytest.raises(DataError, match=r"no column of numbers besides 'y'"):
        table.usable("y", ["note", "day", "a", "b.c", "flag"])


def test_a_column_that_is_not_there_is_named_with_the_nearest(table: Table) -> None:
    with pytest.raises(DataError, match=r"no column 'flga'; did you mean 'flag'"):
        table.require(["flga"])
    with pytest.raises(DataError, match=r"no column 'target'; the columns are 'a'"):
        table.usable("target", ["note", "day"])


def test_a_digest_depends_on_the_first_rows_and_on_nothing_else(table: Table, tmp_path: Path) -> None:
    changed = frame()
    changed.loc[600, "a"] = 0.123
    other = open_table(changed)
    assert table.digest(["a"], "y", 600) == other.digest(["a"], "y", 600)
    assert table.digest(["a"], "y", 601) != other.digest(["a"], "y", 601)
    assert table.digest(["flag"], "y", 601) == other.digest(["flag"], "y", 601)
    assert table.digest(["a"], "y", 0) == other.digest(["a"], "y", 0)
    assert table.digest(["a"], "y", N) != table.digest(["a"], "y", N + 1).replace(f"{N}:", f"{N + 1}:")


def duplicates(kind: str, folder: Path) -> object:
    twice = pa.table([[1.0], [2.0], [3.0]], names=["a", "b", "a"])
    if kind == "csv":
        (folder / "d.csv").write_text("a,b,a\n1,2,3\n")
        return folder / "d.csv"
    if kind == "parquet":
        pq.write_table(twice, folder / "d.parquet")
        return folder / "d.parquet"
    return twice if kind == "arrow" else pd.DataFrame([[1, 2, 3]], columns=["a", "b", "a"])


@pytest.mark.parametrize("kind", ["csv", "parquet", "arrow", "pandas"])
def test_duplicate_names_are_refused_with_both_positions(kind: str, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"columns 1 and 3 are both called 'a'; rename"):
        open_table(duplicates(kind, tmp_path))


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is empty"),
        (b"a,b\n", "header but no rows"),
        (b"\x00\x01\x02", "neither Parquet nor CSV"),
        (b"PAR1 and then nothing", "cannot be read as Parquet"),
        (b"a\n1,2\n3,4\n", r"row 1 \(without the header\) has 2 cells where the header has 1"),
        (b"a,b\n1,2\n1\n", r"row 2 \(without the header\) has 1 cells where the header has 2"),
    ],
)
def test_what_is_not_a_table_is_refused(content: bytes, words: str, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(content)
    with pytest.raises(DataError, match=words):
        open_table(path)


def test_other_wrong_sources_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"nothing\.csv: no such file"):
        open_table(tmp_path / "nothing.csv")
    with pytest.raises(DataError, match="cannot be read"):
        open_table(tmp_path)
    with pytest.raises(ConfigError, match=r"expected a path or a data frame.*not list"):
        open_table([1, 2])
    (tmp_path / "t.parquet").write_text("a,b\n1,2\n")
    with pytest.raises(DataError, match="neither Parquet nor CSV"):
        open_table(tmp_path / "t.parquet")


@pytest.mark.parametrize("row", [1, 2, 30_000, 39_999, 40_000])
def test_a_non_number_is_named_with_file_row_column_and_value(row: int, tmp_path: Path) -> None:
    lines = [f"{i},{i}.5,{i % 2 == 0},x" for i in range(40_000)]
    lines[row - 1] = "1,abc,true,x"
    path = tmp_path / "t.csv"
    path.write_text("\n".join(["a,b,flag,note", *lines]) + "\n")
    given: list[Batch] = []
    with pytest.raises(DataError, match=f"t.csv: row {row} .*column 'b': 'abc' is not a number") as caught:
        given.extend(open_table(path).batches(["flag", "b"], "a", size=1000))
    assert (caught.value.row, caught.value.column) == (row, "b")
    assert sum(len(batch.X) for batch in given) < row
    assert next(open_table(path).batches(["flag"], "a")).X.shape == (4096, 1)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("1,2,maybe", "column 'flag': 'maybe'"),
        ("1,2", "has 2 cells where the header has 3"),
        ("1,2,true,4", "has 4 cells where the header has 3"),
        ('"x y",?,true', "column 'a': 'x y'"),
    ],
)
def test_other_faults_far_down_are_named(line: str, words: str, tmp_path: Path) -> None:
    lines = ["3,4,true"] * 200_000
    lines[180_000 - 1] = line
    lines[100] = ""  # an empty line is no row
    path = tmp_path / "t.csv"
    path.write_text("\n".join(["a,b,flag", *lines]))
    with pytest.raises(DataError, match=f"row 179999 .*{words}"):
        list(open_table(path).batches(["b", "a", "flag"]))


def test_missing_values_and_spaces_in_csv(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text('a,b,empty\n1, 2 ,\nNA,"3",\n,nan,\n4,1e3,\n')
    X = next(open_table(path).batches(["a", "b", "empty"])).X
    np.testing.assert_array_equal(X, [[1, 2, np.nan], [np.nan, 3, np.nan], [np.nan, np.nan, np.nan], [4, 1000, np.nan]])


def test_whole_numbers_decimals_and_nullable_types_are_numbers(tmp_path: Path) -> None:
    columns = {
        "whole": pa.array([2**60 + 1, None], pa.int64()),
        "money": pa.array([None, 3], pa.decimal128(9, 2)),
        "small": pa.array([1, 2], pa.uint8()),
        "half": pa.array([0.5, None], pa.float32()),
        "nothing": pa.nulls(2),
        "class": pa.array(["a", "b"]).dictionary_encode(),
        "list": pa.array([[1], [2]]),
    }
    pq.write_table(pa.table(columns), tmp_path / "t.parquet")
    table = open_table(tmp_path / "t.parquet")
    assert [c.kind for c in table.columns] == ["number"] * 5 + ["text", "other"]
    X = next(table.batches(["whole", "money", "small", "half", "nothing"])).X
    np.testing.assert_array_equal(X, [[2.0**60, np.nan, 1, 0.5, np.nan], [np.nan, 3, 2, np.nan, np.nan]])


def test_parquet_reads_no_column_it_was_not_asked_for(tmp_path: Path) -> None:
    """A file whose second column is destroyed still gives its first."""
    path = tmp_path / "t.parquet"
    rows = pa.table({"good": np.arange(1000.0), "bad": np.random.default_rng(0).random(1000)})
    pq.write_table(rows, path, compression="none", use_dictionary=False)
    chunk = pq.ParquetFile(path).metadata.row_group(0).column(1)
    content = bytearray(path.read_bytes())
    content[chunk.data_page_offset : chunk.data_page_offset + 40] = b"\xff" * 40
    path.write_bytes(content)
    np.testing.assert_array_equal(next(open_table(path).batches(["good"])).X[:, 0], np.arange(1000.0))
    with pytest.raises(DataError, match="cannot be read as Parquet"):
        list(open_table(path).batches(["bad"]))


def test_the_separator_of_a_compressed_file_is_that_of_its_text(tmp_path):
    with gzip.open(tmp_path / "t.csv.gz", "wt") as file:
        file.write("a;b;y\n1;2;3\n")
    assert [c.name for c in open_table(tmp_path / "t.csv.gz").columns] == ["a", "b", "y"]


def test_a_file_that_was_changed_is_looked_at_again_even_if_its_size_and_date_are_the_same(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b,y\n1,2,3\n")
    assert [c.name for c in open_table(path).columns] == ["a", "b", "y"]
    stat = path.stat()
    path.write_text("a,c,y\n1,2,3\n")
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert [c.name for c in open_table(path).columns] == ["a", "c", "y"]


def test_no_thread_of_arrow_holds_memory_of_python(tmp_path, monkeypatch):
    """Releasing it needs the GIL, and a thread that takes the GIL while Python exits aborts the process (exit 134)."""
    path, read, wrapped = tmp_path / "t.csv", [], pa.BufferReader
    path.write_text("a,y\n1,2\n3,4\n")
    monkeypatch.setattr(pa, "BufferReader", lambda data: read.append(data) or wrapped(data))
    list(open_table(path).batches(["a"], "y"))
    assert read
    assert not any(isinstance(data, bytes) for data in read)


def test_a_column_of_text_names_the_schema_beside_the_file(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,day,y\n1,2024-01-01,2\n3,2024-01-02,4\n")
    with pytest.raises(DataError, match="and keyhole diagnose writes one"):
        open_table(path).usable("y")
    (tmp_path / "t.schema.toml").write_text("")
    with pytest.raises(DataError, match=r"there is .*t\.schema\.toml: give it with --schema"):
        open_table(path).usable("y")
