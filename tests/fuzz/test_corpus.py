"""Past finds of `make fuzz`, and a fresh slice of each target."""

import json
import warnings
from pathlib import Path

import numpy as np
import pytest

from .targets import TARGETS

PAST = [tuple(find) for find in json.loads((Path(__file__).parent / "corpus.json").read_text())]
SLICE = [(name, seed) for name in TARGETS if name != "engine" for seed in range(12)]


@pytest.mark.parametrize(("target", "seed"), [*PAST, *SLICE])
def test_nothing_is_found(target, seed):
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        assert TARGETS[target](np.random.default_rng([9, seed])) in ("refused", "accepted", "right", "failed")
