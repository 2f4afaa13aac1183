"""A bandit draws the same arms on every processor: nothing that decides a draw depends on how BLAS adds up."""

import os
import subprocess
import sys

import pytest

PLAY = """
import hashlib
import numpy as np
import keyhole as kh

rng = np.random.default_rng(20261118)
X = np.clip(rng.standard_normal((3000, 9)) / 3.0, -1.0, 1.0)
y = np.clip(X[:, [0, 3, 7]] @ np.array([0.5, -0.3, 0.2]) + 0.05 * rng.standard_normal(3000), -1.0, 1.0)
y = y.round(6)  # the labels themselves are the same on every processor
history = kh.play(kh.make("support-bandit", d=9, k=2, seed=7, **{options}), X, y)
print(hashlib.sha256(history.predictions.tobytes()).hexdigest())
"""


@pytest.mark.parametrize("base", ["vaw", "newton", "gradient"])
def test_a_bandit_plays_the_same_on_every_processor(base: str) -> None:
    code = PLAY.replace("{options}", repr({"base": base}))
    answers = {
        subprocess.run(
            [sys.executable, "-c", code],
            env=os.environ | kernels,
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for kernels in ({}, {"OPENBLAS_CORETYPE": "Prescott"})  # this machine's, and those of an old one
    }
    assert len(answers) == 1
