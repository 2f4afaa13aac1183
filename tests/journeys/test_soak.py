"""A few seconds of `make soak`; memory and times are judged only by the long run, on a quiet machine."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from .conftest import environment

SCRIPT = Path(__file__).parents[2] / "scripts" / "soak.py"

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")


def test_a_slice_of_the_soak_loses_nothing(sqlite_url):
    words = [sys.executable, str(SCRIPT), "--minutes", "0.05", "--clients", "4", "--rate", "40", "--store", sqlite_url]
    done = subprocess.run(words, capture_output=True, text=True, env=environment(), timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    said = re.search(r"(\d+) labels acknowledged, (\d+) lost; the store is (\w+)", done.stdout)
    assert int(said[1]) >= 4
    assert said.groups()[1:] == ("0", "sound")
    assert done.stdout.count("\n") >= 6  # the table of the quarters, and this


@pytest.mark.parametrize(("seconds", "code"), [(3.0, 0), (600.0, 1)])
def test_only_a_long_soak_is_a_measurement(sqlite_url, monkeypatch, capsys, seconds, code):
    """Memory that doubles, and an ask that takes a hundred times the median."""
    import importlib.util

    import keyhole as kh

    spec = importlib.util.spec_from_file_location("soak_script", SCRIPT)
    soak = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, soak)  # its dataclass looks there
    spec.loader.exec_module(soak)
    with kh.open_store(sqlite_url) as store:
        for name, algorithm in soak.LEARNERS.items():
            store.create(name, algorithm, names=soak.NAMES, k=4, seed=0)
    log = soak.Log(asks=[(seconds * i / 100, 0.001) for i in range(98)] + [(seconds / 2, 0.1)] * 2)
    levels = [(seconds * i / 8, 100.0 + 100.0 * (i > 4)) for i in range(8)]
    assert soak.report(sqlite_url, seconds, log, levels) == code
    out = capsys.readouterr().out
    assert ("the memory grew from" in out) is ("p99 of an ask" in out) is bool(code)
    log.told.append(("icu", "1-1", 0.5))
    assert soak.report(sqlite_url, seconds, log, levels) == 1
