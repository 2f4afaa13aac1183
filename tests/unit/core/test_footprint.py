"""Every learner says what it takes before it is built."""

import subprocess
import sys

import pytest

import keyhole as kh
from keyhole.core.registry import footprint as module
from keyhole.core.registry.footprint import _ESTIMATES, _LINEAR, footprint

from ...journeys.conftest import environment

MEASURE = """
import gc, json, os, sys, warnings
warnings.simplefilter("ignore")
import numpy as np
import keyhole as kh

def resident():
    gc.collect()
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

def play(name, d, rounds):
    a = next(a for a in kh.list_algorithms() if a.name == name)
    k = 2 if name in ("foster2016", "support-bandit") else 5
    more = {"support": [0, 1, 2, 3, 4]} if a.oracle else {} if a.buys_all else {"k": k}
    learner = kh.make(name, d=d, k0=3 if a.needs_k0 else 0, seed=0, **more)
    rng = np.random.default_rng(0)
    for _ in range(rounds):
        r = learner.ask()
        extra = (r.extra, rng.uniform(-1, 1, len(r.extra))) if len(r.extra) else ()
        learner.tell(r, rng.uniform(-1, 1, len(r.names)), float(rng.uniform(-1, 1)), *extra)
    return learner, k

found, kept = {}, []
for name in sys.argv[1:]:
    play(name, 12, 20)
    d = {"gibbs-thompson": 150, "foster2016": 100, "support-bandit": 100}.get(name, 900)
    before = resident()
    kept.append(play(name, d, 15))
    found[name] = [d, kept[-1][1], resident() - before]
print(json.dumps(found))
"""


def test_every_algorithm_has_an_estimate():
    assert {a.name for a in kh.list_algorithms()} == set(_ESTIMATES) | set(_LINEAR)


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_memory_is_within_the_estimate():
    import json

    names = [a.name for a in kh.list_algorithms()]
    out = subprocess.run(
        [sys.executable, "-c", MEASURE, *names], capture_output=True, text=True, env=environment(), check=True
    ).stdout
    for name, (d, k, measured) in json.loads(out).items():
        estimate = footprint(name, d, k if k < d else None).memory
        assert measured < 1.3 * estimate + 2e6, (name, measured, estimate)


def test_a_learner_larger_than_the_machine_is_refused_before_it_is_built(monkeypatch):
    monkeypatch.setattr("keyhole.core.registry.catalogue.machine_memory", lambda: 1e8)
    with pytest.raises(kh.ConfigError, match=r"'vaw' with d = 6000 takes about 578 MB, .* this machine has 0.1 GB"):
        kh.make("vaw", d=6000)
    assert kh.make("fixed-random", d=6000, k=2, seed=0).d == 6000


def test_a_large_learner_is_announced():
    with pytest.warns(kh.KeyholeWarning, match=r"'explore-then-commit' with d = 4000 takes about 514 MB, 0.16 s to"):
        kh.make("explore-then-commit", d=4000, k=3, seed=0)


def test_the_estimate_grows_with_the_size():
    for a in kh.list_algorithms():
        small, large = footprint(a.name, 100, 3), footprint(a.name, 200, 3)
        assert small.memory < large.memory
        assert small.build_seconds <= large.build_seconds
        assert small.round_seconds <= large.round_seconds
    with pytest.raises(kh.ConfigError, match="there is no algorithm"):
        footprint("vow", 3)
    assert module.machine_memory() > 1e8
