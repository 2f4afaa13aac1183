"""Frozen predictions: the rows' own names, intervals where there are any, prices by source, and nothing overwritten."""

import csv
from dataclasses import replace
from datetime import date

import numpy as np
import pytest

import keyhole as kh
from keyhole import runs
from keyhole.data.scaling import Scaling
from keyhole.data.streams import Attribute, Label, Panel, Range, Schema, open_table
from keyhole.errors import ConfigError
from keyhole.runs.predict import Frozen, refuse_extension

from .test_lifecycle import Silent, publish

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

SCHEMA = Schema(
    Range("y"),
    (
        Attribute("sex", type="category", values=("f", "m"), price=2.0),
        Attribute("day", type="date", origin=date(2024, 1, 1), price=0.5),
    ),
    panels=(Panel("lipids", ("ldl", "hdl"), 12.0),),
)
LINES = "patient,sex,day,ldl,hdl\np1,f,2024-01-02,1.5,2\np2,x,2024-01-03,,3\np3,,2024-01-04,2,4\n"


@pytest.fixture
def frozen():
    """vaw on rows whose label is ldl + 2 [sex = m]: it buys everything."""
    learner = kh.make("vaw", names=SCHEMA.names, seed=0)
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(0, 2, (300, 2)), rng.normal(size=(300, 3))])
    kh.play(learner, X, X[:, 3] + 2 * X[:, 1])
    return Frozen(learner, Scaling(SCHEMA, scaled=False, clip=False))


@pytest.fixture
def table(tmp_path):
    (tmp_path / "new.csv").write_text(LINES)
    return open_table(tmp_path / "new.csv", SCHEMA)


def test_rows_keep_their_names_and_tell_their_price(frozen, table, tmp_path):
    assert frozen.write(table, tmp_path / "p.csv", column="patient") == (3, 3, ())
    with open(tmp_path / "p.csv") as file:
        rows = list(csv.DictReader(file))
    assert [row["patient"] for row in rows] == ["p1", "p2", "p3"]
    assert [row["row"] for row in rows] == ["1", "2", "3"]
    assert {float(row["price"]) for row in rows} == {14.5}
    assert float(rows[0]["prediction"]) == pytest.approx(1.5, abs=0.2)
    frozen.names = ("ldl", "sex=m")
    assert frozen.price == 14.0  # a panel is paid whole, and once
    frozen.names = frozen.round.names
    frozen.write(table, tmp_path / "p.parquet", column="patient")
    assert pq.read_table(tmp_path / "p.parquet")["patient"].to_pylist() == ["p1", "p2", "p3"]


def test_unseen_categories_are_reported(frozen, table, tmp_path):
    frozen.write(table, tmp_path / "p.csv")
    (told,) = table.strangers()
    assert told.startswith("'sex' had 1 cells that are none of its values (x)")


def test_intervals_are_written_where_the_learner_has_them(frozen, table, tmp_path, monkeypatch):
    monkeypatch.setattr(type(frozen.learner), "gives_intervals", True)
    monkeypatch.setattr(type(frozen.learner), "_interval", lambda self, r, x, level: (-level, 2 * level))
    frozen.write(table, tmp_path / "p.parquet", level=0.8)
    found = pq.read_table(tmp_path / "p.parquet")
    assert found["low"].to_pylist() == [-0.8] * 3
    assert found["high"].to_pylist() == [1.6] * 3


def test_a_frozen_thrifty_writes_the_intervals_of_its_learner(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    learner = kh.make("thrifty", names=["a", "b", "c"], k=2, seed=0)
    kh.play(learner, X, X[:, 1] + 0.1 * rng.normal(size=300))
    learner.save(tmp_path / "m.kh")
    frozen = Frozen.read(tmp_path / "m.kh")
    (tmp_path / "new.csv").write_text("a,b,c\n1,2,3\n1,,3\n")
    frozen.write(open_table(tmp_path / "new.csv"), tmp_path / "p.parquet", level=0.95)
    found = pq.read_table(tmp_path / "p.parquet").to_pylist()
    values = {name: {"a": 1.0, "b": 2.0, "c": 3.0}[name] for name in frozen.names}
    assert (found[0]["low"], found[0]["high"]) == frozen.learner.interval(frozen.round, values, 0.95)
    widths = [row["high"] - row["low"] for row in found]
    assert widths[1] > 3 * widths[0] > 0


def test_values_outside_what_was_seen_in_training_are_counted(frozen, table, tmp_path):
    frozen.scaling = replace(frozen.scaling, seen={"ldl": (0.5, 1.0), "hdl": (0.0, 4.0)})
    done = frozen.write(table, tmp_path / "p.csv")
    assert done.outside == (
        "'ldl' is outside its range 0.25..1.25 in 2 of 2 values (largest seen 2): used as they are; check them",
    )


@pytest.mark.parametrize("label", ["yes/no", "number"])
def test_predictions_are_not_rounded(tmp_path, label):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(300, 2))
    y = (x[:, 0] + 0.5 * rng.normal(size=300) > 0).astype(int)
    lines = [f"{a},{b},{c}" for (a, b), c in zip(x.tolist(), y.tolist(), strict=True)]
    (tmp_path / "rows.csv").write_text("\n".join(["a,b,y", *lines]))
    schema = Schema(Label("y", type=label), (Attribute("a"), Attribute("b")))
    plan = runs.prepare(runs.RunConfig(tmp_path / "rows.csv", None, k=1, schema=schema))
    runs.begin(plan, tmp_path / "run", Silent(), publish)
    frozen = Frozen.read(tmp_path / "run" / "model.kh")
    for name in ("p.csv", "p.parquet"):
        frozen.write(open_table(tmp_path / "rows.csv", schema), tmp_path / name)
    (j,) = frozen.round.attributes
    exact = [frozen.learner.predict(frozen.round, row) for row in x[:, [j]]]
    assert pq.read_table(tmp_path / "p.parquet")["prediction"].to_pylist() == exact
    with open(tmp_path / "p.csv") as file:
        assert [float(row["prediction"]) for row in csv.DictReader(file)] == exact


def test_what_cannot_be_written_is_one_sentence(frozen, table, tmp_path):
    for name in ("p.xlsx", "p", "p.csv.zip"):
        with pytest.raises(ConfigError, match=r"written as \.csv or \.parquet"):
            refuse_extension(tmp_path / name)
    with pytest.raises(ConfigError, match="there is no column 'patien'; did you mean 'patient'"):
        frozen.write(table, tmp_path / "p.csv", column="patien")
    with pytest.raises(ConfigError, match="--id row: the predictions have a column of that name"):
        frozen.write(table, tmp_path / "p.csv", column="row")
    with pytest.raises(ConfigError, match="cannot be written"):
        frozen.write(table, tmp_path / "no" / "p.csv")
    assert list(tmp_path.glob("p*")) == []


def test_an_infinite_cell_is_named_with_its_row(frozen, tmp_path):
    (tmp_path / "new.csv").write_text(LINES.replace("1.5", "inf"))
    table = open_table(tmp_path / "new.csv", SCHEMA)
    with pytest.raises(ConfigError, match=r"new\.csv: row 1 \(without the header\), column 'ldl' is infinite"):
        frozen.write(table, tmp_path / "p.csv")
