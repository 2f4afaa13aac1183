"""Yes/no labels and transforms in files: declared in the schema, proposed by diagnose, kept with the model."""

import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import keyhole as kh
from keyhole import runs
from keyhole.cli._commands import app
from keyhole.core.serialization import from_bytes
from keyhole.data.columns import TRANSFORMS
from keyhole.data.schema import Schema
from keyhole.data.streams import DataError, open_table
from keyhole.experiments.stream_spec import StreamSpec


def run(*words):
    return CliRunner().invoke(app, [*map(str, words)])


@pytest.fixture
def folder(tmp_path):
    rng = np.random.default_rng(0)
    amount = np.exp(2.0 * rng.normal(size=800))
    other = rng.normal(size=(800, 3))
    z = 1.5 * np.log1p(amount) - 2.0 + other[:, 0]
    ill = rng.random(800) < 1.0 / (1.0 + np.exp(-2.0 * z))
    frame = pd.DataFrame(other, columns=["a", "b", "c"]).assign(amount=amount, ill=np.where(ill, "ill", "well"))
    frame.to_csv(tmp_path / "visits.csv", index=False)
    return tmp_path


def with_schema(folder, label, more=""):
    text = f'[label]\nname = "ill"\n{label}\n[attributes]\na = {{}}\nb = {{}}\nc = {{}}\namount = {{{more}}}\n'
    (folder / "schema.toml").write_text(text)
    return folder / "schema.toml"


def test_two_words_become_zero_and_one(folder):
    schema = Schema.read(with_schema(folder, 'type = "yes/no"\npositive = "ill"'))
    done = schema.complete(open_table(folder / "visits.csv"))
    assert done.label.negative == "well"
    assert Schema.from_toml(done.to_toml()) == done
    y = np.concatenate([b.y for b in open_table(folder / "visits.csv", done).batches(done.names, "ill")])
    words = pd.read_csv(folder / "visits.csv")["ill"]
    np.testing.assert_array_equal(y, (words == "ill").astype(float))
    assert done.offer()["label"] == "binary"


def test_a_third_word_is_named_with_its_row(folder):
    frame = pd.read_csv(folder / "visits.csv")
    frame.loc[41, "ill"] = "perhaps"
    frame.to_csv(folder / "visits.csv", index=False)
    schema = Schema.read(with_schema(folder, 'type = "yes/no"\npositive = "ill"'))
    with pytest.raises(DataError, match="must be 'ill' or one other word; it has ill, perhaps, well"):
        schema.complete(open_table(folder / "visits.csv"))
    schema = Schema.read(with_schema(folder, 'type = "yes/no"\npositive = "ill"\nnegative = "well"'))
    with pytest.raises(DataError, match=r"row 42 .* 'perhaps' is not ill or well"):
        list(open_table(folder / "visits.csv", schema).batches(schema.names, "ill"))
    schema = Schema.read(with_schema(folder, 'type = "yes/no"'))
    with pytest.raises(DataError, match=r"row 1 .* is not yes or no"):
        list(open_table(folder / "visits.csv", schema).batches(schema.names, "ill"))


def test_diagnose_proposes_both_and_a_run_follows(folder):
    result = run("diagnose", folder / "visits.csv", "--target", "ill")
    assert result.exit_code == 0, result.output
    assert 'proposed for the target: type = "yes/no", positive = "well"' in result.output
    assert "proposed for 'amount': transform = log" in result.output
    schema = Schema.read(folder / "visits.schema.toml")
    assert [a.transform for a in schema.attributes if a.name != "amount"] == ["", "", ""]
    result = run(
        "run", folder / "visits.csv", "--schema", folder / "visits.schema.toml", "-k", "2", "--out", folder / "run"
    )
    assert result.exit_code == 0, result.output
    summary = json.loads((folder / "run" / "summary.json").read_text())
    assert summary["mse"] < 0.17
    assert summary["probabilities"]["auc"] > 0.8
    assert summary["probabilities"]["log_loss"] < 0.6
    assert "Reliability" in (folder / "run" / "report.html").read_text()
    assert from_bytes((folder / "run" / "model.kh").read_bytes()).binary
    result = run("predict", folder / "run" / "model.kh", folder / "visits.csv", "--out", folder / "scores.csv")
    assert result.exit_code == 0, result.output
    scores = pd.read_csv(folder / "scores.csv")
    assert scores["prediction"].between(0.0, 1.0).all()
    assert "low" not in scores


def test_an_algorithm_that_takes_no_yes_or_no_names_those_that_do(folder):
    schema = with_schema(folder, 'type = "yes/no"\npositive = "ill"')
    result = run(
        *("run", folder / "visits.csv", "--schema", schema, "-k", "3", "--algorithm", "aer", "--out", folder / "run")
    )
    assert "'aer' takes no label=\"binary\"; thrifty" in str(result.exception)


@pytest.mark.parametrize(
    ("label", "sentence"),
    [
        ('positive = "ill"', 'positive and negative are for type = "yes/no"'),
        ('type = "yes/no"\ntransform = "log"', "has no numbers and no transform"),
        ('type = "yes/no"\npositive = "ill"\nnegative = "ill"', "two different words"),
        ('type = "maybe"', "type must be one of"),
        ('transform = "exp"', "transform must be one of"),
    ],
)
def test_a_label_that_makes_no_sense_is_refused(folder, label, sentence):
    with pytest.raises(kh.ConfigError, match=sentence):
        Schema.read(with_schema(folder, label))


def test_a_transform_is_applied_when_the_table_is_read(folder):
    schema = Schema.read(
        with_schema(folder, 'type = "yes/no"\npositive = "ill"\nnegative = "well"', 'transform = "log1p"')
    )
    raw = pd.read_csv(folder / "visits.csv")["amount"]
    X = np.concatenate([b.X for b in open_table(folder / "visits.csv", schema).batches(schema.names, "ill")])
    np.testing.assert_allclose(X[:, schema.names.index("amount")], np.log1p(raw), rtol=1e-15)
    frame = pd.read_csv(folder / "visits.csv")
    frame.loc[6, "amount"] = -2.0
    frame.to_csv(folder / "odd.csv", index=False)
    with pytest.raises(DataError, match=r"row 7 .* column 'amount': -2 is not a number above -1"):
        list(open_table(folder / "odd.csv", schema).batches(schema.names, "ill"))


@pytest.mark.parametrize(("transform", "inverse"), [("log", np.exp), ("log1p", np.expm1), ("sqrt", np.square)])
def test_a_transformed_label_is_predicted_in_its_own_units(tmp_path, transform, inverse):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(1500, 4))
    y = inverse(3.0 + X[:, 0] * 0.6 + 0.1 * rng.normal(size=1500))
    pd.DataFrame(X, columns=list("abcd")).assign(y=y).to_csv(tmp_path / "t.csv", index=False)
    (tmp_path / "s.toml").write_text(
        f'[label]\nname = "y"\ntransform = "{transform}"\n[attributes]\na={{}}\nb={{}}\nc={{}}\nd={{}}\n'
    )
    result = run("run", tmp_path / "t.csv", "--schema", tmp_path / "s.toml", "-k", "1", "--out", tmp_path / "run")
    assert result.exit_code == 0, result.output
    result = run("predict", tmp_path / "run" / "model.kh", tmp_path / "t.csv", "--out", tmp_path / "p.csv")
    assert result.exit_code == 0, result.output
    found = pd.read_csv(tmp_path / "p.csv")
    assert np.median(np.abs(found["prediction"] - y) / y) < 0.25
    assert (found["low"] < found["prediction"]).all()
    assert ((found["low"] <= y) & (y <= found["high"])).mean() == pytest.approx(0.9, abs=0.04)
    summary = json.loads((tmp_path / "run" / "summary.json").read_text())
    assert summary["mse"] < np.var(y)


def test_the_label_of_a_scaled_learner_is_transformed_within_its_range():
    schema = Schema.from_toml(
        '[label]\nname = "y"\nlow = 1\nhigh = 100\ncenter = 10\ntransform = "log"\n[attributes]\na = {low=-1, high=1}\n'
    )
    y = np.array([1.0, 10.0, 100.0, 1000.0, np.nan, np.inf])
    np.testing.assert_allclose(schema.scale_label(y), [-1.0, 0.0, 1.0, 1.0, np.nan, np.inf], atol=1e-12)
    np.testing.assert_allclose(schema.unscale_label(schema.scale_label(y[:3])), y[:3])


@pytest.mark.parametrize(("name", "edge", "inside"), [("log1p", -1.0, False), ("log", 0.0, False), ("sqrt", 0.0, True)])
def test_the_edge_of_a_transforms_domain_is_inside_only_if_its_value_is_finite(name, edge, inside):
    transform = TRANSFORMS[name]
    with np.errstate(divide="ignore"):
        assert np.isfinite(transform.forward(np.array(edge))) == inside
    assert transform.takes(np.array(edge)) == inside


def test_a_label_of_words_that_is_declared_as_a_number_is_not_sent_to_the_same_schema(tmp_path):
    path, schema = tmp_path / "t.csv", tmp_path / "t.schema.toml"
    path.write_text("a,y\n1,low\n2,high\n3,low\n")
    schema.write_text('[label]\nname = "y"\n[attributes.a]\n')
    fix = "the schema or the model takes it for numbers: correct the file, or declare its type and train again"
    refused = [
        lambda: runs.prepare(runs.RunConfig(path, "y", k=1, schema=schema)),
        lambda: StreamSpec.parse(str(path), "y", schema=schema),
    ]
    for attempt in refused:
        with pytest.raises(DataError) as caught:
            attempt()
        assert str(caught.value).endswith(f"the target 'y' holds text (row 1: 'low'); {fix}")
    with pytest.raises(DataError, match="a target of two words needs a schema .*there is .*t.schema.toml: give it"):
        runs.prepare(runs.RunConfig(path, "y", k=1))
