"""Past rows and models in a store: one event each, replayed to the same bytes, and never counted twice."""

import numpy as np
import pandas as pd
import pytest

import keyhole as kh
from keyhole.cli.serve import _add_model
from keyhole.core.serialization import to_bytes
from keyhole.store.export_import import export_store, import_store
from keyhole.store.verify import check

from .play import NAMES, WEIGHTS, create, play

RNG = np.random.default_rng(3)
X = RNG.uniform(-1, 1, (60, len(NAMES)))
Y = X @ WEIGHTS


@pytest.fixture
def store(url):
    with kh.open_store(url) as store:
        yield store


def sound(store):
    return [fault for verdict in check(store.database) for fault in verdict.faults] == []


@pytest.mark.parametrize("algorithm", ["thrifty", "ds-oslrc"])
def test_past_rows_are_learnt_once_and_survive_a_replay(store, url, tmp_path, algorithm):
    learner, plain = create(store, algorithm=algorithm), kh.make(algorithm, names=NAMES, k=3, seed=0)
    frame = pd.DataFrame(X, columns=NAMES)[NAMES[::-1]]
    if algorithm == "thrifty":
        frame.loc[4, NAMES[2]] = np.nan
    labels = Y.copy()
    labels[9] = np.nan
    assert learner.learn(frame, labels) is True
    assert learner.learn(frame, labels) is False
    plain.learn(frame, labels)
    assert to_bytes(learner.learner()) == to_bytes(plain)
    assert (learner.head, learner.totals().n_asked, learner.totals().spent) == (1, 0, 0.0)
    play(learner, 0, 5)
    with kh.open_store(url) as elsewhere:
        assert to_bytes(elsewhere["icu"].learner()) == to_bytes(learner.learner())
    assert sound(store)
    export_store(store.database, tmp_path / "out")
    with kh.open_store(f"sqlite:///{tmp_path}/copy.db") as copy:
        import_store(copy.database, tmp_path / "out")
        assert to_bytes(copy["icu"].learner()) == to_bytes(learner.learner())
        assert sound(copy)


def test_a_refused_table_leaves_the_store_as_it_was(store):
    learner = create(store, algorithm="thrifty")
    play(learner, 0, 3)
    before, head = to_bytes(learner.learner()), learner.head
    infinite = X.copy()
    infinite[7, 1] = np.inf
    for table, labels in ((infinite, Y), (X[:, 1:], Y), (X, Y[1:])):
        with pytest.raises(kh.ProtocolError):
            learner.learn(table, labels)
    assert (to_bytes(learner.learner()), learner.head) == (before, head)
    with pytest.raises(kh.ConfigError, match="'aer' cannot learn"):
        create(store, "other", algorithm="aer").learn(X, Y)
    assert sound(store)


def test_a_commit_that_fails_learns_nothing(store, monkeypatch):
    learner = create(store, algorithm="thrifty")
    play(learner, 0, 2)
    before = to_bytes(learner.learner())
    with monkeypatch.context() as patched:
        patched.setattr("keyhole.store.transaction.LearnerTransaction._write", _die)
        with pytest.raises(KeyboardInterrupt):
            learner.learn(X, Y)
    assert to_bytes(learner.learner()) == before
    assert learner.learn(X, Y) is True
    assert sound(store)


def _die(*_):
    raise KeyboardInterrupt


@pytest.mark.parametrize("algorithm", ["thrifty", "gibbs-thompson"])
def test_a_model_goes_live(store, algorithm):
    model = kh.make(algorithm, names=NAMES, k=3, seed=0)
    model.learn(X, Y)  # gibbs-thompson draws meanwhile: its generator is part of the model
    data = to_bytes(model)
    learner = store.create_from_model("live", data)
    assert to_bytes(learner.learner()) == data
    assert store.create_from_model("live", data).head == 1
    play(learner, 0, 4)
    assert sound(store)
    other = kh.make(algorithm, names=NAMES, k=3, seed=0)
    with pytest.raises(kh.ProtocolError, match="already has rounds"):
        store.create_from_model("live", to_bytes(other))
    with pytest.raises(ValueError, match="another configuration"):
        store.create_from_model("live", to_bytes(kh.make(algorithm, names=NAMES, k=2, seed=0)))


def test_serve_takes_the_model_of_a_plan(store, tmp_path, capsys):
    pd.DataFrame(X, columns=NAMES).assign(bp=Y).to_csv(tmp_path / "past.csv", index=False)
    kh.experiments.plan(tmp_path / "past.csv", target="bp", k=2, out=tmp_path / "ward")
    _add_model(store, tmp_path / "ward" / "model.kh")
    assert "learner 'ward': thrifty, past rows: 60, free" in capsys.readouterr().out
    assert store["ward"].note == {"label": "bp"}
    assert store["ward"].learner().n_past_rows == 60


@pytest.mark.parametrize(
    ("column", "cells"),
    [("day", ["2024-01-01", "2024-03-02"]), ("smoker", ["yes", "no"]), ("site", ["north", "south"])],
)
def test_serve_refuses_a_model_whose_page_could_not_take_its_values(store, tmp_path, column, cells):
    table = pd.DataFrame(X, columns=NAMES).assign(bp=Y)
    table[column] = [cells[i % 2] for i in range(len(table))]
    table.to_csv(tmp_path / "past.csv", index=False)
    kind = {"day": "date", "smoker": "yes/no", "site": "category"}[column]
    lines = [f'"{name}" = {{}}' for name in NAMES] + [f'{column} = {{type = "{kind}"}}']
    (tmp_path / "s.toml").write_text('[label]\nname = "bp"\n[attributes]\n' + "\n".join(lines))
    kh.experiments.plan(tmp_path / "past.csv", schema=tmp_path / "s.toml", k=2, out=tmp_path / "ward")
    with pytest.raises(kh.ConfigError, match=f"columns that are not numbers \\('{column}'\\)"):
        _add_model(store, tmp_path / "ward" / "model.kh")
    assert not list(store)
