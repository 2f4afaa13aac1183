"""A run that starts from past rows, or from a model that is trained already."""

import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import keyhole as kh
from keyhole import runs
from keyhole.cli._commands import app
from keyhole.core.serialization import from_bytes

from .test_lifecycle import Silent, assert_same, publish

ALGORITHM = "explore-then-commit"


@pytest.fixture
def tables(tmp_path):
    X, y, _ = kh.streams.synthetic(8, 3, 1000, seed=4)
    frame = pd.DataFrame(100 * X, columns=[f"x{i}" for i in range(8)]).assign(y=50 * y + 7)
    frame.loc[3, "y"] = np.nan
    frame.loc[5, "x2"] = np.nan
    frame[:400].to_csv(tmp_path / "past.csv", index=False)
    frame[400:].to_csv(tmp_path / "new.csv", index=False)
    return tmp_path


def config(tables, **given):
    return runs.RunConfig(tables / "new.csv", "y", k=3, algorithm=ALGORITHM, **given)


def command(*words):
    return CliRunner().invoke(app, ["run", *map(str, words)])


def test_past_rows_are_free_and_lower_the_loss(tables):
    fresh = runs.begin(runs.prepare(config(tables)), tables / "fresh", Silent(), publish)
    plan = runs.prepare(config(tables, past=tables / "past.csv"))
    taught = runs.begin(plan, tables / "taught", Silent(), publish)
    assert "past rows: 399, free; 1 without a label were skipped" in plan.notes
    assert taught.summary["past_rows"] == 399
    assert taught.summary["mse"] < fresh.summary["mse"] / 2
    assert taught.summary["rows"] == 600
    entries = pd.read_parquet(tables / "taught" / "ledger.parquet")
    assert entries.loc[0, ["attribute", "last_row", "bought", "spent"]].tolist() == ["past rows: 399, free", 0, 0, 0.0]
    assert entries["attribute"][1:].str.fullmatch("x[0-7]").all()
    assert runs.reopen(tables / "taught")[1].loss.tolist() == taught.loss.tolist()
    assert from_bytes((tables / "taught" / "model.kh").read_bytes()).t == 600


@pytest.mark.parametrize("stop", [1, 64, 65, 599])
def test_stopped_anywhere_and_resumed_learns_the_past_once(tables, stop):
    plan = runs.prepare(config(tables, past=tables / "past.csv"))
    assert runs.begin(plan, tables / "whole", Silent(), publish)
    folder = tables / "cut"
    assert not runs.begin(plan, folder, Silent(stop), publish, 60.0)
    if stop == 1:  # killed before the first checkpoint: nothing but start.kh says what was learnt
        for segment in (folder / "journal").iterdir():
            segment.unlink()
    (tables / "past.csv").unlink()
    assert runs.resume(folder, Silent(), publish)
    assert_same(folder, tables / "whole")


def test_killed_while_the_past_is_learnt_leaves_no_run(tables, monkeypatch):
    plan = runs.prepare(config(tables, past=tables / "past.csv"))
    folder = tables / "cut"
    with monkeypatch.context() as patched:
        patched.setattr(runs.Settings, "write", lambda self, path: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            runs.begin(plan, folder, Silent(), publish)
    assert (folder / "start.kh").exists()
    assert runs.begin(plan, folder, Silent(), publish)
    assert runs.begin(plan, tables / "whole", Silent(), publish)
    assert_same(folder, tables / "whole")


def test_a_damaged_start_is_refused(tables):
    plan = runs.prepare(config(tables, past=tables / "past.csv"))
    folder = tables / "cut"
    assert not runs.begin(plan, folder, Silent(1), publish, 60.0)
    (folder / "start.kh").write_bytes(b"other")
    with pytest.raises(kh.StateError, match=r"start\.kh is damaged"):
        runs.resume(folder, Silent(), publish)


def test_a_model_goes_on_where_it_was(tables):
    first = runs.prepare(config(tables, past=tables / "past.csv"))
    assert runs.begin(first, tables / "whole", Silent(), publish)
    kh.experiments.plan(tables / "past.csv", target="y", k=3, algorithm=ALGORITHM, out=tables / "plan")
    model = tables / "plan" / "model.kh"
    result = command(tables / "new.csv", "--model", model, "--out", tables / "live")
    assert result.exit_code == 0, result.output
    for name in ("rounds.parquet", "model.kh"):
        assert (tables / "live" / name).read_bytes() == (tables / "whole" / name).read_bytes(), name


def test_a_model_saved_from_python_says_what_it_needs(tables):
    learner = kh.make(
        "fixed-random",
        names=[f"x{i}" for i in range(8)],
        k=2,
        seed=0,
        standardize=True,
        free=["x0"],
        sources={"pair": ["x1", "x2"]},
        prices={"pair": 3.0, **{f"x{i}": 1.0 for i in range(3, 8)}},
    )
    learner.save(tables / "own.kh")
    result = command(tables / "new.csv", "--model", tables / "own.kh", "--out", tables / "run")
    assert "give --target NAME" in str(result.exception)
    result = command(tables / "new.csv", "--model", tables / "own.kh", "--target", "y", "--out", tables / "run")
    assert result.exit_code == 0, result.output
    summary = json.loads((tables / "run" / "summary.json").read_text())
    assert summary["free"] == ["x0"]
    assert summary["price_per_row"] in (2.0, 4.0)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["-k", "4"], "has its own k, 3; omit -k 4"),
        (["--error-cost", "2"], "has no error_cost; omit --error-cost 2"),
        (["--target", "x1"], "predicts 'y', not 'x1'"),
        (["--free", "x1"], "omit --free"),
        (["--algorithm", "thrifty"], "has its own algorithm"),
        (["--seed", "1"], "has its own seed"),
    ],
)
def test_an_option_that_differs_from_the_models_is_refused(tables, words, sentence):
    kh.experiments.plan(tables / "past.csv", target="y", k=3, algorithm=ALGORITHM, out=tables / "plan")
    result = command(tables / "new.csv", "--model", tables / "plan" / "model.kh", "--out", tables / "live", *words)
    assert isinstance(result.exception, kh.ConfigError)
    assert sentence in str(result.exception)
    assert not (tables / "live").exists()


@pytest.mark.parametrize(
    ("table", "sentence"),
    [
        ("x0,y\n1,2\n", "there is no column 'x1'"),
        ("x0,x1,x2,x3,x4,x5,x6,x7,y\n1,2,3,4,5,6,7,8,inf\n", "row 1 is inf"),
    ],
)
def test_a_past_table_that_does_not_fit_is_one_sentence(tables, table, sentence):
    (tables / "odd.csv").write_text(table)
    with pytest.raises(kh.ConfigError, match=sentence):
        runs.prepare(config(tables, past=tables / "odd.csv"))


def test_an_algorithm_that_cannot_learn_names_those_that_can(tables):
    with pytest.raises(kh.ConfigError, match="'aer' cannot learn from past rows; thrifty"):
        runs.prepare(runs.RunConfig(tables / "new.csv", "y", k=3, algorithm="aer", past=tables / "past.csv"))


def test_an_alarm_of_a_continued_model_has_the_row_of_this_file(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1900, 6))
    sign = np.where(np.arange(1900) < 1200, 1.0, -1.0)
    y = sign * (2 * X[:, 0] + X[:, 1]) + 0.3 * rng.normal(size=1900)
    learner = kh.make("thrifty", names=[f"x{i}" for i in range(6)], k=2, seed=1)
    kh.play(learner, X[:500], y[:500])
    learner.save(tmp_path / "model.kh")
    frame = pd.DataFrame(X[500:], columns=learner.names).assign(y=y[500:])
    frame.to_csv(tmp_path / "new.csv", index=False)
    plan = runs.prepare(runs.RunConfig(tmp_path / "new.csv", "y", model=tmp_path / "model.kh"))
    for stop in (None, 900):
        folder = tmp_path / f"run{stop}"
        if stop:
            assert not runs.begin(plan, folder, Silent(stop), publish)
            done = runs.resume(folder, Silent(), publish)
        else:
            done = runs.begin(plan, folder, Silent(), publish)
        assert [700 < alarm["row"] < 1000 for alarm in done.summary["alarms"]] == [True]
