"""Algorithms of other packages: by "module:Class", by entry points, and never by what a file or a request says."""

import json
import subprocess
import sys
from importlib.metadata import EntryPoint

import numpy as np
import pytest

import keyhole as kh
from keyhole.core.registry import catalogue, plugins
from keyhole.core.serialization import from_bytes, to_bytes

SOURCE = '''
import numpy as np
import keyhole as kh


class Zero(kh.Learner):
    """Buys the first k in the seeded order and predicts a constant."""

    name = "zero"

    def __init__(self, names, k, k0, seed, constant=0.0, loud=False, mode="plain"):
        super().__init__(names, k, k0, seed)
        self.constant = constant

    def _weights(self):
        return np.zeros(self.d)

    def _support(self):
        return np.sort(self.order[: self.k])

    def _ask(self, t, pool):
        return kh.Acquisition("exploit", self._available_in_draw_order(pool)[: self.k])

    def _predict(self, r, x):
        return self.constant

    def _tell(self, r, x, y, more):
        pass


class Unfinished(kh.Learner):
    name = "unfinished"


def stream(T, seed):
    X = np.random.default_rng(seed).uniform(-1, 1, (T, 6))
    w = np.array([0.5, -0.5, 0, 0, 0, 0])
    return X, X @ w, w


def unknown_truth(T, seed):
    X, y, _ = stream(T, seed)
    return X, y, None


def lopsided(T, seed):
    X, y, w = stream(T, seed)
    return X, y[:-1], w


number = 3
'''


@pytest.fixture
def other(tmp_path, monkeypatch):
    """A module of another package, in the current folder and not imported yet."""
    (tmp_path / "other_package.py").write_text(SOURCE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delitem(sys.modules, "other_package", raising=False)
    yield "other_package"
    sys.modules.pop("other_package", None)


def test_a_class_is_made_by_name_once_its_module_is_imported(other):
    with pytest.raises(kh.ConfigError, match="import other_package first"):
        kh.make("other_package:Zero", d=5, k=2, seed=0)
    plugins.import_algorithm("other_package:Zero")
    learner = kh.make("other_package:Zero", d=5, k=2, seed=0, constant=0.25)
    r = learner.ask()
    assert (r.attributes.size, learner.predict(r, np.zeros(2))) == (2, 0.25)
    again = from_bytes(to_bytes(learner))
    assert again.constant == 0.25
    record = catalogue.record("other_package:Zero")
    assert record.setting == "Buys the first k in the seeded order and predicts a constant."
    assert [(o.name, o.type) for o in record.options] == [
        *(("constant", "number"), ("loud", "yes or no"), ("mode", "word")),
    ]


@pytest.mark.parametrize(
    ("options", "message"),
    [({"constant": "high"}, "constant must be a number"), ({"loud": 1}, "True or False"), ({"mode": []}, "a word")],
)
def test_options_of_the_wrong_type_are_refused(other, options, message):
    plugins.import_algorithm("other_package:Zero")
    with pytest.raises(kh.ConfigError, match=message):
        kh.make("other_package:Zero", d=5, k=2, seed=0, **options)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("no_such_package:Zero", "cannot be imported"),
        ("other_package:Missing", "no 'Missing' in the module"),
    ],
)
def test_what_is_not_there_is_said(other, name, message):
    with pytest.raises(kh.ConfigError, match=message):
        plugins.import_algorithm(name)


@pytest.mark.parametrize(("name", "message"), [("number", "derives from"), ("Unfinished", "does not define _ask")])
def test_what_is_no_learner_is_refused(other, name, message):
    plugins.import_algorithm(f"other_package:{name}")
    with pytest.raises(kh.ConfigError, match=message):
        kh.make(f"other_package:{name}", d=5, k=2, seed=0)


def test_a_file_does_not_decide_what_is_imported(other):
    plugins.import_algorithm("other_package:Zero")
    data = to_bytes(kh.make("other_package:Zero", d=5, k=2, seed=0))
    del sys.modules["other_package"]
    with pytest.raises(kh.StateError, match="import other_package first"):
        from_bytes(data)
    assert "other_package" not in sys.modules


def test_a_store_imports_nothing_either(other, tmp_path):
    url = f"sqlite:///{tmp_path / 'store.db'}"
    with kh.open_store(url) as store, pytest.raises(kh.ConfigError, match="import other_package"):
        store.create("mine", "other_package:Zero", d=5, k=2)
    assert "other_package" not in sys.modules


def test_an_installed_package_announces_its_learners(other, monkeypatch):
    plugins.import_algorithm("other_package:Zero")
    points = [
        EntryPoint("zero", "other_package:Zero", plugins.GROUP),
        EntryPoint("broken", "other_package:Missing", plugins.GROUP),
    ]
    monkeypatch.setattr(plugins, "entry_points", lambda group: points if group == plugins.GROUP else [])
    plugins.installed.cache_clear()
    try:
        with pytest.warns(kh.KeyholeWarning, match="'broken' of an installed package is omitted"):
            names = [a.name for a in kh.list_algorithms()]
        assert names[-1] == "zero"
        learner = kh.make("zero", d=5, k=2, seed=0)
        assert learner.config["name"] == "zero"
        assert from_bytes(to_bytes(learner)).config == learner.config
    finally:
        plugins.installed.cache_clear()


def test_a_comparison_plays_them_beside_ours(other):
    pytest.importorskip("pandas")
    result = kh.experiments.compare(
        ["other_package:Zero[constant=0.5]", "ds-oslrc", "fixed-random"],
        ["other_package:stream", "other_package:unknown_truth"],
        seeds=2,
        rounds=150,
        k=3,
    )
    assert [row.algorithm for row in result.rows[:3]] == [
        *("other_package:Zero[constant=0.5]", "ds-oslrc[tuning=empirical]", "fixed-random"),
    ]
    y = sys.modules["other_package"].stream(150, 0)[1]
    assert result.outcomes[0][1]["regret"] == pytest.approx(((0.5 - y) ** 2).sum(), rel=1e-12)
    assert np.isnan(result.rows[3].found)
    frame = result.to_frame()
    assert list(frame.columns)[:4] == ["stream", "algorithm", "seed", "regret"]
    assert len(frame) == 2 * 3 * 2
    assert len(result.summary()) == 6
    assert "fixed-random" in json.dumps(result.plot().to_dict())
    with pytest.raises(kh.ConfigError, match="one of the streams 'other_package:stream'"):
        result.plot("elsewhere")


def test_classes_and_functions_are_taken_as_they_are(other):
    plugins.import_algorithm("other_package:Zero")
    module = sys.modules["other_package"]
    result = kh.experiments.compare([module.Zero], [module.stream], seeds=1, rounds=20)
    assert (result.rows[0].algorithm, result.rows[0].stream) == ("other_package:Zero", "other_package:stream")
    assert result.outcomes[0][0].k == 2  # the weights that are not 0
    with pytest.raises(kh.ConfigError, match="at the top of a module"):
        kh.experiments.compare([module.Zero], [lambda T, seed: None], seeds=1, rounds=20)


@pytest.mark.parametrize(
    ("streams", "message"),
    [
        (["other_package:lopsided"], r"must give X \(T, d\)"),
        (["other_package:number"], "not a function"),
        ([], "at least one stream"),
        (["other_package:nothing"], "no 'nothing'"),
    ],
)
def test_streams_that_are_none_are_refused(other, streams, message):
    with pytest.raises(kh.ConfigError, match=message):
        kh.experiments.compare(["fixed-random"], streams, seeds=1, rounds=20, k=2)


def test_an_algorithm_is_listed_once():
    with pytest.raises(kh.ConfigError, match="listed twice"):
        kh.experiments.compare(["ds-oslrc", "ds-oslrc[tuning=empirical]"], ["synthetic:d=8,k=3"], seeds=1, rounds=20)


def test_the_command_line_takes_them_too(other, tmp_path):
    command = [
        *(sys.executable, "-m", "keyhole.cli", "compare", "synthetic:d=6,k=2", "--seeds", "1", "--rounds", "50"),
        *("--algorithms", "other_package:Zero,ds-oslrc[k=3]", "--jobs", "2", "--out", str(tmp_path / "league")),
    ]
    found = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path)
    assert "other_package:Zero" in found.stdout
    assert "ds-oslrc[tuning=empirical,k=3]" in found.stdout
    study = [*command[:3], "study", "edges", "--quick", "--also", "other_package:Nothing", "--out", "study"]
    refused = subprocess.run(study, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert refused.returncode != 0
    assert "no 'Nothing' in the module 'other_package'" in refused.stderr
