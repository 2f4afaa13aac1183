"""Every limit on money at once, and a run that stops: the purse is the one it had, and its books add up to the cent."""

import json
from math import fsum

import pyarrow.parquet as pq

from keyhole import runs
from tests.clinic import SCHEMA, write_clinic

from .test_lifecycle import Silent, assert_same, publish

LIMITS = {
    "error_cost": 0.00002,
    "total_budget": 900.0,
    "expected_rows": 300,
    "budget_per_row": 13.0,
    "k": 3,
    "k0": 1,
    "free": ["smoker"],
}


def test_a_run_that_stopped_pays_what_it_would_have_paid(tmp_path):
    clinic, schema = write_clinic(tmp_path / "clinic.csv", rows=300), tmp_path / "s.toml"
    schema.write_text(SCHEMA)
    asked = runs.prepare(runs.RunConfig(clinic, "cost", schema=schema, **LIMITS))
    assert runs.begin(asked, tmp_path / "whole", Silent(), publish)
    for stop in (2, 170):
        folder = tmp_path / f"cut{stop}"
        assert not runs.begin(asked, folder, Silent(stop), publish)
        assert runs.resume(folder, Silent(), publish)
        assert_same(folder, tmp_path / "whole")
    rounds = pq.read_table(tmp_path / "whole" / "rounds.parquet").to_pydict()
    ledger = pq.read_table(tmp_path / "whole" / "ledger.parquet").to_pydict()
    spent = fsum(rounds["price"])
    assert 0.0 < spent <= 900.0
    assert max(rounds["price"]) <= 13.0
    assert round(fsum(ledger["spent"]), 2) == round(spent, 2)
    summary = json.loads((tmp_path / "whole" / "summary.json").read_text())
    assert round(summary["spent"], 2) == round(spent, 2)
    assert {name: summary[name] for name in list(LIMITS)[:4]} == dict(list(LIMITS.items())[:4])
    assert summary["last_paid_row"] == max(i for i, price in enumerate(rounds["price"], 1) if price)
    assert summary["spent_before"] == 0.0
    again = runs.prepare(runs.RunConfig(clinic, "cost", model=tmp_path / "whole" / "model.kh"))
    assert runs.begin(again, tmp_path / "again", Silent(), publish)
    later = json.loads((tmp_path / "again" / "summary.json").read_text())
    assert round(later["spent_before"], 2) == round(spent, 2)
    assert later["spent_before"] + later["spent"] <= 900.0 + 1e-9
    assert not any("smoker" in bought for bought in (*rounds["bought"], *rounds["bought_after"]))
    assert any(rounds["bought_after"])
