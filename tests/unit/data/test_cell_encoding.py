"""Cells into numbers: categories, yes/no, dates and written numbers, in any carrier, from any row on."""

from datetime import date, datetime
from pathlib import Path

import numpy as np
import pytest

from keyhole.data.columns import FORMATS
from keyhole.data.streams import Attribute, DataError, Label, Panel, Range, Schema, open_table

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

from keyhole.data.cell_encoding import Wrong, as_days, as_numbers, encode, fits, hint  # noqa: E402

NAN = np.nan


@pytest.mark.parametrize(
    "cells", [["f", " m", None, "x", ""], pa.array(["f", "m", None, "x", None]).dictionary_encode()]
)
def test_a_category_is_one_indicator_per_value(cells: object) -> None:
    """Unseen is 0 in all of them, missing is missing in all of them."""
    column = Attribute("sex", type="category", values=("f", "m"))
    expected = [[1, 0], [0, 1], [NAN, NAN], [0, 0], [NAN, NAN]]
    np.testing.assert_array_equal(encode(pa.array(cells), column), expected)


def test_categories_may_be_numbers_or_flags_in_the_file() -> None:
    for cells, values in (([1, 2], ("1", "2")), ([1.0, 2.5], ("1", "2.5")), ([True, False], ("true", "false"))):
        np.testing.assert_array_equal(
            encode(pa.array(cells), Attribute("c", type="category", values=values)), np.eye(2)
        )


@pytest.mark.parametrize(
    "cells", [["Yes", "NO", "1", "0", "TRUE", "false", None, " "], [True, False, 1, 0, 1, 0, None, None]]
)
def test_yes_and_no_in_any_case_are_1_and_0(cells: list[object]) -> None:
    array = pa.array(cells if isinstance(cells[0], str) else [None if c is None else bool(c) for c in cells])
    np.testing.assert_array_equal(encode(array, Attribute("s", type="yes/no"))[:, 0], [1, 0, 1, 0, 1, 0, NAN, NAN])


def test_anything_but_yes_and_no_is_wrong() -> None:
    with pytest.raises(Wrong) as caught:
        encode(pa.array(["yes", None, "perhaps", "maybe"]), Attribute("s", type="yes/no"))
    assert (caught.value.place, caught.value.value) == (2, "perhaps")


@pytest.mark.parametrize(
    ("cells", "days"),
    [
        (["2024-01-31", None, "2024-02-01 12:00"], [1, NAN, 2.5]),
        (["31.01.2024", "1.2.2024", "2024-2-1"], [1, 2, 2]),
        (["2024-01-31T06:00:00", "1969-12-31"], [1.25, -19753]),
        ([date(2024, 1, 31), None], [1, NAN]),
        ([datetime(2024, 1, 31, 12), datetime(2024, 1, 29)], [1.5, -1]),
    ],
)
def test_dates_are_days_since_their_origin(cells: list[object], days: list[float]) -> None:
    column = Attribute("visit", type="date", origin=date(2024, 1, 30))
    np.testing.assert_allclose(encode(pa.array(cells), column)[:, 0], days, rtol=1e-15)


@pytest.mark.parametrize("cell", ["soon", "2024-02-30", "01/31/2024", "31.13.2024", "2024-01-31T12:30:00Z", "12"])
def test_what_is_no_date_is_wrong(cell: str) -> None:
    with pytest.raises(Wrong) as caught:
        as_days(pa.array(["2024-01-01", None, cell]))
    assert (caught.value.place, caught.value.value) == (2, cell)


@pytest.mark.parametrize(
    ("form", "cells", "numbers"),
    [
        ("1,234.56", ["47,731.96", "-1,000", "12.5", None, ".5"], [47731.96, -1000, 12.5, NAN, 0.5]),
        ("1,234.56", ["1e3", "1234567"], [1e3, 1234567]),
        ("1.234,56", ["47.731,96", "1,5", "+1234,5", "1.000.000"], [47731.96, 1.5, 1234.5, 1e6]),
        ("1 234,56", ["47 731,96", "1\u00a0000,5", "1\u202f000"], [47731.96, 1000.5, 1000]),
        ("1 234.56", ["47 731.96", "3"], [47731.96, 3]),
        ("1'234.56", ["1'234'567.5", "2"], [1234567.5, 2]),
    ],
)  # fmt: skip
def test_written_numbers_are_read_in_their_form(form: str, cells: list[str], numbers: list[float]) -> None:
    np.testing.assert_allclose(as_numbers(pa.array(cells), form), numbers, rtol=1e-15)
    assert form in fits(pa.array(cells))


OTHER = {
    "1,234.56": ["1,5", "1.234,5", "12,34,567", "EUR 5", "1 000"],
    "1.234,56": ["1.5", "1,234.5"],
    "1'234.56": ["1'23"],
}


@pytest.mark.parametrize(("form", "cell"), [(form, cell) for form, cells in OTHER.items() for cell in cells])
def test_a_number_in_another_form_is_wrong_not_guessed(form: str, cell: str) -> None:
    with pytest.raises(Wrong):
        as_numbers(pa.array(["1", "", cell]), form)


def test_a_hint_is_the_form_a_cell_is_written_in() -> None:
    assert [hint(c) for c in ("47,731.96", "1,5", "1.234,56", "1'000", "abc")] == [
        *FORMATS[:2],
        FORMATS[1],
        FORMATS[4],
        "",
    ]


# -- whole tables

SCHEMA = Schema(
    Label("cost", numbers="1,234.56"),
    (
        Attribute("age", 0.0, 100.0, free=True),
        Attribute("sex", type="category"),
        Attribute("smoker", type="yes/no"),
        Attribute("visit", type="date"),
    ),
    ("notes",),
    (Panel("lipids", ("ldl", "hdl"), 12.0),),
)
HEAD = "age,sex,smoker,visit,ldl,hdl,notes,cost"
LINES = [
    '40,f,yes,2024-01-31,1.5,2,"two\nlines","47,731.96"',
    "50,m,No,2024-02-01,,3,x,12.5",
    ",,,,,,,",
    "60,f,1,30.01.2024,2.5,4,x,1000",
]
NAMES = ("age", "sex=f", "sex=m", "smoker", "visit", "ldl", "hdl")
ROWS = [
    [40, 1, 0, 1, 0, 1.5, 2, 47731.96],
    [50, 0, 1, 0, 1, NAN, 3, 12.5],
    [NAN] * 8,
    [60, 1, 0, 1, -1, 2.5, 4, 1000],
]


def clinic(folder: Path, times: int = 1) -> Path:
    path = folder / "clinic.csv"
    path.write_text("\n".join([HEAD, *(LINES * times)]) + "\n")
    return path


def carriers(folder: Path, kind: str) -> object:
    """The same cells in a CSV file, or as Arrow columns of text in a Parquet file or a frame."""
    path = clinic(folder)
    if kind == "csv":
        return path
    import pyarrow.csv as csv

    words = csv.ConvertOptions(column_types={n: pa.string() for n in ("sex", "smoker", "visit", "notes", "cost")})
    table = csv.read_csv(path, parse_options=csv.ParseOptions(newlines_in_values=True), convert_options=words)
    if kind == "arrow":
        return table
    pq.write_table(table, folder / "clinic.parquet")
    return folder / "clinic.parquet"


@pytest.mark.parametrize("kind", ["csv", "parquet", "arrow"])
def test_a_table_is_what_its_schema_sees(kind: str, tmp_path: Path) -> None:
    source = carriers(tmp_path, kind)
    schema = SCHEMA.complete(open_table(source))
    assert schema.names == NAMES
    assert schema.attributes[1].values == ("f", "m")
    assert schema.attributes[3].origin == date(2024, 1, 31)
    table = open_table(source, schema)
    batch = next(table.batches(schema.names, "cost"))
    np.testing.assert_allclose(np.column_stack([batch.X, batch.y]), ROWS)
    assert batch.X.flags.c_contiguous
    some = next(table.batches(["sex=m", "ldl"], start=1))
    np.testing.assert_allclose(some.X, [[1, NAN], [NAN, NAN], [0, 2.5]])
    assert Schema.from_toml(schema.to_toml()) == schema


def test_a_row_becomes_the_same_numbers_wherever_reading_begins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("keyhole.data.csv_table.BLOCK", 1000)
    path = clinic(tmp_path, 200)
    schema = SCHEMA.complete(open_table(path))
    table = open_table(path, schema)
    whole = np.vstack([b.X for b in table.batches(schema.names, "cost", size=4096)])
    assert whole.shape == (800, 7)
    for start, size in ((0, 7), (1, 64), (333, 100), (799, 5)):
        parts = np.vstack([b.X for b in table.batches(schema.names, "cost", start, size)])
        assert parts.tobytes() == whole[start:].tobytes()


def test_new_values_do_not_change_a_complete_schema(tmp_path: Path) -> None:
    """Predicting: another file, another first date, an unseen category."""
    schema = SCHEMA.complete(open_table(clinic(tmp_path)))
    (tmp_path / "new.csv").write_text("visit,sex\n2024-03-01,d\n2024-01-31,m\n")
    X = next(open_table(tmp_path / "new.csv", schema).batches(["sex=f", "sex=m", "visit"])).X
    np.testing.assert_array_equal(X, [[0, 0, 30], [0, 1, 0]])


@pytest.mark.parametrize(
    ("line", "row", "told"),
    [
        ("40,f,perhaps,2024-01-31,1,2,x,3", 5, r"row 5 .*column 'smoker': 'perhaps' is not yes or no"),
        ("40,f,yes,soon,1,2,x,3", 5, r"column 'visit': 'soon' is not a date"),
        ('40,f,yes,2024-01-31,1,2,x,"1,5"', 5, r"column 'cost': '1,5' is not a number written as 1,234.56"),
        ('40,f,yes,2024-01-31,"1,500.5",2,x,3', 5, r"column 'ldl': '1,500.5' is not .* numbers = \"1,234.56\""),
    ],
)  # fmt: skip
def test_a_cell_that_is_not_what_its_column_declares_is_named_with_its_row(
    line: str, row: int, told: str, tmp_path: Path
) -> None:
    path = clinic(tmp_path)
    complete = SCHEMA.complete(open_table(path))
    path.write_text(path.read_text() + line + "\n")
    with pytest.raises(DataError, match=told) as caught:
        list(open_table(path, complete).batches(complete.names, "cost"))
    assert caught.value.row == row


def test_every_column_has_a_place_in_the_schema(tmp_path: Path) -> None:
    table = open_table(clinic(tmp_path))
    with pytest.raises(DataError, match="column 'notes' is missing from the schema"):
        Schema(SCHEMA.label, SCHEMA.attributes, (), SCHEMA.panels).complete(table)
    with pytest.raises(DataError, match="there is no column 'weight'"):
        Schema(Range("cost"), (Attribute("weight"),), ("notes",)).complete(table)
    with pytest.raises(DataError, match=r"column 'sex' holds text \(row 1: 'f'\); the schema or the model takes it"):
        open_table(clinic(tmp_path), Schema(SCHEMA.label, (Attribute("sex"),))).require(["sex"])
    (tmp_path / "c.csv").write_text('cost\n"47,731.96"\n')
    with pytest.raises(DataError, match=r"the target 'cost' holds text \(row 1: '47,731.96'\).*numbers = \"1,234.56\""):
        open_table(tmp_path / "c.csv").usable("cost")


def test_values_left_out_are_sorted() -> None:
    words = ["h", "c", "a", "g", "b", None, "f", "e", "d"]
    schema = Schema(Range("y"), (Attribute("c", type="category"),))
    assert schema.complete(open_table(pa.table({"c": words, "y": np.arange(9.0)}))).attributes[0].values == tuple(
        "abcdefgh"
    )


def test_a_category_with_too_many_values_or_none_is_refused(tmp_path: Path) -> None:
    many = pa.table({"c": [f"v{i}" for i in range(1001)], "e": pa.nulls(1001, pa.string()), "y": np.arange(1001.0)})
    for name, told in (("c", "more than 1000 different values"), ("e", "is empty in every row")):
        other = "e" if name == "c" else "c"
        with pytest.raises(DataError, match=told):
            Schema(Range("y"), (Attribute(name, type="category"),), (other,)).complete(open_table(many))
