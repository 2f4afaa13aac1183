"""`keyhole algorithms`: everything in the catalogue is shown, in words or as data."""

import json
import re

import pytest
import typer
from typer.testing import CliRunner

import keyhole as kh
from keyhole.cli.algorithms import abbreviated, algorithms
from keyhole.core.registry.algorithm import CONDITIONS
from keyhole.core.registry.catalogue import options_of

from ...journeys.conftest import typed  # noqa: F401

app = typer.Typer()
app.command()(algorithms)


def printed(*arguments, width=200):
    result = CliRunner().invoke(app, arguments, env={"COLUMNS": str(width)})
    assert result.exit_code == 0
    return result.stdout


def test_the_json_is_the_catalogue():
    records = json.loads(printed("--json"))
    assert records == [a.to_dict() for a in kh.list_algorithms()]
    assert {"name", "setting", "assumptions", "bound", "cost", "reference", "status", "options"} <= set(records[0])


def test_the_table_names_every_algorithm_once_with_its_status():
    rows = [[cell.strip() for cell in line.split("│")[1:-1]] for line in printed().splitlines() if "│" in line]
    for a in kh.list_algorithms():
        assert [row[-1] for row in rows if row[0] == a.name] == [a.status]


def test_budgeted_learners_come_in_the_order_of_the_papers_tables():
    text = printed()
    places = [text.index(word) for word in ("Table 1", "│ ds-oslrc", "Table 2", "│ ds-poslrc", "references", "│ vaw")]
    assert places == sorted(places)


def test_every_letter_used_is_in_the_legend():
    text = printed()
    for a in kh.list_algorithms():
        assert abbreviated(a).count("(") == a.assumptions.count("(")
        assert all(f"({letter}) {CONDITIONS[letter]}" in text for letter in a.conditions)
        assert all(f"({letter}) {CONDITIONS[letter]}" in a.to_dict()["assumptions"] for letter in a.conditions)
    ours = next(a for a in kh.list_algorithms() if a.name == "ds-oslrc")
    assert ours.assumptions == "(a) realizable, (b) sparse, (d) compatibility, (f) Gaussian noise; 3 <= k <= d-3"
    assert abbreviated(ours) == "(a), (b), (d), (f); 3 <= k <= d-3"


def test_at_80_columns_every_algorithm_has_a_block_that_fits():
    text = printed(width=80)
    assert max(map(len, text.splitlines())) <= 80
    for a in kh.list_algorithms():
        assert f"{a.name}   ({a.status})" in text
        assert " ".join(a.bound.split()) in " ".join(text.split())


def test_one_algorithm_is_shown_with_its_options():
    text = printed("ds-oslrc", width=80)
    assert text.count("(verified)") == 1
    for option in options_of("ds-oslrc"):
        assert re.search(rf"\n  ([a-z_]+, )*{option}[:,]", text)
    assert [r["name"] for r in json.loads(printed("thrifty", "--json"))] == ["thrifty"]
    result = CliRunner().invoke(app, ["thifty"])
    assert "did you mean 'thrifty'" in str(result.exception)


def test_every_algorithm_says_what_its_size_takes():
    """The same numbers as in Python and over HTTP, and nothing is built: some of these would take years."""
    lines = dict(line.split(maxsplit=1) for line in printed("-d", "6000", "-k", "5").splitlines())
    expected = {a.name: kh.footprint(a.name, 6000, None if a.buys_all else 5) for a in kh.list_algorithms()}
    infeasible = {"foster2016", "support-bandit"}
    assert lines == {name: "infeasible" if name in infeasible else str(size) for name, size in expected.items()}
    for line in (lines[name] for name in expected.keys() - infeasible):
        assert re.fullmatch(r"[\d.]+ [MG]B, [\d.e-]+ s to build and [\d.e-]+ s for a slow round", line)
    assert printed("vaw", "-d", "6000").split() == ["vaw", *lines["vaw"].split()]
    for record in json.loads(printed("-d", "6000", "-k", "5", "--json")):
        size = expected[record["name"]]
        assert (record["memory"], record["round_seconds"]) == (size.memory, size.round_seconds)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["-d", "10", "-k", "20"], "-k must be between 1 and 10, the number of attributes; it is 20"),
        (["thrifty", "-d", "10", "-k", "20"], "-k must be between 1 and 10, the number of attributes; it is 20"),
        (["thrifty", "-k", "5"], "-k needs -d D"),
        (["-k", "5"], "-k needs -d D"),
        (["vaw", "-d", "10", "-k", "5"], "'vaw' buys every attribute; omit -k"),
    ],
)
def test_a_number_of_purchases_that_is_not_used_is_refused(words, sentence):
    result = CliRunner().invoke(app, words)
    assert isinstance(result.exception, kh.ConfigError)
    assert sentence in str(result.exception)


def test_few_attributes_need_no_k():
    assert printed("aer", "-d", "3") == printed("aer", "-d", "3", "-k", "3")


def test_a_run_of_a_learner_larger_than_the_machine_is_refused(typed, tmp_path, monkeypatch):  # noqa: F811
    monkeypatch.setattr("keyhole.core.registry.catalogue.machine_memory", lambda: 1e6)
    monkeypatch.setattr("keyhole.core.registry.catalogue._built", lambda *_: pytest.fail("it was built"))
    names = [f"x{i}" for i in range(300)]
    rows = [",".join([*names, "y"]), *[",".join([str(i / 20)] * 301) for i in range(20)]]
    (tmp_path / "wide.csv").write_text("\n".join(rows))
    code, _, err = typed("run", "wide.csv", "--target", "y", "--algorithm", "vaw", "--out", "out")
    assert code == 2
    assert "'vaw' with d = 300 takes about 1.56 MB, 0.002 s to build" in err
    assert "this machine has 0.0 GB" in err
    assert err.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_learners_that_take_raw_columns_say_so():
    for a in kh.list_algorithms():
        assert ("raw columns" in a.takes) == a.raw_columns
    assert "raw columns" in printed(width=80)


def test_options_that_share_a_text_share_a_line():
    text = printed("thrifty", width=80)
    assert "  prices, budget_per_row: A price per source" in text
    assert text.count("A price per source") == 1
    assert "\n  label: " in text
    assert "\n  label: " not in printed("aer", width=80)


def test_a_size_beyond_all_machines_is_infeasible():
    lines = printed("-d", "6000").splitlines()
    assert any(line.split() == ["foster2016", "infeasible"] for line in lines)
    assert not any("000000" in line for line in lines)
