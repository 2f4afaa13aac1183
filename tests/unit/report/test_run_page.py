"""The report of a run says first what to do, and what it says is what the run found."""

import re
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from keyhole._internal.formatting import Units
from keyhole.core.introspection import Reason
from keyhole.data.streams import Attribute, Label, Schema
from keyhole.estimation.moment_regression import Moments
from keyhole.experiments.frontier_result import Choice, Frontier, Level, Point
from keyhole.report.page import Page, Section, Table, render
from keyhole.report.run_page import _frontier_beside, run_page
from keyhole.runs import RunData
from keyhole.runs.results import LedgerSums, RoundSums, stretches

NAMES = ("age", "weight", "a_name_so_long_that_somebody_would_have_cut_it_somewhere_in_the_middle", "noise")


def run(prices=(2.0, 5.0, 4.0, 9.0), n=320, **more):
    """A run of which everything is known."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(n, 4))
    y = 120 + 12 * X[:, 0] + 6 * X[:, 1] + 0.5 * X[:, 2] + 9 * rng.normal(size=n)
    attributes = tuple(Attribute(a, price=p) for a, p in zip(NAMES, prices, strict=True))
    schema = Schema(Label("bp", unit="mmHg"), attributes, currency="EUR")
    V = np.column_stack([np.ones(n), X, y])
    said = 120 + 12 * X[:, 0] + 6 * X[:, 1]
    price = np.full(n, 11.0)
    columns = {"row": np.arange(1, n + 1), "explored": np.zeros(n, bool), "prediction": said, "label": y}
    # noise is bought in all rows but the last tenth, the third attribute in every one
    bought = pa.array([NAMES if i < 0.9 * n else NAMES[:3] for i in range(n)], pa.list_(pa.string()))
    rounds = pa.table(columns | {"loss": (said - y) ** 2, "price": price, "bought": bought})
    moments, borders = Moments.of(V.T @ V), stretches(n)
    mse = float(np.mean((said - y) ** 2))
    facts = {"bought": n, "unobserved": 0, "clipped": 0, "price": 2.0, "spent": 2.0 * n, "weight": 12.0}
    summary = {
        "rows": n, "labelled": n, "scored": n, "first_row": "left out", "label_variance": float(y.var()),
        "hindsight": moments.final_prediction_error(np.arange(3)), "mse": mse,
        "mse_last_tenth": mse, "title": "visits", "target": "bp", "unit": "mmHg",
        "currency": "EUR", "algorithm": "thrifty", "learner": {"options": {}}, "k": 3, "d": 4, "budget_per_row": None,
        "error_cost": None, "panels": False, "free": [], "sources_per_row": 3.0,
        "sources": {a: {"in_support": a != "noise", "spent": 100.0} for a in NAMES},
        "attributes_per_row": 3.0, "price_per_row": 11.0, "spent": 11.0 * n, "support": list(NAMES[:3]),
        "basket": list(NAMES[:3]),
        "attributes": {NAMES[0]: facts} | {a: facts | {"weight": 0.0, "bought": 5} for a in NAMES[1:]},
        "baselines": {
            "nothing": {"mse": 260.0, "hindsight": 262.0, "attributes": 0, "price": 0, "sources": 0},
            "random": {"mse": 230.0, "hindsight": 231.0, "attributes": 3, "price": 12.0, "sources": 3},
            "best": {"mse": None, "hindsight": 82.0, "attributes": 3, "price": 11.0, "sources": 3},
            "everything": {"mse": 81.0, "hindsight": 83.0, "attributes": 4, "price": 20.0, "sources": 3},
        },
        "warnings": [f"'{a}' was missing in {i} of 50 rows" for i, a in enumerate(NAMES)] + ["no label in 3 rows"],
        "warned": [{"kind": "missing", "name": a} for a in NAMES] + [{"kind": "unlabelled", "name": ""}],
        "command": "keyhole run visits.csv",
    }  # fmt: skip
    reasons = [Reason(a, 1.0, 300, 2.0, i < 3, "because", 0.1) for i, a in enumerate(NAMES)]
    sums, ledger = RoundSums.of(rounds, borders, NAMES), LedgerSums.zero(borders, 4)
    return RunData(borders, schema, sums, ledger, moments, reasons, summary | more)


def test_the_first_sentence_says_what_to_buy_what_it_costs_and_what_the_rest_would_add():
    page = run_page(run())[0]
    assert re.fullmatch(
        r"Buy age and weight: 7\.00 EUR a row, typical error 9\.\d+ mmHg in hindsight, 1[67]\.\d mmHg without them\.",
        page.advice,
    )
    advice = page.details
    assert f"What else it buys ({NAMES[2]})" in advice
    assert "does not lower the error and costs 4.00 EUR a row" in advice  # by less than the errors show
    assert re.search(r"In hindsight, buying all 4 sources would .* and cost 13\.00 EUR more a row\.", advice)
    assert advice.endswith("Exploring noise took 3 % of the money so far; the predictions do not use it.")


def test_what_is_bought_now_is_the_support_and_what_most_of_the_last_rows_bought():
    data = run()
    assert data.bought_now([0, 1]) == list(NAMES[:3])  # the third is explored in every row
    assert data.bought_now([3]) == list(NAMES)
    idle = run(basket=["age", "weight"])
    assert f"Exploring {NAMES[2]} and noise took 6 % of the money so far" in run_page(idle)[0].details


def test_what_is_explored_at_the_end_is_not_said_to_be_idle():
    data = run()
    assert data.still_explored(["age", "weight"]) == [NAMES[2]]  # noise is bought in none of the last rows
    for n, explored in ((4, True), (3, False)):  # from a tenth of the 40 last rows on
        late = replace(data.rounds, late_rows=40, late_bought=np.array([40, 40, 40, n]))
        assert ("noise" in replace(data, rounds=late).still_explored(list(NAMES[:3]))) == explored
    page = run_page(run(basket=["age", "weight"], still_explored=[NAMES[2]]))[0]
    assert f"the predictions use none of them. The learner still explores {NAMES[2]}." in page.details
    table = next(s.table for s in page.sections if s.title == "What it bought, and why")
    assert table.head[2] == "used in predictions"
    assert [row[2] for row in table.rows] == ["yes", "yes", "yes", "no"]


def test_the_learners_estimates_are_told_from_the_advice():
    why = next(s for s in run_page(run())[0].sections if s.title == "What it bought, and why")
    assert f"the sources that its predictions use (age, weight and {NAMES[2]})" in why.notes[0]
    assert f"The two disagree on {NAMES[2]}, because" in why.notes[0]


def test_at_an_error_cost_the_sentence_weighs_error_against_money():
    dear = run(error_cost=0.01)
    page = run_page(dear)[0]
    assert page.advice.startswith("Buy nothing: the typical error is ")
    stop = (
        rf"Stop buying age, weight and {NAMES[2]}: that lowers the error by [\d.]+ mmHg, which is not worth 11\.00 EUR"
    )
    assert re.search(stop, page.details)
    cheap = run(error_cost=0.05)
    assert run_page(cheap)[0].advice.startswith("Buy age: 2.00 EUR a row")


def test_a_total_budget_is_stated_with_what_it_pays_for_and_when_it_was_spent():
    dear = {a: {"in_support": a != "noise", "spent": 100.0, "price": 2.0} for a in NAMES}
    page = run_page(run(total_budget=875.0, expected_rows=250.0, last_paid_row=250, spent=874.0, sources=dear))[0]
    table = page.sections[0].table
    assert table.rows[table.own][0] == "thrifty, 875 EUR for 250 rows"
    assert table.rows[1][0] == "random within 3.50 EUR a row (median of 20)"
    assert page.advice.endswith("The total budget, 875 EUR for 250 rows, pays for this in 50 % of the rows.")  # 7 a row
    assert page.details.endswith(
        "The total budget was spent by row 250; the last 70 rows bought nothing that has a price."
    )
    assert any("Total budget: 875 EUR for 250 rows" in text for text in page.lead)
    limits = {"total_budget": 875.0, "expected_rows": 250.0, "sources": dear}
    later = run_page(run(**limits, last_paid_row=9, spent=16.0, spent_before=858.0))[0]
    assert any(
        "875 EUR for 250 rows, of which the model had spent 858.00 EUR in earlier rows; " in t for t in later.lead
    )
    assert later.details.endswith(
        "The total budget was spent by row 9; the last 311 rows bought nothing that has a price."
    )
    never = run_page(run(**limits, last_paid_row=0, spent=0.0, spent_before=874.0))[0]
    assert "spent by row" not in never.details
    assert never.details.endswith(
        "because the total budget had only 1.00 EUR left, and every source that the learner buys costs more."
    )
    ample = run_page(run(total_budget=8750.0, expected_rows=250.0, last_paid_row=250, spent=874.0, sources=dear))[0]
    assert "otal budget" not in ample.advice + ample.details


def test_without_prices_nothing_speaks_of_money():
    page = render(run_page(run(prices=(None,) * 4))[0])
    assert "EUR" not in page
    assert "Buy age and weight (2 of 4): typical error" in page
    assert "saved" not in page
    assert "price" not in page


def test_money_is_added_up_beside_random_and_everything():
    page = run_page(run())[0]
    tiles = {tile.name: tile for tile in page.tiles}
    assert tiles["spent in all"].value == "3 520 EUR"  # 320 rows at 11
    assert tiles["saved against buying everything"].value == "2 880 EUR"  # 320 rows at 20, less that
    assert tiles["saved against buying everything"].note == "45 % less; typical error of buying everything: 9.00 mmHg"
    table = page.sections[0].table
    assert [row[-1] for row in table.rows] == ["0.00 EUR", "3 840 EUR", "3 520 EUR", "3 520 EUR", "6 400 EUR"]
    assert table.rows[table.own][0] == "thrifty, k = 3"


def test_the_error_online_stands_beside_the_one_in_hindsight():
    data = run()
    table = run_page(data)[0].sections[0].table
    assert list(table.head)[1:3] == ["typical error, mmHg", "error in hindsight, mmHg"]
    own = data.summary["mse"] ** 0.5, data.summary["hindsight"] ** 0.5
    pairs = [(260.0**0.5, 262.0**0.5), (230.0**0.5, 231.0**0.5), own, (None, 82.0**0.5), (9.0, 83.0**0.5)]
    for row, (online, hindsight) in zip(table.rows, pairs, strict=True):
        assert row[1] == "-" if online is None else float(row[1]) == pytest.approx(online, rel=1e-3)
        assert float(row[2]) == pytest.approx(hindsight, rel=1e-3)


def test_variance_explained_is_a_share_of_the_variance_of_the_label():
    """Not of what the free columns leave; those stand beside it."""
    data = run(free=["age"])
    tile = next(t for t in run_page(data)[0].tiles if t.name == "variance of the label explained")
    variance = data.summary["label_variance"]
    assert tile.value == f"{100 * (1 - data.summary['mse'] / variance):.0f} %"
    assert tile.note == f"the free columns alone: {100 * max(1 - 260.0 / variance, 0):.0f} %"


def test_a_page_says_that_the_first_row_is_left_out_where_it_is():
    assert any("its error is left out" in text for text in run_page(run())[0].lead)
    assert not any("its error is left out" in text for text in run_page(run(first_row="counts"))[0].lead)
    data = run()
    assert any("no centre of the label was stated" in text for text in run_page(data)[0].lead)
    estimated = replace(data, schema=replace(data.schema, label=Label("bp", 60, 200, 117.0, estimated=True)))
    assert any("centre of the label was estimated from the file" in text for text in run_page(estimated)[0].lead)


def test_names_are_never_cut():
    text = render(run_page(run())[0])
    assert text.count(NAMES[2]) >= 5
    assert "…" not in text


def test_warnings_of_a_kind_are_one_line_with_their_number():
    page = run_page(run())[0]
    warnings = next(s for s in page.sections if s.title == "Warnings: 5")
    assert list(warnings.bullets) == ["'age' was missing in 0 of 50 rows (and 3 more like it)", "no label in 3 rows"]
    folded = next(s for s in page.sections if "more warnings" in s.title)
    assert folded.folded
    assert list(folded.names) == list(NAMES[1:])


def test_warnings_without_a_kind_stand_alone_however_alike():
    texts = ["the solve of exploration 3 failed", "the solve of exploration 9 failed"]
    for warned in ({}, {"warned": [{"kind": "", "name": ""}] * 2}):
        data = run(warnings=texts)
        summary = {key: value for key, value in data.summary.items() if key != "warned"} | warned
        data = replace(data, summary=summary)
        warnings = next(s for s in run_page(data)[0].sections if s.title == "Warnings: 2")
        assert list(warnings.bullets) == texts


def test_what_the_run_knows_of_its_intervals_and_of_changes_is_shown():
    page = render(run_page(run(coverage={"0.9": 0.913}, alarms=[{"row": 200, "what": "the noise grew"}]))[0])
    assert "91.3 %" in page
    assert "Changes noticed: 1" in page
    assert "row 200: the noise grew" in page


def test_a_page_says_how_the_size_of_the_random_baskets_was_chosen():
    notes = run_page(run(error_cost=0.05, k=4, sources_per_row=2.94))[0].sections[0].notes
    assert any("shown is the size nearest to the run's 2.94 a row" in note for note in notes)
    for limits in ({}, {"error_cost": 0.05, "k": 3}, {"error_cost": 0.05, "k": 4, "budget_per_row": 7.0}):
        assert not any("nearest" in note for note in run_page(run(**limits))[0].sections[0].notes)


def test_probabilities_are_not_plotted_against_yes_and_no():
    bins = {name: [0.5] for name in ("predicted", "observed", "standard_error", "rows")}
    scores = {"auc": 0.8, "brier": 0.1, "log_loss": 0.4, "reliability": bins}
    assert "predicted" in run_page(run())[1]
    assert "predicted" not in run_page(run(probabilities=scores))[1]


def test_one_weight_is_named_in_its_title():
    data = run()
    summary = data.summary | {"attributes": {NAMES[0]: data.summary["attributes"][NAMES[0]]}}
    ledger = replace(data.ledger, weights=data.ledger.weights + 12.0)
    assert run_page(replace(data, summary=summary, ledger=ledger))[1]["weights"].title == "Weight of age over time"


def test_a_run_without_labels_advises_nothing():
    assert run_page(run(labelled=0))[0].advice.startswith("No row had a label")


def test_a_page_is_small_and_needs_nothing_from_outside():
    text = render(run_page(run())[0])
    assert len(text) < 2_000_000
    assert "://" not in text.replace("http://www.w3.org/", "")


def test_text_from_outside_is_text():
    evil = "<script>alert(1)</script>\x1b\u202e"
    table = Table([evil], [[evil]])
    page = Page(evil, evil, [Section(evil, [evil], table, bullets=[evil], names=[evil], code=evil, notes=[evil])])
    text = render(page)
    assert "<script>alert" not in text
    assert not {"\x1b", "\u202e"} & set(text)


def test_units_are_said_once_and_only_where_they_are_known():
    assert Units("mmHg", "EUR").named("typical error") == "typical error, mmHg"
    assert Units().named("typical error") == "typical error"


def test_a_run_stands_on_the_frontier_that_lies_beside_it(tmp_path):
    point = Point(7.0, 81.0, ("age", "weight"), True, 0.0)
    level = Level(0.5, 8.25, 90.0, 89.0, 91.0, {"age": 1.0}, (Choice(("age",), 2.0, 88.0, 1),), point)
    found = Frontier("data/visits.csv", "bp", 320, 1, {"age": 2.0}, (), (level,), (), (point,), 0, "a sentence", "more")
    (tmp_path / "frontier").mkdir()
    found.write(tmp_path / "frontier" / "frontier.json")
    beside = {"file": "visits.csv", "target": "bp"}
    assert _frontier_beside(tmp_path / "run", beside) == found
    assert _frontier_beside(tmp_path / "run", beside | {"target": "other"}) is None
    rows = run_page(run(), found)[1]["frontier"].rows
    assert ["frontier, error cost 0.5", "8.25", "9.49"] in rows
    assert ["in hindsight: age and weight", "7", "9"] in rows
    assert "this run" in [row[0] for row in rows]
