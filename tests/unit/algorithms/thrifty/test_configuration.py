"""What cannot be configured is said in a sentence."""

import numpy as np
import pytest

import keyhole as kh

PRICED = {"d": 3, "prices": [1.0, 2.0, 3.0], "seed": 0}


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"d": 3, "error_cost": 1.0}, "error_cost needs prices"),
        ({"d": 3, "total_budget": 1.0, "expected_rows": 5}, "total_budget needs prices"),
        ({"d": 3, "budget_per_row": 1.0, "free": ["x0"]}, "budget_per_row needs prices"),
        ({**PRICED, "total_budget": 10.0}, "give total_budget and expected_rows together"),
        ({**PRICED, "expected_rows": 10}, "give total_budget and expected_rows together"),
        ({**PRICED, "error_cost": 1.0, "expected_rows": 10}, "give total_budget and expected_rows together"),
        ({**PRICED, "error_cost": 0.0}, "error_cost must be > 0"),
        ({**PRICED, "error_cost": -1.0}, "error_cost must be > 0"),
        ({**PRICED, "error_cost": np.nan}, "error_cost must be a number"),
        ({**PRICED, "total_budget": 0.0, "expected_rows": 3}, "total_budget must be > 0"),
        ({**PRICED, "total_budget": 5.0, "expected_rows": 0}, "expected_rows must be"),
        ({**PRICED, "error_cost": 1.0, "half_life": 0.0}, "half_life must be > 0"),
        ({**PRICED, "error_cost": 1.0, "k": 4}, "k must be between 1 and d = 3"),
        ({"d": 3, "free": ["x0"], "k": 3}, "k must be between 1 and the number of sources = 2"),
    ],
)
def test_what_makes_no_sense_is_a_config_error(options, said):
    with pytest.raises(kh.ConfigError, match=said):
        kh.make("thrifty", **options)


@pytest.mark.parametrize(
    "options", [{"error_cost": 2}, {"total_budget": 5, "expected_rows": 3}, {"error_cost": np.float64(2.0)}]
)
def test_whole_numbers_and_numpys_are_numbers(options):
    learner = kh.make("thrifty", **PRICED, **options)
    X = np.random.default_rng(0).normal(size=(50, 3))
    assert np.isfinite(kh.play(learner, X, X[:, 0]).predictions).all()
