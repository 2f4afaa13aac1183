"""Sources, known attributes and prices: what a basket hands over and what it costs."""

import time

import numpy as np
import pytest

import keyhole as kh
from keyhole.core.sources import SourceCatalog

NAMES = ["age", "ldl", "hdl", "glucose", "sex=f", "sex=m"]
SOURCES = {"lipids": ["ldl", "hdl"], "sex": ["sex=f", "sex=m"]}


def clinic(**more):
    prices = {"lipids": 12.0, "glucose": 3.0, "sex": 0.5}
    return SourceCatalog.build(NAMES, **{"sources": SOURCES, "free": ["age"], "prices": prices} | more)


def test_the_rest_are_sources_of_their_own():
    catalog = clinic()
    assert catalog.sources == ("lipids", "glucose", "sex")
    assert catalog.of.tolist() == [-1, 0, 0, 1, 2, 2]
    assert catalog.free.tolist() == [0]
    assert catalog.prices.tolist() == [12.0, 3.0, 0.5]
    assert not catalog.plain


def test_a_basket_hands_over_the_known_first_and_costs_the_sum():
    catalog = clinic()
    attributes = catalog.attributes([2, 0])
    assert attributes.tolist() == [0, 4, 5, 1, 2]
    assert catalog.ordered(attributes) == ("sex", "lipids")
    assert catalog.price(attributes) == 12.5
    assert catalog.attributes([]).tolist() == [0]
    assert catalog.price(catalog.attributes([])) == 0.0


def test_the_price_of_a_row_is_the_sum_one_by_one_whatever_stands_behind_it():
    """To the last bit, so that rows played in blocks cost what they cost one by one."""
    rng = np.random.default_rng(0)
    catalog = SourceCatalog.build([f"x{j}" for j in range(300)], prices=rng.uniform(0.1, 1.0, 300).tolist())
    attributes = np.array([rng.permutation(300) for _ in range(20)])
    sizes = rng.integers(0, 301, 20)
    expected = []
    for row, size in zip(attributes, sizes, strict=True):
        total = 0.0
        for j in row[:size]:
            total += float(catalog.charge[j])
        expected.append(total)
        assert catalog.price(row[:size]) == total
    assert catalog.price_of_rows(attributes, sizes).tolist() == expected


def test_a_part_of_a_source_is_not_whole():
    catalog = clinic()
    assert catalog.whole(np.array([0, 1, 2]))
    assert not catalog.whole(np.array([0, 1]))


def test_a_source_needs_all_of_its_attributes():
    catalog = clinic()
    lacking = np.array([False, True, False, True, True, True])
    assert catalog.pool(lacking).tolist() == [False, True, True]
    assert catalog.whole_of(lacking).tolist() == [True, False, False, True, True, True]
    assert catalog.places["lipids"].tolist() == [1, 2]
    assert catalog.places["ldl"].tolist() == [1]


def test_a_price_is_charged_once():
    assert clinic().charge.tolist() == [0.0, 12.0, 0.0, 3.0, 0.5, 0.0]
    assert clinic(
        free=None,
        sources={"lipids": ["hdl", "age"]},
        prices=dict.fromkeys(["lipids", "ldl", "glucose", "sex=f", "sex=m"], 0.1),
    ).charge.tolist() == [0.1, 0.1, 0.0, 0.1, 0.1, 0.1]


def test_without_sources_every_attribute_is_one():
    catalog = SourceCatalog.build(["a", "b"], prices=[1.0, 2.0])
    assert catalog.plain
    assert catalog.sources == ("a", "b")
    assert catalog.price(np.array([1])) == 2.0
    assert SourceCatalog.build(["a", "b"]).price(np.array([0, 1])) == 0.0


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"free": ["x"]}, "free: there is no attribute 'x'"),
        ({"free": "age"}, "free must be a list"),
        ({"sources": {"lipids": ["ldl", "x"]}}, "source 'lipids' contains 'x'"),
        ({"sources": {"lipids": []}}, "source 'lipids' must be a list"),
        ({"sources": {"lipids": ["age"]}}, "'age' is free and also in source 'lipids'"),
        ({"sources": {"a": ["ldl"], "b": ["ldl"]}}, "'ldl' is in source 'a' and in 'b'"),
        ({"sources": {"a": ["ldl", "ldl"]}}, "'ldl' is twice in 'a'"),
        ({"sources": {"glucose": ["ldl"]}}, "'glucose' is a source and also an attribute"),
        ({"sources": ["ldl"]}, "sources must map"),
        ({"prices": {"lipids": 12.0, "glucose": 3.0}}, "there is none for 'sex'"),
        ({"prices": {"lipids": 12.0, "glucose": 3.0, "sex": 1.0, "ldl": 2.0}}, "'ldl' is not a source of its own"),
        ({"prices": [1.0, 2.0, 3.0]}, "give prices by name"),
        ({"prices": {"lipids": 12.0, "glucose": -3.0, "sex": 1.0}}, "numbers from 0 to 1e\\+100"),
        ({"prices": {"lipids": 12.0, "glucose": 1.1e100, "sex": 1.0}}, "numbers from 0 to 1e\\+100"),
        ({"prices": {"lipids": "dear", "glucose": 3.0, "sex": 1.0}}, "prices must be numbers"),
        ({"prices": {"lipids": "12", "glucose": 3.0, "sex": 1.0}}, "prices must be numbers"),
        ({"prices": {"lipids": True, "glucose": 3.0, "sex": 1.0}}, "prices must be numbers"),
    ],
)
def test_what_cannot_be_is_named(wrong, words):
    with pytest.raises(kh.ConfigError, match=words):
        clinic(**wrong)


def test_many_attributes_are_priced_in_linear_time():
    names = [f"x{i}" for i in range(20_000)]
    began = time.process_time()
    catalog = SourceCatalog.build(names, free=names[:10_000], prices=dict.fromkeys(names[10000:], 1.0))
    assert (len(catalog.sources), catalog.free.size) == (10_000, 10_000)
    assert time.process_time() - began < 5.0


def test_a_panel_of_one_keeps_its_name():
    learner = kh.make(
        "thrifty", names=["x", "z"], k=2, sources={"tube": ["x"]}, prices={"tube": 1.0, "z": 2.0}, error_cost=9.0
    )
    assert not learner.catalog.plain
    assert set(learner.catalog.sources) == {"tube", "z"}
    assert learner.catalog.ordered(np.array([0])) == ("tube",)


def test_a_star_prices_what_is_not_named():
    catalog = SourceCatalog.build(["a", "b", "c"], {"p": ["a", "b"]}, prices={"p": 12.0, "*": 0.5})
    assert dict(zip(catalog.sources, catalog.prices.tolist(), strict=True)) == {"p": 12.0, "c": 0.5}
