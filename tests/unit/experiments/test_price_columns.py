"""A file with the prices of each row in a plan, a frontier and a comparison: one usual price per source."""

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import keyhole as kh
from keyhole.cli._commands import app

WITH = """\
[label]
name = "y"
[sources.panel]
price_column = "panel_eur"
columns = ["a", "b"]
[attributes.c]
price = 3.0
price_column = "c_eur"
[attributes.d]
price = 4.0
"""
WITHOUT = WITH.replace('price_column = "panel_eur"', "price = 2.0").replace('price_column = "c_eur"\n', "")


@pytest.fixture
def files(tmp_path):
    """The same rows with prices in columns, whose usual values are 2 and 3, and with these prices in the schema."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 4))
    frame = pd.DataFrame(X, columns=list("abcd")).assign(y=X @ [2.0, 0.5, 1.0, 0.0] + rng.normal(size=400))
    frame.to_csv(tmp_path / "without.csv", index=False)
    frame.assign(panel_eur=np.tile([1.0, 3.0, np.nan, 2.0], 100), c_eur=50.0).to_csv(tmp_path / "with.csv", index=False)
    (tmp_path / "with.toml").write_text(WITH)
    (tmp_path / "without.toml").write_text(WITHOUT)
    return tmp_path


def both(files, ask):
    return [ask(files / f"{name}.csv", files / f"{name}.toml") for name in ("with", "without")]


def test_a_plan_is_that_of_the_usual_prices(files):
    one, other = both(files, lambda file, schema: kh.experiments.plan(file, schema=schema, error_cost=4.0))
    assert one.prices == {"panel": 2.0, "c": 3.0, "d": 4.0}
    assert (one.baskets, one.recommended, one.sentence) == (other.baskets, other.recommended, other.sentence)
    assert one.basket.sources == ("c", "panel")
    assert one.basket.price == 5.0


def test_a_frontier_is_that_of_the_usual_prices(files):
    one, other = both(
        files, lambda file, schema: kh.experiments.frontier(str(file), schema=schema, levels=[0.5, 4.0], seeds=1)
    )
    assert one.levels == other.levels
    assert one.sentence == other.sentence


def test_a_comparison_is_that_of_the_usual_prices(files):
    def ask(file, schema):
        stream = kh.experiments.StreamSpec.parse(str(file), schema=schema)
        found = [
            kh.experiments.run_job(kh.experiments.Job(stream, name, 0, 400, k, 0))
            for name, k in (("thrifty", 2), ("vaw", 4))
        ]
        return [(one["loss"], one["price_per_row"], one["attributes_per_row"]) for one in found]

    one, other = both(files, ask)
    assert one == other


def test_a_prediction_has_the_usual_price_and_says_so(files):
    words = ["run", files / "with.csv", "--schema", files / "with.toml", "-k", "2", "--out", files / "run"]
    assert CliRunner().invoke(app, list(map(str, words))).exit_code == 0
    words = ["predict", files / "run" / "model.kh", files / "without.csv", "--out", files / "p.csv"]
    said = CliRunner().invoke(app, list(map(str, words)))
    assert said.exit_code == 0, said.output
    assert "price is the usual price of what the model buys; not read: panel_eur, c_eur" in said.output
    assert set(pd.read_csv(files / "p.csv")["price"]) == {5.0}
