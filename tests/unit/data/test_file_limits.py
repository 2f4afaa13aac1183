"""Files that are made to exhaust memory or time are refused in one sentence; a flag lifts the limits."""

import gzip
import resource
import subprocess
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from keyhole.data import csv_table
from keyhole.data.streams import open_table
from keyhole.data.table import DataError

from ...journeys.conftest import COMMAND, environment


def rows(path):
    return sum(len(batch.X) for batch in open_table(path).batches(["a", "b"]))


def test_a_header_of_a_million_names_is_refused_before_it_is_parsed(tmp_path):
    path = tmp_path / "wide.csv"
    path.write_text(",".join(f"c{i}" for i in range(1_000_000)) + "\n" + ",".join(["1"] * 1_000_000) + "\n")
    code = f"""
import resource
resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))
from keyhole.data.streams import open_table
open_table({str(path)!r})
"""
    found = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment(), timeout=1200
    )
    assert "has 1000000 columns, more than 100000; choose some of them" in found.stderr.splitlines()[-1]


def test_a_wide_parquet_file_is_refused_too(tmp_path, monkeypatch):
    monkeypatch.setattr(csv_table, "MAX_COLUMNS", 3)
    path = tmp_path / "wide.parquet"
    pq.write_table(pa.table({name: [1.0, 2.0] for name in "abcd"}), path)
    with pytest.raises(DataError, match="has 4 columns, more than 3"):
        open_table(path)
    monkeypatch.setenv("KEYHOLE_LARGE_FILES", "1")
    assert rows(path) == 2


@pytest.fixture
def bomb(tmp_path, monkeypatch):
    """A file that unpacks to hundreds of times its size."""
    monkeypatch.setattr(csv_table, "_EXPANSION_FROM", 1 << 20)
    path = tmp_path / "bomb.csv.gz"
    with gzip.open(path, "wb", compresslevel=9) as file:
        file.write(b"a,b\n")
        for _ in range(40):
            file.write(b"0,0\n" * (1 << 18))
    assert path.stat().st_size * csv_table.MAX_EXPANSION < 40 << 20
    return path


def test_a_gzip_bomb_is_refused_and_the_flag_lifts_the_limit(bomb, monkeypatch):
    with pytest.raises(DataError, match="unpacks to more than 100 times its size; unpack it yourself, or lift"):
        rows(bomb)
    monkeypatch.setenv("KEYHOLE_LARGE_FILES", "1")
    assert rows(bomb) == 40 << 18


def test_a_parquet_file_of_rows_that_take_no_room_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(csv_table, "_EXPANSION_FROM", 1 << 20)
    path, zeros = tmp_path / "zeros.parquet", pa.array([0.0] * 400_000)
    pq.write_table(pa.table({"a": zeros, "b": zeros}), path)
    with pytest.raises(DataError, match="zeros.parquet unpacks to more than 100 times its size; choose some rows"):
        open_table(path)
    monkeypatch.setenv("KEYHOLE_LARGE_FILES", "1")
    assert rows(path) == 400_000


def test_a_long_text_in_every_row_of_a_parquet_file_is_refused_before_it_is_written_out(tmp_path):
    """1.2 GB of text in a file of a few KB."""
    path, same = tmp_path / "long.parquet", pa.array([0] * 6000, pa.int32())
    text = pa.DictionaryArray.from_arrays(same, pa.array(["x" * 200_000]))
    pq.write_table(pa.table({"t": text, "a": same}), path, store_schema=False)
    usual, counted = pa.default_memory_pool(), pa.proxy_memory_pool(pa.default_memory_pool())
    pa.set_memory_pool(counted)
    try:
        with pytest.raises(DataError, match="long.parquet unpacks to more than 100 times its size; choose some rows"):
            list(open_table(path).chunks(["a", "t"], 0))
    finally:
        pa.set_memory_pool(usual)
    assert counted.max_memory() < 1 << 27


@pytest.mark.parametrize("dtype", [pa.string(), pa.large_string(), pa.dictionary(pa.int32(), pa.string())], ids=str)
def test_texts_of_a_parquet_file_come_in_the_types_of_the_file(tmp_path, dtype):
    path, words = tmp_path / "texts.parquet", ["", "north", "søuth", None, "north"] * 2000
    table = pa.table({"n": pa.array(range(10_000)), "t": pa.array(words).cast(dtype)})
    pq.write_table(table, path)
    found = pa.Table.from_batches(open_table(path).chunks(["t", "n"], 4500))
    assert found.equals(table.select(["t", "n"]).slice(4500))


def test_ordinary_compressed_files_are_read(tmp_path):
    path = tmp_path / "plain.csv.gz"
    with gzip.open(path, "wt") as file:
        file.write("a,b\n" + "".join(f"{i},{i * 0.37:.3f}\n" for i in range(300_000)))
    assert rows(path) == 300_000


def test_the_flag_of_the_command_line(tmp_path):
    path = tmp_path / "wide.csv"
    path.write_text(",".join(f"c{i}" for i in range(100_001)) + "\n" + ",".join(["1"] * 100_001) + "\n")
    words = ["run", str(path), "--target", "c0", "-k", "3", "--out", "out"]
    found = subprocess.run([*COMMAND, *words], capture_output=True, text=True, env=environment(), cwd=tmp_path)
    assert found.returncode == 2
    assert found.stderr.count("\n") == 1
    assert "keyhole --large-files" in found.stderr
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss < 2_000_000  # KB


def test_a_column_of_lists_of_words_is_read_as_it_is(tmp_path):
    columns = {"tags": pa.array([["x", "y"], None]), "kind": pa.array([7, 8]).dictionary_encode(), "a": [1.0, 2.0]}
    pq.write_table(pa.table(columns), tmp_path / "t.parquet")
    chunk = next(open_table(tmp_path / "t.parquet").chunks(["a", "tags", "kind"], 0))
    assert chunk.to_pydict() == {"a": [1.0, 2.0], "tags": [["x", "y"], None], "kind": [7, 8]}
