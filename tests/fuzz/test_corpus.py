"""Past finds of `make fuzz`, and a fresh slice of each target."""

import json
from pathlib import Path

import numpy as np
import pytest

from .drawing import DRAWN
from .targets import TARGETS, quietly

WORDS = ("refused", "accepted", "right", "failed")
PAST = sorted((Path(__file__).parent / "corpus").glob("*.json"))
SLICE = [(name, number) for name in TARGETS if name != "engine" for number in range(12)]


def tried(target, case):
    with quietly():
        return TARGETS[target](case)


@pytest.mark.parametrize("path", PAST, ids=lambda path: path.stem)
def test_what_was_found_once_is_not_found_again(path):
    find = json.loads(path.read_text(encoding="utf-8"))
    assert tried(find["target"], find["case"]) in WORDS


@pytest.mark.parametrize(("target", "number"), SLICE)
def test_nothing_is_found(target, number):
    case = DRAWN[target](np.random.default_rng([9, number]))
    assert tried(target, json.loads(json.dumps(case))) in WORDS  # a case is what JSON keeps of it
