"""Journey 5: live, in one process today and another when the label arrives."""

import json
import subprocess
import sys

import numpy as np

import keyhole as kh
from keyhole.core.serialization import to_bytes

from .conftest import environment

ASK = """
import json, sys, keyhole as kh
learner = kh.make("ds-oslrc", names=json.loads(sys.argv[1]), k=3, seed=0)
panel = json.loads(sys.argv[2])
r = learner.ask(available=panel)
score = learner.predict(r, dict.fromkeys(r.names, 0.25))
learner.save("learner.kh")
print(json.dumps([r.to_json(), score, r.names]))
"""
TELL = """
import json, sys, keyhole as kh
learner = kh.load("learner.kh")
r = kh.Round.from_json(sys.argv[1])
learner.tell(r, dict.fromkeys(r.names, 0.25), 0.7)
learner.save("learner.kh")
"""


def python(code, *words, cwd):
    command = [sys.executable, "-c", code, *words]
    return subprocess.run(command, cwd=cwd, env=environment(), check=True, capture_output=True, text=True).stdout


def test_labels_may_come_weeks_later_in_another_process(tmp_path):
    tests = ["age", "bmi", "hba1c", "ldl", "sodium", "pulse", "height"]
    panel = ["age", "bmi", "ldl", "pulse"]
    text, score, names = json.loads(python(ASK, json.dumps(tests), json.dumps(panel), cwd=tmp_path))
    assert set(names) <= set(panel)
    assert np.isfinite(score)
    python(TELL, text, cwd=tmp_path)
    there = kh.load(tmp_path / "learner.kh")

    here = kh.make("ds-oslrc", names=tests, k=3, seed=0)
    r = here.ask(available=panel)
    here.tell(r, dict.fromkeys(r.names, 0.25), 0.7)
    assert there.open_rounds == ()
    assert to_bytes(there) == to_bytes(here)
