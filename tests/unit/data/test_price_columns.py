"""Columns of prices: declared, written back, completed by their mean, read row by row, refused with one sentence."""

import numpy as np
import pytest

from keyhole.core.sources import LARGEST_PRICE
from keyhole.data.columns import Attribute, Label, Panel
from keyhole.data.streams import DataError, Range, Schema, open_table
from keyhole.errors import ConfigError

TEXT = """\
# the prices of the day
ignored = ["id"]
[label]
name = "y"
[money]
currency = "EUR"
[sources.lipids]  # one tube
price = 12.0
price_column = "lipids_eur"
columns = ["ldl", "hdl"]
[attributes.age]
free = true
[attributes.bmi]
price = 0.5
[attributes.glucose]
price_column = "glucose_eur"
"""
ROWS = """\
id,age,ldl,hdl,bmi,glucose,lipids_eur,glucose_eur,y
1,30,1,2,20,5,9.50,3,1
2,31,1,3,21,6,,4.5,2
3,32,2,2,22,7,NA,,3
4,33,2,3,23,8,0,3.3,4
"""


def open_text(tmp_path, text, schema=None):
    (tmp_path / "t.csv").write_text(text)
    return open_table(tmp_path / "t.csv", schema)


def test_a_price_column_is_no_attribute_and_is_written_back():
    schema = Schema.from_toml(TEXT)
    assert schema.price_column_of == {"lipids": "lipids_eur", "glucose": "glucose_eur"}
    assert schema.price_columns == ("lipids_eur", "glucose_eur")
    assert schema.names == ("age", "bmi", "glucose", "ldl", "hdl")
    assert schema.priced
    assert Schema.from_toml(schema.to_toml()) == schema
    assert schema == Schema(
        Label("y"),
        (Attribute("age", free=True), Attribute("bmi", price=0.5), Attribute("glucose", price_column="glucose_eur")),
        ("id",),
        (Panel("lipids", ("ldl", "hdl"), 12.0, "lipids_eur"),),
        currency="EUR",
    )


def test_a_file_keeps_its_comments_and_its_price_columns(tmp_path):
    path = tmp_path / "s.toml"
    path.write_text(TEXT)
    Schema.read(path).with_prices({"glucose": 3.25}).write(path)
    assert path.read_text().startswith(TEXT + "price = 3.25\n")
    assert Schema.read(path).price_column_of == {"lipids": "lipids_eur", "glucose": "glucose_eur"}


def test_the_usual_price_is_the_one_stated_or_the_mean_of_the_column(tmp_path):
    schema = Schema.from_toml(TEXT)
    assert not schema.is_complete
    with pytest.raises(ConfigError, match=r"\[attributes\.glucose\]: its usual price is missing; state price"):
        _ = schema.catalog
    known = schema.complete(open_text(tmp_path, ROWS))
    assert known.is_complete
    assert known.source_prices == {"lipids": 12.0, "bmi": 0.5, "glucose": pytest.approx((3 + 4.5 + 3.3) / 3)}
    assert known.price_columns == schema.price_columns
    empty = ROWS.replace(",3,1\n", ",,1\n").replace(",4.5,", ",,").replace(",3.3,", ",,")
    with pytest.raises(DataError, match="the column of prices 'glucose_eur' is empty in every row; state price"):
        schema.complete(open_text(tmp_path, empty))


def test_the_mean_is_that_of_all_rows_however_many_blocks_they_fill(tmp_path):
    lines = "".join(f"{i},30,1,2,20,5,9,{1 if i < 5000 else 4 if i < 9000 else ''},1\n" for i in range(12_000))
    table = open_text(tmp_path, ROWS.splitlines()[0] + "\n" + lines)
    assert Schema.from_toml(TEXT).complete(table).source_prices["glucose"] == (5000 + 4 * 4000) / 9000


def test_each_row_has_its_prices_and_an_empty_cell_means_the_usual_one(tmp_path):
    table = open_text(tmp_path, ROWS)
    schema = Schema.from_toml(TEXT).complete(table)
    usual = schema.source_prices["glucose"]
    table = open_table(tmp_path / "t.csv", schema)
    (whole,) = table.batches((*schema.names, *schema.price_columns), "y")
    batch = table.split_prices(whole)
    assert schema.catalog.sources == ("bmi", "glucose", "lipids")
    expected = [[0.5, 3.0, 9.5], [0.5, 4.5, 12.0], [0.5, usual, 12.0], [0.5, 3.3, 0.0]]
    assert batch.prices.tolist() == expected
    assert batch.X.tolist()[0] == [30.0, 20.0, 5.0, 1.0, 2.0]
    (plain,) = table.batches(schema.names, "y")
    assert plain.prices is None
    assert np.array_equal(plain.X, batch.X)


@pytest.mark.parametrize("kind", ["parquet", "pandas"])
def test_other_tables_bring_prices_too(tmp_path, kind):
    pd = pytest.importorskip("pandas")
    open_text(tmp_path, ROWS)
    frame = pd.read_csv(tmp_path / "t.csv")
    frame.to_parquet(tmp_path / "t.parquet")
    source = frame if kind == "pandas" else tmp_path / "t.parquet"
    schema = Schema.from_toml(TEXT).complete(open_table(source))
    table = open_table(source, schema)
    (batch,) = map(table.split_prices, table.batches((*schema.names, *schema.price_columns), "y"))
    assert batch.prices[:, 2].tolist() == [9.5, 12.0, 12.0, 0.0]


def test_two_sources_may_share_a_column_and_prices_may_be_written_as_numbers_are(tmp_path):
    text = TEXT.replace('price_column = "glucose_eur"', 'price = 1.0\nprice_column = "lipids_eur"')
    rows = ROWS.replace("glucose_eur,", "").replace("9.50,3,", '"1.009,50",').replace(",4.5,", ",")
    rows = rows.replace("NA,,", "ask,").replace(",0,3.3,", ",0,")
    schema = Schema.from_toml(text)
    with pytest.raises(DataError, match=r"'1.009,50' is not a number; .*numbers = \"1.234,56\" under \[money\]"):
        read_prices(tmp_path, rows, schema)
    schema = schema.written("1.234,56").with_missing(["ask"])
    assert Schema.from_toml(schema.to_toml()) == schema
    assert '[money]\ncurrency = "EUR"\nnumbers = "1.234,56"\nmissing = ["ask"]' in schema.to_toml()
    assert read_prices(tmp_path, rows, schema)[:, 1:].tolist() == [[1009.5] * 2, [1.0, 12.0], [1.0, 12.0], [0.0] * 2]


def read_prices(tmp_path, rows, schema):
    table = open_text(tmp_path, rows, schema)
    (batch,) = map(table.split_prices, table.batches((*schema.names, *schema.price_columns), "y"))
    return batch.prices


@pytest.mark.parametrize(
    ("cell", "words"),
    [
        (
            "-0.5",
            "-0.5 is not a price from 0 to 1e+100; correct it, or leave the cell empty if the usual price applies",
        ),
        ("inf", "inf is not a price"),
        ("2e100", "2e+100 is not a price"),
        ("dear", "'dear' is not a number; correct it, or leave the cell empty if the usual price applies"),
    ],
)
def test_a_wrong_price_is_named_with_its_row(tmp_path, cell, words):
    schema = Schema.from_toml(TEXT).with_prices({"glucose": 1.0})
    with pytest.raises(DataError) as caught:
        read_prices(tmp_path, ROWS.replace("NA", cell), schema)
    assert (caught.value.row, caught.value.column) == (3, "lipids_eur")
    assert f"t.csv: row 3 (without the header), column 'lipids_eur': {words}" in str(caught.value)
    largest = read_prices(tmp_path, ROWS.replace("NA", repr(LARGEST_PRICE)), schema)
    assert largest[2, 2] == LARGEST_PRICE


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("glucose_eur", "y", r"\[attributes\.glucose\]: its price_column 'y' is in \[label\] too"),
        ("glucose_eur", "bmi", r"\[attributes\.glucose\]: its price_column 'bmi' is in \[attributes\.bmi\] too"),
        ("glucose_eur", "hdl", r"\[attributes\.glucose\]: its price_column 'hdl' is in \[sources\.lipids\] too"),
        ("glucose_eur", "glucose", r"'glucose' is in \[attributes\.glucose\] too"),
        ("lipids_eur", "id", r"\[sources\.lipids\]: its price_column 'id' is in ignored too"),
        (
            "free = true",
            'free = true\nprice_column = "age_eur"',
            "free attribute has no price; remove free or price_col",
        ),
        (
            "[attributes.age]",
            '[attributes.ldl]\nprice_column = "ldl_eur"\n[attributes.age]',
            r"\[attributes\.ldl\]: its price is that of \[sources\.lipids\]; remove price_column",
        ),
        (
            "[attributes.age]",
            '[attributes.sex]\ntype = "category"\nvalues = ["f"]\nprice_column = "sex=f"\n[attributes.age]',
            "two are called 'sex=f'",
        ),
        ('price_column = "glucose_eur"', "price_column = 3", "price_column must be text in quotes, not 3"),
        ("price_column", "price_colum", "'price_colum' is not known here; did you mean price_column"),
    ],
)
def test_a_column_of_prices_is_nothing_else(old, new, words):
    with pytest.raises(ConfigError, match=words) as caught:
        Schema.from_toml(TEXT.replace(old, new))
    assert "\n" not in str(caught.value)


def test_a_missing_column_and_one_that_is_not_declared_are_named(tmp_path):
    schema = Schema.from_toml(TEXT)
    with pytest.raises(DataError, match="there is no column 'lipids_eur'"):
        schema.complete(open_text(tmp_path, ROWS.replace("lipids_eur", "lipids_usd")))
    less = Schema.from_toml(TEXT.replace('price_column = "glucose_eur"', "price = 3.0"))
    with pytest.raises(DataError, match="column 'glucose_eur' is missing from the schema"):
        less.complete(open_text(tmp_path, ROWS))


def test_a_source_that_is_gone_leaves_its_column_of_prices_ignored(tmp_path):
    schema = Schema.from_toml(TEXT)
    for less in (
        schema.with_free(["glucose"]),
        schema.without(["glucose"]),
        schema.without(["glucose", "glucose_eur"]),
    ):
        assert less.price_columns == ("lipids_eur",)
        assert "glucose_eur" in less.ignored
        less.complete(open_text(tmp_path, ROWS))
    assert "lipids_eur" in schema.without(["ldl", "hdl"]).ignored
    assert schema.without(["ldl"]).price_columns == schema.price_columns
    with pytest.raises(ConfigError, match="its price_column 'glucose_eur' is in ignored too"):
        schema.without(["glucose_eur"])


def test_a_schema_without_prices_of_rows_is_written_as_before():
    schema = Schema(Range("y"), (Attribute("a", price=1.0),), panels=(Panel("p", ("b",), 2.0),))
    assert "price_column" not in schema.to_toml()
    assert "[money]" not in schema.written("1.234,56").with_missing(["-"]).to_toml()
