"""From a table that is all there to what to order tomorrow."""

import json
from dataclasses import replace
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import keyhole as kh
from keyhole._internal.output_folder import Folder
from keyhole.cli._commands import app
from keyhole.core.serialization import from_bytes, note_in
from keyhole.report import plan_cells, write_plan

PRICES = {"a": 1.0, "b": 2.0, "c": 3.0, "d": 4.0, "e": 5.0}
W = np.array([2.0, 0.0, 1.0, 0.0, 0.7])


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 5)) * [1, 10, 1, 1, 1] + [0, 5, 0, 0, 3]
    y = X @ W + rng.normal(size=400) + 7
    frame = pd.DataFrame(X, columns=list(PRICES)).assign(y=y)
    frame.to_csv(tmp_path / "past.csv", index=False)
    (tmp_path / "prices.toml").write_text("\n".join(f"{name} = {price}" for name, price in PRICES.items()))
    return tmp_path / "past.csv"


def in_prices(table):
    return table.parent / "prices.toml"


def command(*words):
    return CliRunner().invoke(app, ["plan", *map(str, words)])


def brute(X, y, budget):
    """The best basket within a budget, and what it leaves, by trying all."""
    best = (np.inf, ())
    for n in range(6):
        for S in combinations(range(5), n):
            if sum(PRICES[list(PRICES)[j]] for j in S) <= budget:
                A = np.column_stack([np.ones(len(y)), X[:, S]])
                rss = ((y - A @ np.linalg.lstsq(A, y, rcond=None)[0]) ** 2).mean()
                best = min(best, (rss, S))
    return best[1]


def test_the_baskets_are_the_best_of_their_price(table):
    found = kh.experiments.plan(table, target="y", prices=in_prices(table))
    frame = pd.read_csv(table)
    X, y = frame[list(PRICES)].to_numpy(), frame["y"].to_numpy()
    assert found.baskets[0].sources == ()
    assert found.rows == 400
    for basket in found.baskets:
        assert basket.optimal
        assert basket.price == pytest.approx(sum(PRICES[s] for s in basket.sources))
        assert tuple(sorted(basket.sources)) == tuple(list(PRICES)[j] for j in brute(X, y, basket.price))
    assert all(b.mse < a.mse for a, b in zip(found.baskets, found.baskets[1:], strict=False))
    assert "b" not in found.basket.sources
    assert "d" not in found.basket.sources


def test_errors_of_a_percentage_are_in_points(table, tmp_path):
    found = replace(kh.experiments.plan(table, target="y", prices=in_prices(table)), unit="%")
    assert "typical error (points)" in plan_cells(found)[0]
    write_plan(Folder.claim(tmp_path / "plan", "plan"), found, "")
    page = (tmp_path / "plan" / "report.html").read_text()
    assert "without it the typical error rises by (points)" in page
    assert "(%)" not in page


def test_errors_are_never_in_sample():
    """With more attributes than signal the in-sample error would fall; the cross-validated one does not."""
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(60, 40)), rng.normal(size=60)
    from keyhole.data.schema import Schema
    from keyhole.experiments.frontier_result import Point
    from keyhole.experiments.plan import CrossValidation
    from keyhole.experiments.stream_spec import Rows

    judge = CrossValidation(Rows(X, y, Schema.unknown("y", [f"x{i}" for i in range(40)]), None), 5, 0)
    five = judge.whole.best(5.0)
    in_sample = judge.whole.left(judge.whole.places(five.sources))
    assert in_sample < 0.8 * y.var()
    honest = judge.basket(five, None)
    assert honest.mse > y.var()
    kept = judge.fixed(judge.whole.places(five.sources))
    assert in_sample < kept.mse < honest.mse  # a basket chosen on all rows has seen the rows it is judged by
    assert judge.basket(Point(0.0, 0.0, (), True, 0.0), None).mse == pytest.approx(y.var(), rel=0.1)


def test_limits_are_kept(table):
    within = kh.experiments.plan(table, target="y", prices=in_prices(table), budget_per_row=4.0, algorithm="thrifty")
    assert within.basket.price <= 4.0
    assert set(within.basket.sources) == {"a", "c"}
    worth = kh.experiments.plan(table, target="y", prices=in_prices(table), error_cost=0.5)
    assert worth.basket.sources == ("a",)  # a is worth 2 a row, c 0.5 and costs 3
    total = kh.experiments.plan(table, target="y", prices=in_prices(table), total_budget=400.0, expected_rows=100)
    assert total.basket == within.basket


def test_k_without_prices_counts_attributes(table):
    found = kh.experiments.plan(table, target="y", k=2, algorithm="explore-then-commit")
    assert set(found.basket.sources) == {"a", "c"}
    assert not found.priced
    assert "2 attributes a row" in found.sentence
    with pytest.raises(kh.ConfigError, match="--error-cost M needs to know what things cost"):
        kh.experiments.plan(table, target="y", error_cost=1.0)


def test_a_limit_leaves_a_model_that_has_learnt(table, tmp_path):
    out = tmp_path / "plan"
    kh.experiments.plan(table, target="y", k=2, algorithm="explore-then-commit", out=out)
    data = (out / "model.kh").read_bytes()
    learner = from_bytes(data)
    assert (learner.n_past_rows, learner.t) == (400, 0)
    assert [learner.names[i] for i in learner.support] == ["a", "c"]
    assert "schema" in note_in(data)
    kh.experiments.plan(table, target="y", out=tmp_path / "other")
    assert not (tmp_path / "other" / "model.kh").exists()


def test_a_plan_removes_the_model_of_the_plan_that_it_replaces(table, tmp_path):
    """A plan without a limit left the earlier model.kh beside a page that does not describe it."""
    plan, model = kh.experiments.plan, tmp_path / "plan" / "model.kh"
    where = {"target": "y", "out": tmp_path / "plan"}
    plan(table, **where, k=2)
    first = model.read_bytes()
    plan(table, **where, k=1)
    assert model.read_bytes() != first
    plan(table, **where)
    assert not model.exists()

    plan(table, **where, k=2)
    learner = kh.load(model)
    learner.learn(np.ones((1, 5)), np.ones(1))
    learner.save(model)
    kept = {path.name: path.read_bytes() for path in model.parent.iterdir() if path.is_file()}
    for k in (None, 1):
        with pytest.raises(kh.ConfigError, match=r"model\.kh is not as the earlier plan wrote it"):
            plan(table, **where, k=k)
    assert kept == {path.name: path.read_bytes() for path in model.parent.iterdir() if path.is_file()}


def test_a_plan_does_not_touch_a_model_that_it_did_not_write(table, tmp_path):
    where = {"target": "y", "out": tmp_path / "plan"}
    kh.experiments.plan(table, **where)
    (tmp_path / "plan" / "model.kh").write_text("mine")
    with pytest.raises(kh.ConfigError, match=r"model\.kh was not written by keyhole"):
        kh.experiments.plan(table, **where)
    assert (tmp_path / "plan" / "model.kh").read_text() == "mine"


def test_the_command_prints_the_recommendation_and_writes_a_report(table, tmp_path):
    out = tmp_path / "plan"
    in_prices(table).write_text("a = 1\nb = 2\nc = 3\nd = 4\n")
    result = command(table, "--target", "y", "--prices", in_prices(table), "--free", "e", "--out", out)
    assert result.exit_code == 0, result.output
    assert "400 rows with a label; errors by 5-fold cross-validation" in result.output
    assert "order a" in result.output
    assert "model, ready" not in result.output
    page = (out / "report.html").read_text()
    assert "Order sheet" in page
    assert "Free: e." in page
    stored = json.loads((out / "plan.json").read_text())
    assert stored["baskets"][0]["sources"] == []
    assert (out / "figures" / "frontier.svg").exists()


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--target", "z"], "there is no column 'z'"),
        (["--target", "y", "--total-budget", "5"], "give total_budget and expected_rows together"),
        (["--target", "y", "--budget-per-row", "5"], "--budget-per-row M needs to know what things cost"),
        (["--target", "y", "--folds", "100"], "folds must be between 2 and 80"),
        (["--target", "y", "-k", "9"], "-k must be between 1 and 5"),
        (["--target", "y", "--error-cost", "-1"], "error_cost must be a finite number > 0"),
    ],
)
def test_bad_input_is_one_sentence(table, tmp_path, words, sentence):
    result = command(table, "--out", tmp_path / "plan", *words)
    assert isinstance(result.exception, kh.ConfigError)
    assert sentence in str(result.exception)
    assert not (tmp_path / "plan").exists()


def test_an_infinite_cell_is_named(tmp_path):
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(50, 3)), columns=["a", "b", "y"])
    frame.loc[11, "b"] = np.inf
    frame.to_csv(tmp_path / "past.csv", index=False)
    with pytest.raises(kh.ConfigError, match="row 12, column 'b' is infinite"):
        kh.experiments.plan(tmp_path / "past.csv", target="y")


def test_a_yes_or_no_label_is_judged_by_brier_score_auc_and_log_loss(table, tmp_path):
    frame = pd.read_csv(table)
    frame["y"] = np.where(frame["y"] > frame["y"].median(), "ill", "well")
    frame.to_csv(table, index=False)
    lines = "".join(f"{name} = {{price = {price}}}\n" for name, price in PRICES.items())
    schema = tmp_path / "schema.toml"
    schema.write_text(f'[label]\nname = "y"\ntype = "yes/no"\npositive = "ill"\n[attributes]\n{lines}')
    result = command(table, "--schema", schema, "--error-cost", "30", "--out", tmp_path / "plan")
    assert result.exit_code == 0, result.output
    assert "Brier score 0.1" in result.output
    stored = json.loads((tmp_path / "plan" / "plan.json").read_text())
    here = stored["baskets"][stored["recommended"]]
    assert here["probabilities"]["auc"] > 0.8
    assert here["probabilities"]["log_loss"] < 0.6
    assert stored["baskets"][0]["probabilities"]["auc"] == 0.5  # nothing is bought: all rows of a fold are alike
    assert from_bytes((tmp_path / "plan" / "model.kh").read_bytes()).binary


def test_a_plan_states_its_rule(table):
    plan = kh.experiments.plan
    where = {"target": "y", "prices": in_prices(table)}
    assert "knee" in plan(table, **where).rule
    assert plan(table, **where, error_cost=2.0).rule.endswith(
        "the smallest error cost x squared error + price of a row."
    )
    assert plan(table, **where, k=2).rule.endswith("the smallest error, among the baskets within the limits.")


def test_a_plan_states_how_its_model_differs_from_the_basket(table, tmp_path):
    """With `-k 2` and one useful source the plan orders one, and the model explores with its second place."""
    frame = pd.read_csv(table)[["b", "d"]]
    frame["y"] = np.where(frame["b"] + np.random.default_rng(1).normal(size=400) > 5, "ill", "well")
    frame.to_csv(table, index=False)
    schema, out = tmp_path / "schema.toml", tmp_path / "plan"
    schema.write_text(
        '[label]\nname = "y"\ntype = "yes/no"\npositive = "ill"\n[attributes]\nb = {price = 2}\nd = {price = 1}'
    )
    result = command(table, "--schema", schema, "-k", "2", "--out", out)
    assert "order b: 2.00 a row" in result.output
    note = "The model starts with the same basket but buys up to 3.00 a row, because it explores with what its limits"
    assert note in result.output
    assert note in (out / "report.html").read_text()
    assert len(kh.load(out / "model.kh").ask().attributes) == 2
    assert kh.experiments.plan(table, schema=schema, error_cost=50.0).model_note == ""


def test_a_plan_names_the_basket_of_a_model_that_selects_another(table):
    found = kh.experiments.plan(table, target="y", prices=in_prices(table), k=2, algorithm="fixed-random", seed=1)
    assert found.basket.sources == ("a", "c")
    assert found.model_note.startswith("The model selects by its own rule and starts with ")
