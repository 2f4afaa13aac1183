"""`make`: every wrong argument is one clear sentence."""

import inspect

import numpy as np
import pytest

import keyhole as kh
from keyhole.core.registry.catalogue import class_of
from keyhole.core.serialization import from_bytes, to_bytes

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
    "a name twice": (dict(name="ds-oslrc", names=list("abcdefa"), k=3), "'a' occurs twice"),
    "no names": (dict(name="ds-oslrc", names=[], k=3), "empty"),
    "an object": (dict(name="ds-oslrc", d=20, k=4, tuning=object()), "an option must be"),
    "letters for names": (dict(name="ds-oslrc", names="abcdefg", k=3), "names must be a list"),
    "a number for names": (dict(name="ds-oslrc", names=7, k=3), "names must be a list"),
    "d beyond all memory": (dict(name="thrifty", d=10**30, k=3), "d must be a number of at most 18 digits"),
    "d of 400 digits": (dict(name="thrifty", d=10**400, k=3), "at most 18 digits"),
    "lists in lists": (dict(name="rda", d=4, groups=[[[[[[[1]]]]]]]), "deeply nested lists"),
    "a share of nothing": (dict(name="aer", d=9, k=3, explore=0), "exploration rate"),
    "a number of 400 digits": (dict(name="aer", d=9, k=3, radius=10**400), "too large"),
    "text for a number": (dict(name="vaw", d=9, a="much"), "a must be a number"),
    "no k": (dict(name="fixed-random", d=9), "'fixed-random' needs k, the number of sources it may buy per row$"),
    "no k and no money": (
        dict(name="thrifty", d=9, prices=[1] * 9),
        "needs k, .*or what limits the money: error_cost, budget_per_row",
    ),
    "nothing to buy": (dict(name="thrifty", names=["a", "b"], free=["b", "a"]), "every attribute is free"),
    "an error cost for others": (
        dict(name="ds-oslrc", d=9, k=3, error_cost=1),
        "'ds-oslrc' takes no error_cost; 'thrifty' does",
    ),
    "prices of others": (dict(name="aer", d=9, k=3, prices=[1] * 9), "'aer' takes no prices; 'thrifty' does"),
    "free attributes for others": (dict(name="rda", d=9, free=["x1"]), "takes no free attributes such as 'x1'"),
    "no name at all": (dict(name=None, d=9, k=3), "there is no algorithm"),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_bad_argument_is_a_config_error(case):
    arguments, message = WRONG[case]
    with pytest.raises(kh.ConfigError, match=message):
        kh.make(arguments.pop("name"), **arguments)


@pytest.mark.parametrize(
    "limit", [{"error_cost": 1.0}, {"budget_per_row": 2.0}, {"total_budget": 5.0, "expected_rows": 3}]
)
def test_without_k_money_is_the_only_limit(limit):
    assert kh.make("thrifty", d=3, prices=[1.0] * 3, **limit).k == 3


def test_who_buys_everything_or_is_told_its_support_needs_no_k():
    assert kh.make("vaw", names=["a", "b", "c"], free=["a"]).k == 3
    assert kh.make("oracle-support", d=5, support=[1, 2]).ask().attributes.tolist() == [1, 2]


def test_algorithms_are_records():
    for a in kh.list_algorithms():
        assert a.name
        assert a.setting
        assert a.bound
        assert a.cost
        assert a.reference
        assert a.assumptions
        assert a.status in ("verified", "reconstructed")
        words = {"name", "setting", "assumptions", "bound", "cost", "reference", "status"}
        assert set(a.to_dict()) == words | {
            *("buys_all", "takes", "takes_k0", "needs_k0", "raw_columns", "oracle", "past_rows", "binary_labels"),
            *("conditions", "further", "options"),
        }
    assert len({a.name for a in kh.list_algorithms()}) == len(kh.list_algorithms())


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


def test_the_options_of_a_record_are_those_of_the_constructor():
    for a in kh.list_algorithms():
        parameters = inspect.signature(class_of(a.name)).parameters
        taken = {p: parameters[p].default for p in parameters if p not in ("names", "k", "k0", "seed")}
        assert {option.name: option.default for option in a.options} == taken, a.name
        for option in a.options:
            assert option.meaning
            assert (option.default in option.choices) == (option.type == "choice")


ODD = [
    *(None, True, 0, -1, 3, 1.5, float("nan"), float("inf"), -1e300, 1e-300, 1e300, 10**30, 10**400),
    *("", "x", "1", "\x00", [], [1], ["x0"], [[]], [[0], [0]], {}, {"a": 1}, {"x0": 1.0}, (1, 2)),
    *(b"bytes", np.float64(2), np.arange(3), object()),
]


@pytest.mark.parametrize("a", kh.list_algorithms(), ids=lambda a: a.name)
def test_no_option_leads_to_another_exception(a):
    """Every option with everything odd: a learner, or a ConfigError of one sentence."""
    k, k0 = 9 if a.buys_all else 3, 4 if a.needs_k0 else 0
    for option in a.options:
        for value in ODD:
            given = {"support": [1, 2]} if a.oracle else {}
            try:
                learner = kh.make(a.name, d=9, k=k, k0=k0, seed=0, **{**given, option.name: value})
            except kh.ConfigError as fault:
                assert "\n" not in str(fault)  # noqa: PT017
                assert len(str(fault)) < 400  # noqa: PT017
            else:
                for _ in range(3):
                    learner.abandon(learner.ask())


@pytest.mark.parametrize("explore", [1e-300, 1e-17, "1e-300 t^(-1/2)", "1e-9 t^(-0.999)"])
def test_a_rate_that_explores_never_does_not_hang(explore):
    X, y, _ = kh.streams.synthetic(9, 3, 50, seed=0)
    for name in ("ds-oslrc", "aer", "aerr", "aelr", "ito2017-2", "ito2017-3"):
        history = kh.play(kh.make(name, d=9, k=3, seed=0, explore=explore), X, y)
        assert history.explored.sum() == 1


@pytest.mark.parametrize("a", kh.list_algorithms(), ids=lambda a: a.name)
def test_what_code_reads_of_an_algorithm_is_a_field_and_agrees_with_the_learner(a):
    options = {"support": [0, 1, 2]} if a.name == "oracle-support" else {}
    k0 = 3 if a.takes_k0 else 0
    learner = kh.make(a.name, d=8, k=8 if a.buys_all else 3, k0=0 if a.buys_all else k0, seed=0, **options)
    assert a.raw_columns or not hasattr(type(learner), "intercept")  # only raw columns have a level of their own
    r = learner.ask()
    assert a.buys_all == (r.attributes.size == 8)
    assert a.takes_k0 == (learner.ask_more(r).size > 0)


@pytest.mark.parametrize("cls", [kh.Thrifty, kh.DSOSLRC])
def test_a_learner_made_by_its_class_is_saved_like_one_of_make(cls):
    X, y, _ = kh.streams.synthetic(d=8, k=3, T=60, seed=0)
    names = [f"x{i}" for i in range(8)]
    own, made = cls(names, k=3, k0=0, seed=4), kh.make(cls.name, names=names, k=3, seed=4)
    for learner in (own, made):
        kh.play(learner, X, y)
    again = from_bytes(to_bytes(own))
    assert np.array_equal(again.weights, made.weights)
    assert to_bytes(again) == to_bytes(own)
