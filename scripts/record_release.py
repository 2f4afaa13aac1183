"""Record what every learner of the installed keyhole does, for the tests of all later versions.

    python scripts/record_release.py VERSION                            a new release: everything, and its model files
    python scripts/record_release.py VERSION --because REASON CASE ...  these cases changed on purpose: record again

writes tests/fixtures/traces-VERSION.npz (the stream, and of every case predictions, purchases, explorations, and what
its saved model predicts next) and tests/fixtures/models-VERSION/CASE.kh (taken mid-stream with rounds open). A model
file is never written again: files of a release must go on loading. The reason goes into traces-VERSION.json.
"""

import json
import sys
import warnings
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.battery.releases import CASES, FIXTURES, go_on, stream, to_be_saved, trace

import keyhole as kh


def record(version: str, cases: list[str], reason: str | None) -> None:
    """Write the fixtures of these cases beside those that are there."""
    X, y = stream()
    path, why, models = (
        FIXTURES / f"{name}" for name in (f"traces-{version}.npz", f"traces-{version}.json", f"models-{version}")
    )
    models.mkdir(parents=True, exist_ok=True)
    traces = dict(np.load(path)) if path.exists() else {}
    reasons = json.loads(why.read_text()) if why.exists() else {}
    for case in cases:
        if reason is None:
            to_be_saved(case, X, y).save(models / f"{case}.kh")
        else:
            reasons[case] = reason
        after = go_on(kh.load(models / f"{case}.kh"), X, y)
        traces |= {f"{case}/{key}": value for key, value in {**trace(case, X, y), "next": after}.items()}
        print(case, flush=True)
    np.savez_compressed(path, **{**traces, "X": X, "y": y})
    why.write_text(json.dumps(reasons, indent=1, sort_keys=True) + "\n")


if __name__ == "__main__":
    warnings.simplefilter("ignore", kh.KeyholeWarning)
    version, *rest = sys.argv[1:]
    if rest[:1] == ["--because"]:
        record(version, rest[2:], rest[1])
    else:
        record(version, rest or list(CASES), None)
