"""Journey 4: from a file with odd columns and prices to predictions for new rows."""

import csv
import json

import numpy as np
import pyarrow.parquet as pq

import keyhole as kh

from .conftest import stream, write


def visits(rows, seed=0):
    """A table as people have them: raw units, an identifier, text, a flag that never changes, missing values."""
    columns = stream(rows, d=9, seed=seed)
    columns = {f"test_{name}": 50 + 20 * values for name, values in columns.items() if name != "y"} | {
        "cost": 1000 + 300 * columns["y"]
    }
    columns["test_x0"][::9] = np.nan
    return columns | {"notes": [f"seen by {i % 7}, at {i}" for i in range(rows)], "site": np.ones(rows)}


def test_diagnose_run_predict(keyhole, tmp_path):
    write(tmp_path / "visits.csv", visits(3000))
    (tmp_path / "prices.toml").write_text("test_x1 = 7.5\ntest_x2 = 0.5\n")
    told = keyhole("diagnose", "visits.csv", "--target", "cost", "--prices", "prices.toml").stdout
    assert "3 000 rows" in told
    assert "notes" in told
    run = ("run", "visits.csv", "--schema", "visits.schema.toml", "--target", "cost", "-k", "4")
    out = keyhole(*run, "--algorithm", "ds-oslrc", "--out", "runs/visits").stdout
    assert "3000" in out
    assert "buy everything" in out
    folder = tmp_path / "runs" / "visits"
    summary = json.loads((folder / "summary.json").read_text())
    rounds = pq.read_table(folder / "rounds.parquet").to_pydict()
    prices = kh.streams.Schema.read(tmp_path / "visits.schema.toml")
    price_of = dict(zip(prices.names, prices.prices, strict=True))
    assert price_of["test_x1"] == 7.5
    assert np.allclose(rounds["price"], [sum(price_of[n] for n in names) for names in rounds["bought"]])
    assert np.isclose(summary["spent"], sum(rounds["price"]))
    labels = np.array(rounds["label"])
    assert 700 <= labels.min() < labels.max() <= 1300  # the label's own units
    assert summary["mse"] < 1.5 * labels.var()
    assert_predictions_are_the_models_own(keyhole, tmp_path, summary)


def assert_predictions_are_the_models_own(keyhole, tmp_path, summary):
    """Frozen: only the support's columns are read, twice gives the same, and it is <w, x> in the label's units."""
    new = visits(500, seed=5)
    needed = {name: values for name, values in new.items() if name in summary["support"]}
    write(tmp_path / "new.csv", needed)
    model = tmp_path / "runs" / "visits" / "model.kh"
    before = model.read_bytes()
    keyhole("predict", model, "new.csv", "--out", "scores.csv")
    keyhole("predict", model, "new.csv", "--out", "scores.parquet")
    assert model.read_bytes() == before
    with open(tmp_path / "scores.csv") as file:
        scores = np.array([float(line["prediction"]) for line in csv.DictReader(file)])
    assert np.allclose(scores, pq.read_table(tmp_path / "scores.parquet")["prediction"].to_numpy(), rtol=1e-12)
    learner, schema = kh.load(model), kh.streams.Schema.read(tmp_path / "visits.schema.toml")
    X = np.column_stack([needed.get(name, np.zeros(500)) for name in schema.names])
    z = np.clip(np.nan_to_num(schema.scale(X), nan=0.0) @ learner.weights, -1, 1)
    assert np.allclose(scores, schema.unscale_label(z))


def test_a_column_that_the_model_needs_is_named_where_it_is_absent(typed, tmp_path):
    columns = stream(200)
    typed("run", write(tmp_path / "a.parquet", columns), "--target", "y", "-k", "3", "--out", "out")
    support = json.loads((tmp_path / "out" / "summary.json").read_text())["support"]
    del columns[support[0]]
    code, _, errors = typed("predict", "out/model.kh", write(tmp_path / "b.parquet", columns))
    assert code == 2
    assert f"no column '{support[0]}'" in errors
