"""A messy file, encoded by its schema: a run that stopped goes on with the same encoding; other values are counted."""

import json

import pytest

from keyhole import runs
from keyhole.data.streams import Schema
from keyhole.runs.predict import Frozen
from tests.clinic import SCHEMA, write_clinic

from .test_lifecycle import Silent, assert_same, publish

LISTED = SCHEMA.replace(
    '[attributes.site]\ntype = "category"', '[attributes.site]\ntype = "category"\nvalues = ["east"]'
)


@pytest.fixture
def clinic(tmp_path):
    return write_clinic(tmp_path / "clinic.csv", rows=300)


def plan(clinic, text):
    schema = clinic.with_name("s.toml")
    schema.write_text(text)
    return runs.prepare(runs.RunConfig(clinic, "cost", k=3, schema=schema))


def test_a_run_that_stopped_goes_on_with_the_same_encoding(clinic, tmp_path):
    asked = plan(clinic, SCHEMA)
    assert runs.begin(asked, tmp_path / "whole", Silent(), publish)
    assert not runs.begin(asked, tmp_path / "cut", Silent(150), publish)
    clinic.with_name("s.toml").write_text("# gone")  # the run has its own copy, values and origins included
    assert runs.resume(tmp_path / "cut", Silent(), publish)
    assert_same(tmp_path / "cut", tmp_path / "whole")
    kept = Frozen.read(tmp_path / "cut" / "model.kh").scaling.schema
    assert kept == asked.schema
    assert kept.is_complete
    assert {a.name: a.values for a in kept.attributes}["site"] == ("east", "north", "south")


def test_values_that_are_not_listed_count_as_other_and_are_counted_once(clinic, tmp_path):
    asked = plan(clinic, LISTED)
    assert asked.schema != Schema.from_toml(SCHEMA)
    assert not runs.begin(asked, tmp_path / "cut", Silent(150), publish)
    assert runs.resume(tmp_path / "cut", Silent(), publish)
    lines = clinic.read_text().split("\n")
    others = sum(",north," in line or ",south," in line for line in lines)
    warnings = json.loads((tmp_path / "cut" / "summary.json").read_text())["warnings"]
    assert f"'site' had a value in {others} rows that is not one of its values (east): it counts as other" in warnings
