"""Schema and price files: read by the letter, written so that they come back, every wrong line told with its place."""

from datetime import date
from math import inf
from pathlib import Path

import pytest

from keyhole.data.streams import Attribute, Label, Panel, Range, Schema, read_prices
from keyhole.errors import ConfigError

CLINIC = """
# what the clinic orders
ignored = ["notes"]
[file]
encoding = "latin-1"
[label]
name = "cost"
unit = "EUR"
numbers = "1,234.56"
[money]
currency = "EUR"
[sources.lipids]
price = 12.0       # since January
columns = ["ldl", "hdl", "trig"]
[attributes.age]
free = true
low = 0
[attributes.sex]
type = "category"
values = ["f", "m", 3]
[attributes.smoker]
type = "yes/no"
price = 0
[attributes.visit]
type = "date"
origin = 2024-01-31
[attributes.ldl]
high = 9.5
"""


def test_every_key_is_read_and_written_back() -> None:
    schema = Schema.from_toml(CLINIC)
    expected = Schema(
        Label("cost", unit="EUR", numbers="1,234.56"),
        (
            Attribute("age", low=0.0, free=True),
            Attribute("sex", type="category", values=("f", "m", "3")),
            Attribute("smoker", type="yes/no", price=0.0),
            Attribute("visit", type="date", origin=date(2024, 1, 31)),
            Attribute("ldl", high=9.5),
            Attribute("hdl"),
            Attribute("trig"),
        ),
        ("notes",),
        (Panel("lipids", ("ldl", "hdl", "trig"), 12.0),),
        currency="EUR",
        encoding="latin-1",
    )
    assert schema == expected
    assert Schema.from_toml(schema.to_toml()) == schema
    assert (schema.unit, schema.currency, schema.attributes[0].high) == ("EUR", "EUR", inf)


def test_a_schema_and_prices_of_0_1_0_still_load() -> None:
    text = """# What `keyhole run` may know of the table beforehand. Edit freely.
ignored = ["id"]

[label]
name = "y"
low = 0.0
high = 10.0
center = 2.0

[attributes]
"a b" = {low = 0.0, high = 2.0, price = 1.0}
"c" = {low = -1.0, high = 9.0, center = 0.0, price = 3.5}
"""
    attributes = (Attribute("a b", 0.0, 2.0, price=1.0), Attribute("c", -1.0, 9.0, 0.0, 3.5))
    assert Schema.from_toml(text) == Schema(Range("y", 0.0, 10.0, 2.0), attributes, ("id",))


def test_comments_and_order_survive_where_a_file_is_written_again(tmp_path: Path) -> None:
    path = tmp_path / "s.toml"
    path.write_text(CLINIC)
    before = Schema.read(path)
    before.with_prices({"lipids": 15.0}).without(["visit"]).write(path)
    text = path.read_text()
    assert "# what the clinic orders" in text
    assert "price = 15.0       # since January" in text
    assert "[attributes.visit]" not in text
    assert Schema.read(path) == before.with_prices({"lipids": 15.0}).without(["visit"])
    again = text.replace("since January", "since May")
    path.write_text(again)
    Schema.read(path).write(path)
    assert path.read_text() == again


LABEL = '[label]\nname = "y"\n'
A = LABEL + "[attributes]\n"
B = A + "a = {}\n"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[label\n", r" is not TOML: .*line 1"),
        ("[attributes]\na = {low = 0}", r": it needs a table with the name of the target column: \[label\]"),
        ('[label]\nunit = "x"\n[attributes]\na = {}', r", \[label\]: it needs name"),
        ('label = "y"\n[attributes]\na = {}', r": label must be a table with the name of the target"),
        ("[label]\nname = 3\n[attributes]\na = {}", r", \[label\]: name must be text in quotes, not 3"),
        (
            '[label]\nname = "y"\nprice = 3\n[attributes]\na = {}',
            r", \[label\]: 'price' is not known here; there can be",
        ),
        (
            '[label]\nname = "y"\nnumbers = "1.2"\n[attributes]\na = {}',
            r", \[label\]: numbers must be one of '1,234.56'",
        ),
        (LABEL, r", \[attributes\]: there are no attributes"),
        ("attributes = 3\n" + LABEL, r': attributes must be a table with lines such as "age"'),
        (A + 'a = {low = "0"}', r", \[attributes\.a\]: low must be a number, not '0'"),
        (A + "a = {low = true}", r", \[attributes\.a\]: low must be a number, not True"),
        (A + "a = {low = 2024-01-01}", r", \[attributes\.a\]: low must be a number, not 2024-01-01"),
        (A + "a = {high = inf}", r", \[attributes\.a\]: high must be a finite number, not inf"),
        (A + f"a = {{low = {'9' * 400}}}", r", \[attributes\.a\]: low must be a number, not 9999"),
        (A + f"a = {{low = {'9' * 9000}}}", r" is not TOML: Exceeds the limit"),
        (A + "a = {lo = 0}", r", \[attributes\.a\]: 'lo' is not known here; did you mean low\?"),
        (A + "a = 3", r", \[attributes\]: a must be a table such as"),
        (A + "a = {low = 3, high = 2}", r", \[attributes\.a\]: low must not be above high"),
        (A + "a = {low = 0, high = 1, center = 2}", r", \[attributes\.a\]: center 2.0 lies outside"),
        (A + "a = {price = -1}", r", \[attributes\.a\]: price must be a finite number >= 0, not -1"),
        (A + "a = {price = nan}", r", \[attributes\.a\]: price must be a finite number >= 0"),
        (A + 'a = {type = "categry"}', r", \[attributes\.a\]: type must be one of .*'category'.*, not 'categry'"),
        (A + 'a = {free = "yes"}', r", \[attributes\.a\]: free must be true or false, not 'yes'"),
        (A + "a = {free = true, price = 3}", r", \[attributes\.a\]: a free attribute has no price"),
        (A + 'a = {numbers = "1.2"}', r", \[attributes\.a\]: numbers must be one of"),
        (A + 'a = {type = "category", values = ["f", "f"]}', r", \[attributes\.a\]: values has 'f' twice"),
        (A + 'a = {type = "category", values = "f"}', r", \[attributes\.a\]: values must be a list, not 'f'"),
        (A + 'a = {type = "category", values = [1.5]}', r", \[attributes\.a\]: entry 1 of values must be text"),
        (A + 'a = {type = "category", values = []}', r", \[attributes\.a\]: values must be 1 to 1000 words"),
        (A + 'a = {type = "category", values = [" f"]}', r", \[attributes\.a\]: values has ' f'"),
        (A + 'a = {values = ["f"]}', r", \[attributes\.a\]: a column of type number has no values"),
        (A + 'a = {type = "category", low = 0}', r", \[attributes\.a\]: a column of type category has no low"),
        (
            A + 'a = {type = "yes/no", origin = 2024-01-01}',
            r", \[attributes\.a\]: a column of type yes/no has no origin",
        ),
        (A + 'a = {type = "date", origin = "soon"}', r", \[attributes\.a\]: origin must be a date such as"),
        (A + 'sex = {type = "category", values = ["f"]}\n"sex=f" = {}', r", \[attributes\]: two are called 'sex=f'"),
        (A + "y = {}", r", \[label\] and \[attributes\.y\]: 'y' occurs twice"),
        ('ignored = ["a"]\n' + B, r", \[attributes\.a\] and ignored: 'a' occurs twice"),
        ('ignored = "y"\n' + B, r": ignored must be a list of column names, not 'y'"),
        ("ignored = [3]\n" + B, r": entry 1 of ignored must be text in quotes, not 3"),
        ("more = 1\n" + B, r": 'more' is not known here"),
        (
            B + '[sources.p]\nprice = "x"\ncolumns = ["a"]',
            r", \[sources\.p\]: price must be a finite number >= 0, not 'x'",
        ),
        (B + "[sources.p]\nprice = 1", r", \[sources\.p\]: it needs columns"),
        (B + "[sources.p]\ncolumns = [3]", r", \[sources\.p\]: entry 1 of columns must be text in quotes"),
        (B + "[sources.p]\ncolumns = []", r", \[sources\.p\]: columns must name at least one"),
        (B + '[sources.p]\ncolumns = ["b", "b"]', r", \[sources\.p\]: columns has 'b' twice"),
        (B + '[sources.p]\ncolumns = ["y"]', r", \[label\] and \[attributes\.y\]: 'y' occurs twice"),
        (
            B + '[sources.p]\ncolumns = ["b"]\n[sources.q]\ncolumns = ["b"]',
            r", \[sources\.q\]: 'b' is in \[sources\.p\]",
        ),
        (
            A + 'a = {price = 2}\n[sources.p]\ncolumns = ["a"]',
            r", \[attributes\.a\]: its price is that of \[sources\.p\]",
        ),
        (
            A + 'a = {free = true}\n[sources.p]\ncolumns = ["a"]',
            r", \[attributes\.a\]: it is free, so it cannot belong to \[sources\.p\]",
        ),
        (B + '[sources.a]\ncolumns = ["b"]', r", \[sources\.a\]: a column has that name and is not in it"),
        (B + "[sources]\np = 3", r", \[sources\]: p must be a table such as \{price"),
        (B + "[money]\ncurrency = 3", r", \[money\]: currency must be text in quotes, not 3"),
        (B + '[money]\ncurency = "EUR"', r", \[money\]: 'curency' is not known here; did you mean currency\?"),
        ("a = " + "[" * 100_000, r" cannot be read as TOML: it is nested too deeply"),
        ("a" + ".b" * 400_000 + " = 1", r" cannot be read as TOML: it is nested too deeply"),
    ],
)
def test_a_wrong_line_is_one_sentence_with_its_place(text: str, told: str, tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(text)
    with pytest.raises(ConfigError, match=r"s\.toml" + told) as caught:
        Schema.read(tmp_path / "s.toml")
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 400


def test_files_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"none\.toml: no such file"):
        Schema.read(tmp_path / "none.toml")
    (tmp_path / "p.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ConfigError, match=r"p\.toml cannot be read as text"):
        read_prices(tmp_path / "p.toml")


def test_prices_are_read_by_name(tmp_path: Path) -> None:
    path = tmp_path / "p.toml"
    path.write_text('age = 2\n"blood pressure" = 5.5\n')
    assert read_prices(path) == {"age": 2.0, "blood pressure": 5.5}
    for wrong in ('age = "2"', "age = -1", "age = inf", "age = [1]", "age = true", "[age]\nprice = 3"):
        path.write_text(wrong)
        with pytest.raises(ConfigError, match=r"p\.toml: the price of 'age' must be a finite number >= 0, not"):
            read_prices(path)


def test_a_header_of_a_file_of_prices_is_refused(tmp_path: Path) -> None:
    (tmp_path / "p.toml").write_text("[prices]\nglucose = 2.0\n")
    with pytest.raises(ConfigError, match=r"p\.toml: .* no table headers .*: write glucose = 2\.0"):
        read_prices(tmp_path / "p.toml")


def test_a_star_prices_every_source_without_a_price() -> None:
    attributes = (Attribute("age", free=True), Attribute("ldl"), Attribute("hdl"), Attribute("bmi", price=3.0))
    schema = Schema(
        Range("y"), (*attributes, Attribute("pulse"), Attribute("weight")), (), (Panel("lipids", ("ldl", "hdl")),)
    )
    priced = schema.with_prices({"pulse": 2.0, "*": 0.5})
    assert priced.source_prices == {"lipids": 0.5, "bmi": 3.0, "pulse": 2.0, "weight": 0.5}
