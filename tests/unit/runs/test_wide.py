"""A run of a table with very many columns begins soon: what happens before the first row grows as their number does."""

import sys
import time
from pathlib import Path

import pytest

pytest.importorskip("pyarrow")

from keyhole.runs.run_config import RunConfig, prepare


def start(folder: Path, d: int) -> tuple[float, float]:
    """(calls of Python functions per column, CPU seconds) until a run of d columns could play its first row."""
    file = folder / f"{d}.csv"
    names, row = ",".join(f"x{i}" for i in range(d)), ",".join(str(i % 7) for i in range(d))
    file.write_text(f"{names},y\n{row},1\n{row},2\n{row},3\n")
    calls = 0

    def count(*_: object) -> None:
        nonlocal calls
        calls += 1

    began, before = time.process_time(), sys.getprofile()
    sys.setprofile(count)
    try:
        plan = prepare(RunConfig(file=file, target="y", k=5))
    finally:
        sys.setprofile(before)
    assert len(plan.schema.names) == d
    return calls / d, time.process_time() - began


def test_the_start_of_a_run_is_linear_in_the_columns(tmp_path: Path) -> None:
    start(tmp_path, 10)  # what is imported once
    few, _ = start(tmp_path, 1000)
    many, seconds = start(tmp_path, 8000)
    assert many < 1.2 * few
    assert many < 400  # calls and returns: 302 when this was last changed
    assert seconds < 8  # what is quadratic inside of a call: 0.8 s, where 65 s for 16 000 columns would be 16
