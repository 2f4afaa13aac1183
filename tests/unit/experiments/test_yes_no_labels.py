"""Yes/no labels in comparisons and frontiers: AUC, Brier score, log loss and a reliability figure."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import brier_score_loss, log_loss, roc_auc_score
from typer.testing import CliRunner

import keyhole as kh
from keyhole.cli._commands import app
from keyhole.experiments.frontier_result import frontier_in
from keyhole.simulation.scoring import pooled, score


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 4))
    ill = rng.random(400) < 1 / (1 + np.exp(-3 * X[:, 0] - X[:, 1]))
    frame = pd.DataFrame(X, columns=list("abcd")).assign(y=np.where(ill, "ill", "well"))
    frame.to_csv(tmp_path / "past.csv", index=False)
    lines = "".join(f"{name} = {{price = {price}}}\n" for price, name in enumerate("abcd", 1))
    label = '[label]\nname = "y"\ntype = "yes/no"\npositive = "ill"\n'
    (tmp_path / "schema.toml").write_text(f"{label}[attributes]\n{lines}")
    return tmp_path


def command(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


def test_scores_are_those_of_scikit_learn():
    rng = np.random.default_rng(1)
    p = rng.random(300).round(2)
    y = (rng.random(300) < p).astype(float)
    found = score(y, p)
    assert found["auc"] == pytest.approx(roc_auc_score(y, p), abs=1e-12)
    assert found["brier"] == pytest.approx(brier_score_loss(y, p), abs=1e-12)
    clipped = np.clip(p, 1e-15, 1 - 1e-15)
    assert found["log_loss"] == pytest.approx(log_loss(y, clipped), abs=1e-9)


def test_pooled_bins_are_those_of_all_rows():
    rng = np.random.default_rng(2)
    p = rng.random(500)
    y = (rng.random(500) < p).astype(float)
    halves = pooled([score(y[:100], p[:100]), score(y[100:], p[100:])])
    for name, values in score(y, p)["reliability"].items():
        np.testing.assert_allclose(halves["reliability"][name], values, rtol=1e-12)


def test_a_comparison_scores_probabilities(table):
    out = table / "out"
    words = ["--algorithms", "thrifty,vaw,fixed-random", "-k", 2, "--seeds", 2, "--out", out]
    result = command("compare", table / "past.csv", "--schema", table / "schema.toml", *words)
    assert result.exit_code == 0, result.output
    assert "AUC" in result.output
    page = (out / "report.html").read_text()
    assert "Brier score" in page
    assert "Probabilities of thrifty on" in page
    frame = pd.read_parquet(out / "results.parquet").set_index(["algorithm", "seed"])
    assert frame.loc[("thrifty", 0), "auc"] > 0.8
    assert frame["log_loss"].between(0.1, 1.0).all()


def test_learners_that_take_no_yes_or_no_are_named(table):
    words = ["--algorithms", "thrifty,aer", "-k", 2, "--out", table / "out"]
    result = command("compare", table / "past.csv", "--schema", table / "schema.toml", *words)
    assert isinstance(result.exception, kh.ConfigError)
    assert "'aer' takes no label=\"binary\"; thrifty, gibbs-thompson, " in str(result.exception)
    assert not (table / "out").exists()


def test_a_frontier_scores_probabilities(table):
    out = table / "out"
    words = ["--levels", 2, "--seeds", 2, "--out", out]
    result = command("frontier", table / "past.csv", "--schema", table / "schema.toml", *words)
    assert result.exit_code == 0, result.output
    assert "AUC" in result.output
    page = (out / "report.html").read_text()
    assert "Probabilities at the advised level" in page
    levels = json.loads((out / "frontier.json").read_text())["levels"]
    assert levels[-1]["probabilities"]["auc"] > 0.8
    assert frontier_in(out).levels[-1].probabilities == levels[-1]["probabilities"]
    for level in levels:
        assert level["probabilities"]["brier"] == pytest.approx(level["mse"], rel=1e-12)


def test_a_run_scores_the_probabilities_of_the_rows_that_count(table):
    words = ["-k", 2, "--out", table / "out"]
    result = command("run", table / "past.csv", "--schema", table / "schema.toml", *words)
    assert result.exit_code == 0, result.output
    summary = json.loads((table / "out" / "summary.json").read_text())
    assert summary["first_row"] == "left out"
    assert summary["probabilities"]["brier"] == pytest.approx(summary["mse"], rel=1e-12)


def test_a_comparison_of_numbers_has_no_such_columns():
    frame = kh.experiments.compare(["fixed-random"], ["synthetic:d=6,k=2"], seeds=1, rounds=50).to_frame()
    assert np.isnan(frame["auc"]).all()
