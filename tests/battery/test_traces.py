"""Every learner gives the predictions and purchases that were recorded.

A case that was changed on purpose is recorded again by `scripts/record_traces.py`, with its reason.
"""

import json

import numpy as np
import pytest

import keyhole as kh

from .traces import CASES, TRACES, long_trace, resume_saved, trace

pytestmark = pytest.mark.filterwarnings("ignore::keyhole.KeyholeWarning")

RECORDED = dict(np.load(TRACES))


def agree(today: dict[str, np.ndarray], recorded_as: str) -> None:
    for key, value in today.items():
        recorded = RECORDED[f"{recorded_as}/{key}"]
        if value.dtype.kind == "f":
            np.testing.assert_allclose(value, recorded, rtol=1e-9, atol=1e-11)
        else:
            np.testing.assert_array_equal(value, recorded)


def test_every_algorithm_has_a_recorded_case():
    assert {name for name, _ in CASES.values()} == {a.name for a in kh.list_algorithms()}
    assert {key.split("/")[0] for key in RECORDED if "/" in key} == set(CASES)


def test_every_change_has_its_reason():
    reasons = json.loads(TRACES.with_suffix(".json").read_text())["reasons"]
    assert all(case in CASES and len(reason) > 20 for case, reason in reasons.items())


@pytest.mark.parametrize("case", CASES)
def test_history_equals_the_recorded_one(case):
    agree(trace(case, RECORDED["X"], RECORDED["y"]), case)


@pytest.mark.parametrize("case", CASES)
def test_a_saved_learner_continues_as_recorded(case):
    agree({"resumed": resume_saved(case, RECORDED["X"], RECORDED["y"])}, case)


@pytest.mark.parametrize("case", CASES)
def test_long_history_equals_the_recorded_one(case):
    agree(long_trace(case, RECORDED["long_X"], RECORDED["long_y"]), f"{case}/long")
