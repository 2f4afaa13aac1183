"""Record what the learners do now, for the tests of all later versions.

    python scripts/record_traces.py VERSION                        everything, as a new fixture
    python scripts/record_traces.py --because REASON CASE ...      these cases changed on purpose: record them again

writes tests/fixtures/traces.npz (the streams and, for each case, predictions, purchases, explorations, and the
predictions of a learner that was saved mid-stream with rounds open) and tests/fixtures/traces.json (the recorded
version, and the reason for each case that was recorded again).
"""

import json
import sys
import warnings
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.battery.traces import CASES, TRACES, long_stream, long_trace, resume_saved, stream, trace

import keyhole as kh


def record(cases: list[str], version: str | None, reason: str | None) -> None:
    """Write the traces of these cases beside the others."""
    (X, y), (long_X, long_y) = stream(), long_stream()
    notes_path = TRACES.with_suffix(".json")
    traces = dict(np.load(TRACES)) if reason else {}
    notes = json.loads(notes_path.read_text()) if reason else {"version": version, "reasons": {}}
    for case in cases:
        if reason:
            notes["reasons"][case] = reason
        found = {**trace(case, X, y), "resumed": resume_saved(case, X, y)}
        found |= {f"long/{key}": value for key, value in long_trace(case, long_X, long_y).items()}
        traces |= {f"{case}/{key}": value for key, value in found.items()}
        print(case, flush=True)
    streams = {"X": X, "y": y, "long_X": long_X, "long_y": long_y}
    np.savez_compressed(TRACES, **{**traces, **streams})
    notes_path.write_text(json.dumps(notes, indent=1, sort_keys=True) + "\n")


if __name__ == "__main__":
    warnings.simplefilter("ignore", kh.KeyholeWarning)
    first, *rest = sys.argv[1:]
    if first == "--because":
        record(rest[1:], None, rest[0])
    else:
        record(list(CASES), first, None)
