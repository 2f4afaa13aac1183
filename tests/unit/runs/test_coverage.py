"""What a run says of changes and of its intervals: the same as playing by hand, and the same when it was cut."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import keyhole as kh
from keyhole import runs
from keyhole.cli._progress import Screen
from keyhole.core.round import Alarm
from keyhole.data.streams import Batch, Schema
from keyhole.data.value_counts import ValueRanges
from keyhole.runs.played_pages import PlayedPage, Purchases
from keyhole.runs.totals import Totals, totals_of

from .test_lifecycle import Silent, publish

T, CHANGE = 2500, 1500


@pytest.fixture(scope="module")
def rows():
    """The label's level rises at row 1500; every seventh row has no label."""
    X, y, _ = kh.streams.synthetic(6, 2, T, seed=4)
    y[CHANGE:] += 5.0
    y[::7] = np.nan
    return X, y


@pytest.fixture
def plan(rows, tmp_path):
    X, y = rows
    pq.write_table(pa.table({f"x{i}": X[:, i] for i in range(6)} | {"y": y}), tmp_path / "a.parquet")
    return runs.prepare(runs.RunConfig(tmp_path / "a.parquet", "y", k=2))


def summary_of(folder):
    return json.loads((folder / "summary.json").read_text())


def test_a_run_says_what_its_learner_noticed_and_its_intervals_held(plan, rows, tmp_path):
    class Watcher(Silent):
        def tick(self, at, totals):
            super().tick(at, totals)
            self.line = Screen("title", T)._line(at, totals, 1.0)

    watcher = Watcher()
    assert runs.begin(plan, tmp_path / "run", watcher, publish)
    learner = kh.load(tmp_path / "run" / "model.kh")
    history = kh.play(kh.make("thrifty", names=learner.names, k=2, seed=learner.seed), *rows)
    found = summary_of(tmp_path / "run")
    assert found["coverage"] == {str(level): history.coverage(level) for level in (0.5, 0.9, 0.95)}
    labelled = np.flatnonzero(~np.isnan(rows[1])) + 1
    assert found["alarms"] == [{"row": labelled[a.row - 1], "what": a.what} for a in learner.alarms]
    assert found["alarms"][0]["row"] == pytest.approx(CHANGE, abs=200)
    n = len(found["alarms"])
    assert watcher.line.endswith(f"{n} change{'s' * (n > 1)} noticed")


def test_a_run_that_was_cut_says_the_same(plan, tmp_path):
    assert runs.begin(plan, tmp_path / "whole", Silent(), publish)
    for stop in (1450, 1600):
        folder = tmp_path / f"cut{stop}"
        assert not runs.begin(plan, folder, Silent(stop), publish, 0.0)
        assert runs.resume(folder, Silent(), publish)
        assert summary_of(folder) == summary_of(tmp_path / "whole")


def test_a_learner_without_intervals_has_no_coverage(rows, plan, tmp_path):
    plain = runs.prepare(runs.RunConfig(tmp_path / "a.parquet", "y", k=2, algorithm="fixed-random"))
    assert runs.begin(plain, tmp_path / "run", Silent(), publish)
    found = summary_of(tmp_path / "run")
    assert found["coverage"] is None
    assert found["alarms"] == []


def test_alarms_are_counted_once_and_by_the_row_of_the_file():
    schema, nan = Schema.plain("y", ["x"]), np.nan
    nothing = np.empty(0, dtype=np.int64)

    def totals(first, labels, levels, labels_before, alarms):
        n = len(labels)
        bought = Purchases(np.zeros(n, dtype=np.int64), nothing, np.empty(0))
        flags = np.zeros(n, dtype=bool)
        raw = Batch(first, np.zeros((n, 1)), np.array(labels))
        page = PlayedPage(raw, 0, np.zeros(n), flags, flags, np.array(levels), bought, bought, labels_before)
        return totals_of(page, schema, ValueRanges.of(schema), alarms)

    first = (Alarm(2, "a"),)
    found = totals(0, [nan, 1.0, nan, 2.0], [nan, 0.3, nan, 0.92], 0, first)
    found += totals(4, [3.0, nan, 4.0], [0.5, nan, 1.0], 2, (*first, Alarm(4, "b\tc")))
    assert found.alarms == [{"row": 4, "what": "a"}, {"row": 7, "what": "b\tc"}]
    assert found.coverage == {"0.5": 2 / 4, "0.9": 2 / 4, "0.95": 3 / 4}
    again = Totals.zero(schema)
    again.set_state(found.get_state())
    assert again.alarms == found.alarms
