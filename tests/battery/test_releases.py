"""What a learner did in a released version it does today, and a model file of that version goes on.

Where a result was changed on purpose it is recorded again with its reason in tests/fixtures/traces-VERSION.json.
"""

import json

import numpy as np
import pytest

import keyhole as kh

from .releases import CASES, FIXTURES, go_on, trace

pytestmark = pytest.mark.filterwarnings("ignore::keyhole.KeyholeWarning")

VERSIONS = sorted(path.stem.removeprefix("traces-") for path in FIXTURES.glob("traces-*.npz"))
RECORDED = {version: dict(np.load(FIXTURES / f"traces-{version}.npz")) for version in VERSIONS}
BOTH = [(version, case) for version in VERSIONS for case in CASES if f"{case}/next" in RECORDED[version]]


def test_every_algorithm_of_a_release_is_recorded():
    assert VERSIONS
    assert {name for name, _ in CASES.values()} == {a.name for a in kh.algorithms()}  # so will be that of the next
    assert {name for name, _ in CASES.values()} >= {kh.load(path).name for path in FIXTURES.glob("models-*/*.kh")}
    for version in VERSIONS:
        models = {path.stem for path in (FIXTURES / f"models-{version}").glob("*.kh")}
        assert models == {case for v, case in BOTH if v == version}


def test_every_change_has_its_reason():
    for version in VERSIONS:
        reasons = json.loads((FIXTURES / f"traces-{version}.json").read_text())
        assert all(case in CASES and len(reason) > 20 for case, reason in reasons.items())


@pytest.mark.parametrize(("version", "case"), BOTH)
def test_the_results_are_those_of_the_release(version, case):
    recorded = RECORDED[version]
    today = trace(case, recorded["X"], recorded["y"])
    assert np.array_equal(today["bought"], recorded[f"{case}/bought"])
    assert np.array_equal(today["explored"], recorded[f"{case}/explored"])
    assert np.allclose(today["predictions"], recorded[f"{case}/predictions"], rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize(("version", "case"), BOTH)
def test_a_model_file_of_the_release_loads_and_goes_on(version, case):
    recorded = RECORDED[version]
    learner = kh.load(FIXTURES / f"models-{version}" / f"{case}.kh")
    after = go_on(learner, recorded["X"], recorded["y"])
    assert np.allclose(after, recorded[f"{case}/next"], rtol=1e-9, atol=1e-11)
