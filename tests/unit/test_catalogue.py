"""`make`: every wrong argument is one clear sentence."""

import numpy as np
import pytest

import keyhole as kh

WRONG = {
    "an unknown name": (dict(name="ds-oslcr", d=20, k=4), "did you mean 'ds-oslrc'"),
    "no size": (dict(name="ds-oslrc", k=4), "either d"),
    "both sizes": (dict(name="ds-oslrc", k=4, d=7, names=list("abcdefg")), "either d"),
    "k too small": (dict(name="ds-oslrc", d=20, k=0), "between 1 and d = 20"),
    "k too large": (dict(name="ds-oslrc", d=20, k=21), "between 1 and d = 20"),
    "k of the bandit": (dict(name="ds-oslrc", d=20, k=2), "support-bandit"),
    "k near d": (dict(name="ds-oslrc", d=20, k=18), "support-bandit"),
    "k of the bandit, with extras": (dict(name="ds-poslrc", d=20, k=2, k0=4), "support-bandit"),
    "k0 missing": (dict(name="ds-poslrc", d=20, k=4), "k0 >= 3"),
    "k0 negative": (dict(name="ds-poslrc", d=20, k=4, k0=-1), "k0 must be >= 0"),
    "k half": (dict(name="ds-oslrc", d=20, k=4.5), "whole number"),
    "k a truth": (dict(name="ds-oslrc", d=20, k=True), "whole number"),
    "a negative seed": (dict(name="ds-oslrc", d=20, k=4, seed=-1), "seed must be >= 0"),
    "an unknown option": (dict(name="ds-oslrc", d=20, k=4, gama=1), "no option 'gama'"),
    "a tuning": (dict(name="ds-oslrc", d=20, k=4, tuning="magic"), "'theory', 'empirical'"),
    "a schedule": (dict(name="ds-oslrc", d=20, k=4, explore="often"), "'squares'"),
    "a growing rate": (dict(name="ds-oslrc", d=20, k=4, explore="t^-2"), "-1 < p"),
    "a reset": (dict(name="ds-oslrc", d=20, k=4, reset="never"), "'paper', 'partial'"),
    "a sampling": (dict(name="ds-oslrc", d=20, k=4, sampling="greedy"), "'paper', 'uniform'"),
    "an exploiter": (dict(name="ds-oslrc", d=20, k=4, exploit="adam"), "'newton', 'gradient'"),
    "a solve": (dict(name="ds-poslrc", d=20, k=4, k0=4, solve="sometimes"), "'every', 'powers'"),
    "a period": (dict(name="ds-poslrc", d=20, k=4, k0=4, solve=0), "'every', 'powers'"),
    "a noise": (dict(name="ds-oslrc", d=20, k=4, tuning="theory", sigma=-1.0), "sigma"),
    "a name twice": (dict(name="ds-oslrc", names=list("abcdefa"), k=3), "'a' is there twice"),
    "no names": (dict(name="ds-oslrc", names=[], k=3), "empty"),
    "an object": (dict(name="ds-oslrc", d=20, k=4, tuning=object()), "an option must be"),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_bad_argument_is_a_config_error(case):
    arguments, message = WRONG[case]
    with pytest.raises(kh.ConfigError, match=message):
        kh.make(arguments.pop("name"), **arguments)


def test_algorithms_are_records():
    for a in kh.algorithms():
        assert a.name
        assert a.setting
        assert a.bound
        assert a.cost
        assert a.reference
        assert a.assumptions
        assert a.status in ("verified", "reconstructed")
        words = {"name", "setting", "assumptions", "bound", "cost", "reference", "status"}
        assert set(a.to_dict()) == words | {"buys_all", "extras", "raw_columns"}
    assert len({a.name for a in kh.algorithms()}) == len(kh.algorithms())


def test_without_a_seed_one_is_drawn_and_kept():
    one, two = kh.make("ds-oslrc", d=30, k=4), kh.make("ds-oslrc", d=30, k=4)
    assert one.seed != two.seed
    again = kh.make("ds-oslrc", d=30, k=4, seed=one.seed)
    assert np.array_equal(again.ask().attributes, one.ask().attributes)


def test_more_extras_than_there_are_attributes_means_all_of_them():
    learner = kh.make("ds-poslrc", d=10, k=4, k0=9, seed=0)
    r = learner.ask()
    assert sorted([*r.attributes, *learner.ask_more(r)]) == list(range(10))


def test_scaled_is_kept_as_text():
    learner = kh.make("ds-oslrc", d=10, k=4, tuning=kh.tuning.Scaled(0.01), seed=0)
    assert learner.config["options"] == {"tuning": "scaled(0.01)"}


@pytest.mark.parametrize("a", kh.algorithms(), ids=lambda a: a.name)
def test_what_code_reads_of_an_algorithm_is_a_field_and_agrees_with_the_learner(a):
    options = {"support": [0, 1, 2]} if a.name == "oracle-support" else {}
    k0 = 3 if a.extras else 0
    learner = kh.make(a.name, d=8, k=8 if a.buys_all else 3, k0=0 if a.buys_all else k0, seed=0, **options)
    assert a.raw_columns == hasattr(type(learner), "intercept")
    r = learner.ask()
    assert a.buys_all == (r.attributes.size == 8)
    assert a.extras == (learner.ask_more(r).size > 0)
