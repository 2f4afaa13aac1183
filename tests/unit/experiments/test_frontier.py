"""What each amount of money buys: levels from the data, means over seeds, hindsight with proof, one sentence."""

import itertools
import json

import numpy as np
import pytest

import keyhole as kh
from keyhole.core.sources import Market
from keyhole.experiments.frontiers.baskets_in_hindsight import Past, levels_of
from keyhole.experiments.frontiers.frontier_result import Level, Point
from keyhole.experiments.frontiers.knee import hull, sentence, stop_at
from keyhole.theory.hindsight import best_basket_of

LEVELS = [0.05, 2.0]


def table(path, T=300, seed=0):
    """Two panels and two single columns; `b` holds the signal, `free` some of it."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(T, 6))
    y = 2.0 * X[:, 2] + 1.0 * X[:, 0] + 0.5 * X[:, 5] + 0.3 * rng.normal(size=T)
    names = ["free", "a1", "b1", "b2", "c", "d"]
    lines = [",".join([*names, "y"]), *(",".join(f"{v:.6f}" for v in (*x, z)) for x, z in zip(X, y, strict=True))]
    path.write_text("\n".join(lines) + "\n")
    path.with_suffix(".toml").write_text(
        '[label]\nname = "y"\nunit = "mm"\n[money]\ncurrency = "EUR"\n'
        '[sources.b]\nprice = 2.0\ncolumns = ["b1", "b2"]\n'
        "[attributes.free]\nknown = true\n[attributes.a1]\nprice = 1.0\n[attributes.c]\nprice = 0.5\n"
        "[attributes.d]\nprice = 1.0\n"
    )
    return str(path), path.with_suffix(".toml")


def level(price, error, worth=1.0):
    return Level(worth, price, error**2, 0.0, 0.0, {}, (), Point(price, error**2, (), True, 0.0))


def test_every_number_is_a_mean_over_seeds_and_the_best_basket_costs_no_more(tmp_path):
    file, schema = table(tmp_path / "t.csv")
    found = kh.experiments.frontier(file, schema=schema, levels=LEVELS, seeds=2, out=tmp_path / "f")
    assert [level.worth for level in found.levels] == LEVELS
    cheap, dear = found.levels
    assert cheap.price < dear.price
    assert cheap.mse > dear.mse
    assert "b" in dear.basket
    for one in found.levels:
        assert one.low <= one.mse <= one.high
        assert one.best.price <= one.price
        assert one.price == pytest.approx(sum(found.sources[s] * share for s, share in one.bought.items()), rel=0.02)
    assert (found.currency, found.unit, found.known, found.rows) == ("EUR", "mm", ("free",), 300)
    assert found.hindsight[0].sources == ()
    assert found.hindsight[-1].price == 4.5
    assert all(a.mse > b.mse for a, b in itertools.pairwise(found.hindsight))
    assert kh.experiments.frontier_in(tmp_path / "f") == found


def test_finished_parts_are_not_played_again_and_the_numbers_do_not_depend_on_who_works(tmp_path, monkeypatch):
    file, schema = table(tmp_path / "t.csv", T=120)
    asked = {"schema": schema, "levels": LEVELS}
    first = kh.experiments.frontier(file, **asked, seeds=1, out=tmp_path / "f")
    seen = []
    more = kh.experiments.frontier(
        file, **asked, seeds=2, out=tmp_path / "f", progress=lambda done, of: seen.append(done)
    )
    assert seen == [2, 3, 4]
    assert more.seeds == 2
    assert kh.experiments.frontier(file, **asked, seeds=1, out=tmp_path / "f") == first
    other = kh.experiments.frontier(file, **asked, seeds=2, jobs=2, out=tmp_path / "g")
    assert other == more
    part = next((tmp_path / "f" / "jobs").glob("*.json"))
    part.write_text("{}")  # damaged: played again
    assert kh.experiments.frontier(file, **asked, seeds=2, out=tmp_path / "f") == more


def test_the_ends_are_nothing_and_everything_that_helps(tmp_path):
    file, schema = table(tmp_path / "t.csv", T=400)
    found = kh.experiments.frontier(file, schema=schema, levels=3, seeds=1)
    assert found.levels[0].basket == ()
    assert {"b", "d"} <= set(found.levels[-1].basket)
    assert found.sentence in json.dumps(found.sentence)


def test_levels_lie_between_the_first_and_the_last_price_per_gain():
    market = Market.build(["a", "b", "z"], prices=[1.0, 2.0, 1.0])
    # Independent: a explains 4, b explains 1, z nothing.
    past = Past(1000, np.eye(3), np.array([2.0, 1.0, 0.0]), 5.1, market)
    levels = levels_of(past, 5)
    assert levels[0] == pytest.approx(1 / 4 / 2, rel=0.01)
    assert levels[-1] == pytest.approx(2 / 1 * 1.5, rel=0.01)
    assert levels == sorted(levels)


def test_nothing_that_helps_still_gives_levels():
    market = Market.build(["a", "z"], prices=[1.0, 2.0])
    levels = levels_of(Past(100, np.eye(2), np.array([0.01, 0.0]), 1.0, market), 4)
    assert len(levels) == 4
    assert all(np.isfinite(levels))


def test_the_next_unit_of_money_stops_paying_at_the_bend():
    levels = [level(0, 10), level(1, 6), level(3, 4, worth=0.7), level(20, 3.9), level(30, 4.2)]
    assert hull(levels) == [0, 1, 2, 3]
    assert stop_at(levels) == 2
    said = sentence(levels, 2, "EUR", "mm")
    assert said.startswith("beyond 3 EUR a row the next EUR lowers the typical error by less than 0.0059 mm")
    assert "one mm less would cost 170 EUR a row" in said
    assert said.endswith("one unit of squared error is worth 0.7 EUR there")
    assert "more money buys nothing" in sentence(levels[:3], 2, "EUR", "")


def test_moments_alone_give_the_basket_that_the_rows_give():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(200, 7)) @ rng.normal(size=(7, 7))
    y = X @ rng.normal(size=7) + rng.normal(size=200)
    X, y = X - X.mean(axis=0), y - y.mean()
    names = list("abcdefg")
    market = Market.build(names, {"p": ["b", "e"]}, ["d"], {"a": 1.0, "p": 3.0, "c": 2.0, "f": 1.5, "g": 0.5})
    columns = [[names.index(n) for n in ("a", "be", "c", "f", "g")[i]] for i in range(5)]
    for spend in (0.0, 1.7, 4.0, 8.0):
        found = best_basket_of(X.T @ X / 200, X.T @ y / 200, float(y @ y) / 200, market, spend=spend)
        every = []
        for r in range(6):
            for chosen in itertools.combinations(range(5), r):
                S = [3, *(j for g in chosen for j in columns[g])]
                if sum(market.prices[list(chosen)]) <= spend:
                    w = np.linalg.lstsq(X[:, S], y, rcond=None)[0]
                    every.append(float(((y - X[:, S] @ w) ** 2).mean()))
        assert found.mse == pytest.approx(min(every), rel=1e-6)
        assert found.optimal


def test_without_prices_it_says_where_they_go(tmp_path):
    file, _ = table(tmp_path / "t.csv", T=50)
    with pytest.raises(kh.ConfigError, match="a frontier needs to know what things cost: give --prices FILE"):
        kh.experiments.frontier(file, target="y", out=tmp_path / "f")
    assert not (tmp_path / "f").exists()


def test_a_schema_of_another_target_is_refused(tmp_path):
    """Else the schema's own label was played, and nobody was told."""
    file, _ = table(tmp_path / "t.csv", T=50)
    schema = tmp_path / "s.toml"
    names = (tmp_path / "t.csv").read_text().split("\n")[0].split(",")
    lines = "".join(f"{name} = {{price = 1.0}}\n" for name in names if name != "y")
    schema.write_text(f'[label]\nname = "y"\n[attributes]\n{lines}')
    with pytest.raises(kh.ConfigError, match=f"the schema is for the target 'y', not '{names[0]}'"):
        kh.experiments.frontier(file, target=names[0], schema=schema, out=tmp_path / "f")
    assert not (tmp_path / "f").exists()


@pytest.mark.slow
def test_dask_finds_the_same_frontier(tmp_path):
    pytest.importorskip("distributed")
    file, schema = table(tmp_path / "t.csv", T=120)
    here, there = (
        kh.experiments.frontier(
            file, schema=schema, levels=LEVELS, seeds=2, engine=engine, jobs=2, out=tmp_path / engine
        )
        for engine in ("joblib", "dask")
    )
    assert here == there
