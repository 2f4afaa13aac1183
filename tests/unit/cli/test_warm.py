"""`keyhole warm` leaves kernels where a later start finds them."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import keyhole

SOURCE = str(Path(keyhole.__file__).parents[1])
PLAY = """
import keyhole as kh
for name, options in (("thrifty", {}), ("ds-oslrc", {}), ("ds-poslrc", {"k0": 3})):
    X, y, _ = kh.streams.synthetic(d=15, k=3, T=60, seed=2)
    kh.play(kh.make(name, d=15, k=3, seed=1, **options), X, y)
"""


@pytest.mark.slow
def test_after_it_nothing_is_compiled(tmp_path: Path) -> None:
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path), "PYTHONPATH": SOURCE}
    run = {"env": environment, "capture_output": True, "text": True, "check": True}
    done = subprocess.run([sys.executable, "-m", "keyhole.cli", "warm"], **run)
    assert [line.split(":")[0] for line in done.stdout.splitlines()[:-1]] == ["thrifty", "ds-oslrc", "ds-poslrc"]
    assert done.stdout.splitlines()[-1] == f"kept in {tmp_path / 'keyhole'}"
    assert "compiling" not in subprocess.run([sys.executable, "-W", "ignore", "-c", PLAY], **run).stderr
