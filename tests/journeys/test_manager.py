"""Journey 7: a messy clinic file, from `diagnose` to what money buys and a run whose ledger adds up to the cent."""

import json
from fractions import Fraction

import pyarrow.parquet as pq
import pytest

import keyhole as kh
from keyhole._internal.formatting import number
from tests.clinic import SCHEMA, write_clinic

TOTAL = 50_000
PRICES = {"lipids": "12", "inflammation": "9.5", "smoker": "0.5", "visit": "0.1", "ph": "2", "protein": "2"}
PRICES |= {"site": "0.2", "income": "1", "weight": "1.5"}
BRINGS = {
    "lipids": {"ldl", "hdl", "trig"},
    "inflammation": {"crp", "wbc"},
    "site": {"site=east", "site=north", "site=south"},
}


def cents(bought):
    """What a row's attributes cost by the manager's price list, exactly; a panel in part is refused."""
    left, price = set(bought), Fraction(0)
    for source, amount in PRICES.items():
        brings = BRINGS.get(source, {source})
        if brings & left:
            assert brings <= left, f"{source} was bought in part"
            left, price = left - brings, price + Fraction(amount)
    assert not left  # nothing else was bought, and nothing that is known
    return price


@pytest.fixture
def clinic(tmp_path):
    write_clinic(tmp_path / "clinic.csv", rows=2500)
    (tmp_path / "manager.toml").write_text(SCHEMA)
    return tmp_path


def test_the_ledger_adds_up_to_the_cent_and_the_total_holds(keyhole, clinic):
    told = keyhole("diagnose", "clinic.csv", "--target", "cost").stdout
    assert "proposed for 'sex': category: f, m" in told
    limits = ("--error-cost", "0.00001", "--total-budget", TOTAL, "--expected-rows", 2500)
    out = keyhole(
        "run", "clinic.csv", "--schema", "manager.toml", "--target", "cost", *limits, "--out", "runs/a"
    ).stdout
    assert "Buy " in out
    assert "sources" in out
    folder = clinic / "runs" / "a"
    rounds = pq.read_table(folder / "rounds.parquet").to_pydict()
    paid = [cents([*before, *after]) for before, after in zip(rounds["bought"], rounds["bought_after"], strict=True)]
    assert all(
        abs(Fraction(price) - exact) < Fraction(1, 10**9) for price, exact in zip(rounds["price"], paid, strict=True)
    )
    spent = sum(paid)
    assert 0 < spent <= TOTAL
    ledger = pq.read_table(folder / "ledger.parquet").to_pydict()
    assert round(sum(ledger["spent"]), 2) == round(float(spent), 2)
    by_source = {}
    for source, money in zip(ledger["source"], ledger["spent"], strict=True):
        by_source[source] = by_source.get(source, 0.0) + money
    summary = json.loads((folder / "summary.json").read_text())
    for source, facts in summary["sources"].items():
        assert round(facts["spent"], 2) == round(by_source.get(source, 0.0), 2)
    assert round(summary["spent"], 2) == round(float(spent), 2)
    assert summary["free"] == ["age", "sex=f", "sex=m"]
    assert {"smoker", "lipids"} <= {s for s, facts in summary["sources"].items() if facts["in_support"]}
    model = kh.load(folder / "model.kh")
    assert round(model.spent, 2) == round(float(spent), 2)


def test_frontier_then_a_run_that_stands_on_it(keyhole, clinic):
    asked = ("frontier", "clinic.csv", "--schema", "manager.toml", "--target", "cost", "--rounds", 400)
    out = keyhole(*asked, "--levels", 3, "--seeds", 1, "--out", "runs/frontier").stdout
    assert "a row costs (EUR)" in out
    assert "That is the choice at an error cost of " in out
    assert (clinic / "runs" / "frontier" / "report.html").exists()
    again = keyhole(*asked, "--levels", 3, "--seeds", 1, "--out", "runs/frontier").stdout
    assert again == out
    run = ("run", "clinic.csv", "--schema", "manager.toml", "--target", "cost", "--error-cost", "0.00001")
    keyhole(*run, "--out", "runs/visits")
    page = (clinic / "runs" / "visits" / "report.html").read_text()
    levels = kh.experiments.frontier_in(clinic / "runs" / "frontier").levels
    assert all(f"error cost {number(level.error_cost)}" in page for level in levels)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (
            ("--budget-per-row", "5"),
            "--budget-per-row M needs to know what things cost: give --prices FILE, or a schema with prices",
        ),
        (("--error-cost", "5"), "--error-cost M needs to know what things cost"),
        (("--total-budget", "5", "--expected-rows", "9"), "--total-budget M needs to know what things cost"),
        ((), "say how many attributes may be bought per row: -k K with 1 <= K <= 4, or what limits the money"),
    ],
)
def test_money_without_prices_is_refused(typed, tmp_path, words, told):
    names = ["a", "b", "c", "d", "y"]
    (tmp_path / "t.csv").write_text("\n".join([",".join(names), *(f"1,{i},3,{-i},{i}" for i in range(30))]) + "\n")
    code, _, said = typed("run", tmp_path / "t.csv", "--target", "y", *words, "--out", tmp_path / "r")
    assert code == 2
    assert told in said
    assert not (tmp_path / "r").exists()


def test_a_limit_in_money_brings_no_note_about_everything(typed, tmp_path):
    names = ["a", "b", "c", "d", "y"]
    (tmp_path / "t.csv").write_text("\n".join([",".join(names), *(f"1,{i},3,{-i},{i}" for i in range(30))]) + "\n")
    (tmp_path / "p.toml").write_text("a = 1\nb = 1\nc = 1\nd = 1\n")
    asked = ("run", tmp_path / "t.csv", "--target", "y", "--prices", tmp_path / "p.toml")
    _, _, said = typed(*asked, "--budget-per-row", "2", "--out", tmp_path / "r")
    assert "vaw" not in said
    code, _, said = typed(*asked[:-2], "-k", "1", "--free", "a,b,c,d", "--out", tmp_path / "t")
    assert code == 2
    assert "every column is free, so there is nothing to buy" in said
    code, _, said = typed(*asked, "--expected-rows", "9", "--out", tmp_path / "t")
    assert (code, "give --total-budget and --expected-rows together" in said) == (2, True)
    (tmp_path / "q.toml").write_text("a = 1\nb = 1\nd = 1\n")
    _, _, said = typed(*asked[:-1], tmp_path / "q.toml", "--budget-per-row", "2", "--out", tmp_path / "u")
    assert "warning: no price is given for c: 1 is taken" in said
    _, _, said = typed(*asked, "-k", "4", "--out", tmp_path / "s")
    assert "note: -k 4 buys every attribute; 'vaw' is made for that" in said
