"""Every learner says what it takes before it is built."""

import subprocess
import sys
import tracemalloc

import numpy as np
import pytest

import keyhole as kh
from keyhole.core.registry import footprint as module
from keyhole.core.registry.catalogue import footprint_of
from keyhole.core.registry.footprint import _ESTIMATES, footprint

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
    assert {a.name for a in kh.list_algorithms()} == set(_ESTIMATES)


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


# Smaller sizes for learners whose memory grows quickly.
SIZES = {"foster2016": 14, "support-bandit": 14, "gibbs-thompson": 60, "kale2017-greedy": 200}


def arguments_of(name, d, k, k0=3):
    a = next(a for a in kh.list_algorithms() if a.name == name)
    names = [f"x{i}" for i in range(d)]
    given = {"names": names, "seed": 0} | ({} if a.buys_all else {"k": k})
    return given | ({"k0": min(k0, d - k)} if a.needs_k0 else {}) | ({"support": names[:k]} if a.oracle else {})


def peak(name, arguments, rounds=5):
    """The most bytes that building a learner and its first rounds hold at once, as Python and numpy count them."""
    kh.make(name, **arguments_of(name, 12, 5))  # imports what it needs
    rng = np.random.default_rng(0)
    tracemalloc.start()
    try:
        learner = kh.make(name, **arguments)
        for _ in range(rounds):
            r = learner.ask()
            x, more = (rng.uniform(-1, 1, len(n)) for n in (r.names, r.extra))
            learner.tell(r, x, float(rng.uniform(-1, 1)), *((r.extra, more) if more.size else ()))
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def check_memory(name, arguments):
    measured, estimate = peak(name, arguments), footprint_of(name, **arguments).memory
    assert measured < 1.3 * estimate + 2e6
    if name != "thrifty":  # which grows for 30 000 rounds, and with the support that the data justify
        assert estimate < 4 * measured + 2e6


@pytest.mark.parametrize("share", ["few", "half", "all but three"])
@pytest.mark.parametrize("name", [a.name for a in kh.list_algorithms()])
def test_memory_follows_what_is_bought(name, share):
    d = SIZES.get(name, 400)
    check_memory(name, arguments_of(name, d, {"few": 5, "half": d // 2, "all but three": d - 3}[share]))


@pytest.mark.parametrize("name", [a.name for a in kh.list_algorithms() if a.needs_k0])
def test_memory_follows_what_is_bought_after_the_label(name):
    d = SIZES.get(name, 200)
    check_memory(name, arguments_of(name, d, d // 2, k0=d // 2))


@pytest.mark.parametrize("name", ["fixed-random", "oracle-support", "thrifty"])
def test_memory_follows_the_attributes_of_panels_and_the_free_ones(name):
    names = [f"x{i}" for i in range(500)]
    panels = {f"panel{i}": names[i : i + 10] for i in range(0, 400, 10)}
    given = {"names": names, "seed": 0} | ({"support": names[:250]} if name == "oracle-support" else {})
    check_memory(name, given | {"sources": panels, "k": 30})
    check_memory(name, given | {"free": names[250:], "k": 250})


def test_a_given_support_counts_and_not_its_limit():
    assert footprint_of("oracle-support", d=6000, support=[1, 2]).memory == footprint("oracle-support", 6000, 2).memory


def test_a_learner_larger_than_the_machine_is_refused_before_it_is_built(monkeypatch):
    monkeypatch.setattr("keyhole.core.registry.catalogue.machine_memory", lambda: 1e8)
    with pytest.raises(kh.ConfigError, match=r"'vaw' with d = 6000 takes about 578 MB, .* this machine has 0.1 GB"):
        kh.make("vaw", d=6000)
    assert kh.make("fixed-random", d=6000, k=2, seed=0).d == 6000


@pytest.mark.parametrize("d", [10**6 + 1, 10**9, 10**30])
def test_more_attributes_than_could_be_named_in_seconds_are_refused_at_once(d):
    tracemalloc.start()
    try:
        with pytest.raises(kh.ConfigError, match="d must be"):
            kh.make("thrifty", d=d, k=3)
        assert tracemalloc.get_traced_memory()[1] < 1e6
    finally:
        tracemalloc.stop()


def test_a_large_learner_is_announced():
    with pytest.warns(kh.KeyholeWarning, match=r"'explore-then-commit' with d = 4000 takes about 514 MB, 0.16 s to"):
        kh.make("explore-then-commit", d=4000, k=3, seed=0)


def test_the_estimate_grows_with_every_size():
    for a in kh.list_algorithms():
        least = footprint(a.name, 100, 3, 3)
        for larger in ((200, 3, 3), (100, 6, 3), (100, 3, 6)):
            more = footprint(a.name, *larger)
            assert least.memory <= more.memory
            assert least.build_seconds <= more.build_seconds
            assert least.round_seconds <= more.round_seconds
        assert least.memory < footprint(a.name, 200, 3, 3).memory
    with pytest.raises(kh.ConfigError, match="there is no algorithm"):
        footprint("vow", 3)
    assert module.machine_memory() > 1e8
