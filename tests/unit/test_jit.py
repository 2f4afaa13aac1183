"""Compiling is announced, once, and only when it happens."""

import os
import subprocess
import sys
from pathlib import Path

import keyhole

CODE = """
import numpy as np
from keyhole.dantzig import Sequence
seq = Sequence(3)
for _ in range(2):
    seq.update(np.arange(2), np.eye(2), np.ones(2))
"""


def test_one_line_on_stderr_with_a_cold_cache_and_none_with_a_warm_one(tmp_path: Path) -> None:
    source = str(Path(keyhole.__file__).parents[1])
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path), "PYTHONPATH": source}
    run = [sys.executable, "-c", CODE]
    cold, warm = (subprocess.run(run, env=environment, capture_output=True, text=True, check=True) for _ in "ab")
    assert cold.stderr.count("\n") == 1
    assert "compiling" in cold.stderr
    assert warm.stderr == ""
    assert cold.stdout == warm.stdout == ""
