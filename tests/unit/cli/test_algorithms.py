"""`keyhole algorithms`: everything in the catalogue is shown, in words or as data."""

import json

import typer
from typer.testing import CliRunner

import keyhole as kh
from keyhole.cli.algorithms import abbreviated, algorithms
from keyhole.core.registry.algorithm import CONDITIONS
from keyhole.core.registry.catalogue import options_of

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
        assert f"\n  {option} " in text
    assert [r["name"] for r in json.loads(printed("thrifty", "--json"))] == ["thrifty"]
    result = CliRunner().invoke(app, ["thifty"])
    assert "did you mean 'thrifty'" in str(result.exception)
