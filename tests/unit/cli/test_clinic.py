"""A messy clinic file: `diagnose` proposes what each column is, the manager's schema holds, each slip in it is told."""

from pathlib import Path

import numpy as np
import pytest

from keyhole.data.streams import Schema, open_table, unpriced
from keyhole.errors import ConfigError
from tests.clinic import SCHEMA, write_clinic

pytest.importorskip("pyarrow")
typer = pytest.importorskip("typer")

from .test_diagnose import run  # noqa: E402


@pytest.fixture
def clinic(tmp_path: Path) -> Path:
    return write_clinic(tmp_path / "clinic.csv")


def test_diagnose_proposes_what_each_column_is(clinic: Path) -> None:
    said = run(clinic, "--target", "cost")
    assert "400 rows, 18 columns -> 17 usable attributes of 14 columns" in said
    for dropped in ("notes (text)", "patient (numbers the rows)", "ward (constant)"):
        assert dropped in said
    for line in (
        "proposed for the target: numbers written as 1,234.56",
        "proposed for 'sex': category: f, m",
        "proposed for 'smoker': yes/no",
        "proposed for 'visit': date, as days since 20",
        "proposed for 'site': category: east, north, south",
        "proposed for 'income': numbers written as 1,234.56",
        "proposed for 'weight': numbers written as 1.234,56",
    ):
        assert line in said
    schema = Schema.read(clinic.with_name("clinic.schema.toml"))
    assert schema.is_complete
    assert schema.complete(open_table(clinic)) == schema
    rows = np.vstack([b.X for b in open_table(clinic, schema).batches(schema.names, "cost")])
    assert np.nanmax(np.abs(schema.scale(rows))) == 1.0


def test_the_managers_schema_reads_the_file(clinic: Path) -> None:
    schema = Schema.from_toml(SCHEMA).complete(open_table(clinic))
    assert schema.free == ("age", "sex=f", "sex=m")
    assert list(schema.sources) == [
        "lipids", "inflammation", "smoker", "visit", "ph", "protein", "site", "income", "weight"
    ]  # fmt: skip
    assert schema.source_prices["lipids"] == 12.0
    assert (schema.currency, schema.unit) == ("EUR", "EUR")
    batches = list(open_table(clinic, schema).batches(schema.names, "cost"))
    X, y = np.vstack([b.X for b in batches]), np.concatenate([b.y for b in batches])
    used = ["age", "sex=m", "smoker", "ldl", "hdl", "crp", "visit"]
    A = np.column_stack([X[:, [schema.names.index(n) for n in used]], np.ones(len(X))])
    whole = ~np.isnan(A).any(axis=1)
    w = np.linalg.lstsq(A[whole], y[whole], rcond=None)[0]
    np.testing.assert_allclose(w[:7], [120, 1500, 6000, 2500, -1800, 900, 3], rtol=0.15)


def test_a_price_that_was_forgotten_is_said_to_count_as_one() -> None:
    assert not unpriced(Schema.from_toml(SCHEMA))
    assert not unpriced(Schema.from_toml('[label]\nname = "y"\n[attributes]\na = {}\n'))  # nobody speaks of money
    forgotten = SCHEMA.replace("price = 9.5\n", "").replace("[attributes.ph]\nprice = 2.0", "[attributes.ph]")
    (said,) = unpriced(Schema.from_toml(forgotten))
    assert said.startswith("no price is given for inflammation and ph: 1 is taken")


SLIPS = [
    ('name = "cost"', "nme = 'cost'", "[label]: 'nme' is not known here; did you mean name?"),
    ('unit = "EUR"', "unit = 3", "[label]: unit must be text in quotes, not 3"),
    ('numbers = "1,234.56"\n\n[money]', 'numbers = "1,2"\n[money]', "[label]: numbers must be one of"),
    ('currency = "EUR"', "currency = EUR", "is not TOML: Invalid value (at line 10, column 12)"),
    ("price = 12.0", 'price = "12"', "[sources.lipids]: price must be a finite number >= 0, not '12'"),
    ("price = 12.0", "prize = 12.0", "[sources.lipids]: 'prize' is not known here; did you mean price?"),
    ('["crp", "wbc"]', '"crp"', "[sources.inflammation]: columns must be a list, not 'crp'"),
    ('["crp", "wbc"]', '["crp", "ldl"]', "[sources.inflammation]: 'ldl' is in [sources.lipids] already"),
    ("[sources.lipids]", "[sources.age]", "[sources.age]: a column has that name and is not in it; rename the source"),
    ('["crp", "wbc"]', '["crp", "age"]', "[attributes.age]: it is free, so it cannot belong to [sources.inflammation]"),
    ('["crp", "wbc"]', '["crp"]', "column 'wbc' is missing from the schema"),
    ('["crp", "wbc"]', '["crp", "wbx"]', "there is no column 'wbx'; did you mean 'wbc'?"),
    ("free = true\n[attributes.sex]", "free = 1\n[attributes.sex]", "[attributes.age]: free must be true or false"),
    ('type = "yes/no"', 'type = "yesno"', "[attributes.smoker]: type must be one of"),
    ('type = "yes/no"', "", "column 'smoker' holds text (row 1: "),
    ('type = "date"', 'type = "yes/no"', "column 'visit': '20"),
    ("[attributes.ph]\nprice = 2.0", "[attributes.ph]\nprice = -2", "[attributes.ph]: price must be a finite number"),
    ('numbers = "1.234,56"', "", "column 'weight' holds text (row 1: "),
    ('numbers = "1.234,56"', 'numbers = "1,234.56"', "is not a number written as 1,234.56"),
    ('"ward", "notes"', '"notes"', "column 'ward' is missing from the schema"),
    ('"ward", "notes"', '"ward", "cost"', "[label] and ignored: 'cost' occurs twice"),
]  # fmt: skip


@pytest.mark.parametrize(("line", "slip", "told"), SLIPS, ids=[told[:40] for _, _, told in SLIPS])
def test_every_wrong_line_is_one_sentence_with_its_place(line: str, slip: str, told: str, clinic: Path) -> None:
    assert line in SCHEMA
    file = clinic.with_name("s.toml")
    file.write_text(SCHEMA.replace(line, slip, 1))

    def read() -> None:
        schema = Schema.read(file).complete(open_table(clinic))
        list(open_table(clinic, schema).batches(schema.names, schema.target))

    with pytest.raises(ConfigError) as caught:
        read()
    said = str(caught.value)
    assert told in said
    assert "\n" not in said
    assert "s.toml" in said or "clinic.csv" in said
