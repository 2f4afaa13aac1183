"""A label with a transform: learners see the transform, and every error is in the units of the label itself."""

import numpy as np
import pandas as pd
import pytest

import keyhole as kh
from keyhole.data.schema import Schema
from keyhole.experiments.job import Job, learner_of, rows_of, run_job
from keyhole.experiments.stream_spec import StreamSpec


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(600, 6))
    y = np.exp(3.0 + 1.2 * X[:, 0] + 0.1 * rng.normal(size=600))
    pd.DataFrame(X, columns=list("abcdef")).assign(y=y).to_csv(tmp_path / "t.csv", index=False)
    for name, label in (("raw", ""), ("log", 'transform = "log"')):
        lines = "".join(f"{name} = {{price = {price}}}\n" for price, name in enumerate("abcdef", 1))
        (tmp_path / f"{name}.toml").write_text(f'[label]\nname = "y"\n{label}\n[attributes]\n{lines}')
    return tmp_path


@pytest.mark.parametrize("algorithm", ["thrifty", "vaw", "ds-oslrc"])
def test_a_comparison_inverts_predictions(table, algorithm):
    stream = StreamSpec.parse(str(table / "t.csv"), "y", table / "log.toml")
    job = Job(stream, algorithm, seed=0, rounds=400, k=3, k0=0)
    rows, outcome = rows_of(job), run_job(job)
    learner = learner_of(job, rows)
    raw = algorithm == "thrifty"
    X, z = (rows.X, np.log(rows.y)) if raw else (rows.schema.scale(rows.X), rows.schema.scale_label(rows.y))
    found = kh.play(learner, X, z).predictions
    errors = (np.exp(found) if raw else rows.schema.unscale_label(found)) - rows.y
    assert np.isfinite(errors).all()
    assert outcome["loss"] == pytest.approx(float(np.mean(errors[1:] ** 2)), rel=1e-12)


def test_a_plan_fits_the_transform_and_errs_in_the_units_of_the_label(table):
    raw, log = (
        kh.experiments.plan(table / "t.csv", schema=table / f"{name}.toml", k=1, out=table / name)
        for name in ("raw", "log")
    )
    frame = pd.read_csv(table / "t.csv")
    slope, level = np.polyfit(frame["a"], np.log(frame["y"]), 1)
    mse = float(np.mean((np.exp(level + slope * frame["a"]) - frame["y"]) ** 2))
    assert log.basket.sources == ("a",)
    assert log.basket.mse == pytest.approx(mse, rel=0.05)
    assert log.basket.mse < 0.2 * raw.basket.mse
    assert Schema.read(table / "log.toml").transforms_label


def test_an_error_cost_is_refused_with_a_transformed_label(table):
    given = {"schema": table / "log.toml"}
    with pytest.raises(kh.ConfigError, match="the schema transforms the label"):
        kh.experiments.frontier(str(table / "t.csv"), levels=2, seeds=1, out=table / "out", **given)
    with pytest.raises(kh.ConfigError, match="the schema transforms the label"):
        kh.experiments.plan(table / "t.csv", error_cost=1.0, out=table / "out", **given)
    assert not (table / "out").exists()
