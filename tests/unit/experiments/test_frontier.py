"""What each amount of money buys: levels from the data, means over seeds, hindsight with proof, one sentence."""

import itertools
import math
import sys

import numpy as np
import pytest

import keyhole as kh
from keyhole._internal.atomic_io import read_json, write_json
from keyhole._internal.formatting import Units
from keyhole.core.sources import SourceCatalog
from keyhole.estimation.moment_regression import Moments
from keyhole.experiments.frontier_result import Choice, Level, Point, advice, hull, named, on_frontier, stop_at
from keyhole.experiments.frontiers import Past, Play, levels_of, play_level
from keyhole.experiments.stream_spec import StreamSpec
from keyhole.theory.comparators import best_basket_of

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
        "[attributes.free]\nfree = true\n[attributes.a1]\nprice = 1.0\n[attributes.c]\nprice = 0.5\n"
        "[attributes.d]\nprice = 1.0\n"
    )
    return str(path), path.with_suffix(".toml")


def level(price, error, error_cost=1.0, sources=None):
    """A level whose basket costs and leaves so much; its whole runs paid and left more."""
    basket = Choice((f"p{price:g}",) if sources is None else sources, price, error**2, 1)
    best = Point(price, error**2, (), True, 0.0)
    return Level(error_cost, price + 7.0, error**2 + 9.0, 0.0, 0.0, {}, (basket,), best)


def lower(dearer, cheaper):
    return dearer.mse < cheaper.mse


CLINIC = {"bmi": 1.0, "waist": 1.05, "salt_diet": 1.5, "pulse": 1.0}


def clinic(path, T=400):
    """`bmi` and `waist` are near copies, `salt_diet` holds less, `pulse` nothing; the label's level is far from 0."""
    rng = np.random.default_rng(5)
    bmi, salt, pulse, noise = rng.normal(size=(4, T))
    X = np.column_stack([bmi, bmi + 0.02 * rng.normal(size=T), salt, pulse])
    y = 1000.0 + 2.0 * bmi + salt + 0.5 * noise
    rows = [",".join([*CLINIC, "y"]), *(",".join(repr(float(v)) for v in row) for row in np.column_stack([X, y]))]
    path.write_text("\n".join(rows) + "\n")
    prices = "".join(f"[attributes.{name}]\nprice = {price}\n" for name, price in CLINIC.items())
    path.with_suffix(".toml").write_text(f'[label]\nname = "y"\nunit = "mmHg"\n[money]\ncurrency = "EUR"\n{prices}')
    return str(path), path.with_suffix(".toml"), X, y


def left(X, y, sources):
    """Akaike's final prediction error of least squares on these columns and a constant, computed apart."""
    V = np.column_stack([np.ones(y.size), *(X[:, list(CLINIC).index(name)] for name in sources)])
    n, p = y.size, len(sources)
    mse = float(np.mean((y - V @ np.linalg.lstsq(V, y, rcond=None)[0]) ** 2))
    return mse * (n + p + 1) / (n - p - 1)


def past_of(n, C, c, variance, catalog):
    """The past of n rows with these covariances."""
    return Past(Moments(n, np.zeros(len(c) + 1), C, c, variance), catalog)


def fpe(mse, n, p):
    return mse * (n + p + 1) / (n - p - 1)


@pytest.fixture
def played(tmp_path, monkeypatch):
    """A frontier whose seeds end with the baskets given, by error cost; whole runs cost 4.77 and leave 10.4 squared."""

    def play(baskets):
        def outcome(job):
            basket = baskets[job.error_cost][job.seed]
            return {"mse": 10.4**2, "price": 4.77, "bought": {"bmi": 1.0}, "basket": basket, "probabilities": None}

        monkeypatch.setattr(sys.modules["keyhole.experiments.frontiers"], "play_level", outcome)
        file, schema, X, y = clinic(tmp_path / "c.csv")
        seeds = len(next(iter(baskets.values())))
        found = kh.experiments.frontier(file, schema=schema, levels=list(baskets), seeds=seeds, out=tmp_path / "f")
        return found, X, y

    return play


def test_every_number_is_a_mean_over_seeds_and_the_best_basket_costs_no_more(tmp_path):
    file, schema = table(tmp_path / "t.csv")
    found = kh.experiments.frontier(file, schema=schema, levels=LEVELS, seeds=2, out=tmp_path / "f")
    assert [level.error_cost for level in found.levels] == LEVELS
    cheap, dear = found.levels
    assert cheap.price < dear.price
    assert cheap.mse > dear.mse
    assert "b" in dear.basket.sources
    for one in found.levels:
        assert one.low <= one.mse <= one.high
        assert one.best.price <= one.basket.price
        assert one.best.mse <= one.basket.mse * (1 + 1e-9)
        assert one.price == pytest.approx(sum(found.sources[s] * share for s, share in one.bought.items()), rel=1e-12)
    assert (found.currency, found.unit, found.free, found.rows) == ("EUR", "mm", ("free",), 300)
    assert found.hindsight[0].sources == ()
    assert set(found.hindsight[-1].sources) == {"b", "d"}  # `a1` and `c` hold nothing
    assert found.hindsight[-1].price == 3.0
    assert all(a.mse > b.mse for a, b in itertools.pairwise(found.hindsight))
    assert kh.experiments.frontier_in(tmp_path / "f") == found
    path = tmp_path / "f" / "frontier.json"
    for other in (None, 2):
        write_json(path, read_json(path) | {"format": other})
        with pytest.raises(
            kh.ConfigError, match=rf"frontier\.json has format {other}, .* reads format 1 only; make it"
        ):
            kh.experiments.frontier_in(tmp_path / "f")


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
    assert found.levels[0].basket.sources == ()
    assert set(found.levels[-1].basket.sources) == {"b", "d"}


def test_levels_lie_between_the_first_and_the_last_price_per_gain():
    catalog = SourceCatalog.build(["a", "b", "z"], prices=[1.0, 2.0, 1.0])
    # Independent: a explains 4, b explains 1, z nothing.
    past = past_of(1000, np.eye(3), np.array([2.0, 1.0, 0.0]), 5.1, catalog)
    levels = levels_of(past, 5)
    assert levels[0] == pytest.approx(1 / 4 / 2, rel=0.01)
    assert levels[-1] == pytest.approx(2 / 1 * 1.5, rel=0.01)
    assert levels == sorted(levels)


def test_nothing_that_helps_still_gives_levels():
    catalog = SourceCatalog.build(["a", "z"], prices=[1.0, 2.0])
    levels = levels_of(past_of(100, np.eye(2), np.array([0.01, 0.0]), 1.0, catalog), 4)
    assert len(levels) == 4
    assert all(np.isfinite(levels))


def points(*places):
    return tuple(Point(price, error**2, (f"p{price}",) if price else (), True, 0.0) for price, error in places)


def test_more_money_has_little_effect_beyond_the_bend():
    levels = [level(0, 10), level(1, 6), level(3, 4, error_cost=0.7), level(20, 3.9), level(30, 4.2)]
    assert hull([level.basket for level in levels]) == [0, 1, 2, 3]
    assert stop_at(levels) == 2
    buy, said = advice(levels, 2, 1, Units("mm", "EUR"), points((0, 10), (3, 4), (20, 3.9)))
    assert buy == "Buy p3: 3.00 EUR a row, typical error 4.00 mm in hindsight."
    assert "While learning, the runs paid 10.00 EUR a row" in said
    assert "The next better basket is p20: 20.00 EUR a row, typical error 3.90 mm." in said
    assert "That is the choice at an error cost of 0.7 EUR per squared mm." in said
    assert "more money buys nothing" in advice(levels, 2, 1, Units("", "EUR"), points((0, 10), (3, 4)))[1]


def test_the_next_better_basket_is_that_of_hindsight_even_between_two_levels():
    """A level at 3 and one at 20 do not show that a basket at 4 is almost as good."""
    levels = [level(0, 10), level(1, 6), level(3, 4, error_cost=0.7), level(20, 3.4)]
    line = points((0, 10), (1, 6), (2, 5), (4, 3.5), (20, 3.4))
    cheaper = points((0, 10), (2, 3.9), (4, 3.5))  # what is better and cheaper is no further step
    assert "The next better basket is p4" in advice(levels, 2, 1, Units("mm", ""), cheaper)[1]
    said = " ".join(advice(levels, 2, 1, Units("mm", ""), line))
    assert "The next better basket is p4: 4.00 a row, typical error 3.50 mm." in said
    assert "That is the choice at an error cost of 0.7 per squared mm." in said
    early = " ".join(advice(levels, 1, 1, Units("mm", "EUR"), line))
    assert early.startswith("Buy p1: 1.00 EUR a row, typical error 6.00 mm in hindsight.")
    assert "The next better basket is p2: 2.00 EUR a row, typical error 5.00 mm." in early


def test_the_line_of_best_baskets_has_every_corner_that_enumeration_finds():
    """Independent sources: a basket's error is what its sources leave, so all 2^7 baskets are easily compared."""
    rng = np.random.default_rng(5)
    for _ in range(5):
        prices, explains = rng.integers(1, 9, 7) / 2.0, rng.uniform(0.2, 2.0, 7)
        catalog = SourceCatalog.build(list("abcdefg"), prices=prices.tolist())
        past = past_of(10_000, np.eye(7), np.sqrt(explains), float(explains.sum()) + 0.5, catalog)
        baskets = [list(S) for n in range(8) for S in itertools.combinations(range(7), n)]
        every = [(float(prices[S].sum()), float(explains.sum() + 0.5 - explains[S].sum())) for S in baskets]
        corners = {
            min((error_cost * left + price, price, left) for price, left in every)[1:]
            for error_cost in np.geomspace(0.01, 100, 400)
        }
        found = [(p.price, p.mse) for p in past.curve()]
        for price, left in corners:
            assert any(p == pytest.approx(price) and mse == pytest.approx(left, rel=0.01) for p, mse in found)


def test_the_advice_of_a_frontier_is_that_of_its_stop(played):
    ends = {0.001: [[]], 0.5: [["bmi"]], 5.0: [["bmi", "salt_diet"]], 50.0: [["bmi", "waist", "salt_diet"]]}
    found, X, y = played(ends)
    assert [one.basket.sources for one in found.levels] == [(), ("bmi",), ("bmi", "salt_diet"), ("bmi", "salt_diet")]
    # bmi lowers the typical error by 1.2 for 1 EUR, salt_diet by 0.6 for 1.50 EUR more.
    assert found.stop == 1
    assert found.sentence.startswith("Buy bmi: 1.00 EUR a row, typical error ")
    error = Units("mmHg").error(left(X, y, ["bmi", "salt_diet"]) ** 0.5)
    assert f"The next better basket is bmi and salt_diet: 2.50 EUR a row, typical error {error}." in found.sentence
    assert "That is the choice at an error cost of 0.5 EUR per squared mmHg." in found.sentence


def test_the_commonest_whole_basket_is_named_with_its_own_price_and_error(played):
    """The runs paid 4.77 and left 10.4; salt_diet costs 1.50, and leaves what least squares on it leaves."""
    found, X, y = played({1.0: [["salt_diet"], ["bmi", "salt_diet"], ["salt_diet"]]})
    (one,) = found.levels
    assert [(b.sources, b.seeds) for b in one.baskets] == [(("salt_diet",), 2), (("bmi", "salt_diet"), 1)]
    for basket in one.baskets:
        assert basket.price == pytest.approx(sum(CLINIC[name] for name in basket.sources), rel=1e-12)
        assert basket.mse == pytest.approx(left(X, y, basket.sources), rel=1e-7)
    assert (one.price, one.typical_error) == pytest.approx((4.77, 10.4))
    error = Units("mmHg").error(left(X, y, ["salt_diet"]) ** 0.5)
    assert found.sentence.startswith(
        f"Buy salt_diet: 1.50 EUR a row, typical error {error} in hindsight (2 of 3 seeds ended with it). "
        "That is the choice at an error cost of 1 EUR per squared mmHg. "
        "While learning, the runs paid 4.77 EUR a row and had a typical error of 10.4 mmHg."
    )


def test_seeds_that_all_disagree_give_a_basket_that_one_of_them_bought(played):
    """A vote source by source would give bmi and salt_diet and waist, or nothing: no seed bought either."""
    ends = [["bmi", "salt_diet"], ["salt_diet"], ["waist"], []]
    found, _, _ = played({3.0: ends})
    (one,) = found.levels
    assert one.basket.sources == ("bmi", "salt_diet")  # as common as the others, at the least cost
    assert [b.sources for b in one.equals] == [("bmi", "salt_diet")]
    assert "(1 of 4 seeds ended with it)" in found.sentence


def test_seeds_that_disagree_between_equals_name_both(played):
    found, X, y = played({0.5: [["waist"], ["bmi"]]})
    (one,) = found.levels
    assert named(one) == "bmi or waist"
    bmi, waist = (Units("mmHg").error(left(X, y, [name]) ** 0.5) for name in ("bmi", "waist"))
    assert found.sentence.startswith(
        f"Buy bmi (1.00 EUR a row, typical error {bmi} in hindsight) or waist (1.05 EUR a row, typical error {waist} "
        "in hindsight): they are about equally good, and the seeds disagree."
    )


def test_what_fewer_seeds_bought_is_not_named_as_an_equal(played):
    found, _, _ = played({0.5: [["waist"], ["bmi"], ["waist"]]})
    assert named(found.levels[0]) == "waist"
    assert found.sentence.startswith("Buy waist: 1.05 EUR a row")


def test_the_best_baskets_in_hindsight_are_rid_of_what_adds_nothing():
    """`z` costs next to nothing and lowers the error by less than chance: the best basket for 1.01 holds it."""
    catalog = SourceCatalog.build(["a", "b", "z"], prices=[1.0, 5.0, 0.01])
    past = past_of(1000, np.eye(3), np.array([2.0, 1.0, 0.01]), 5.5, catalog)
    assert past.best(1.5).sources == ("a", "z")
    assert [(p.sources, p.price, p.mse) for p in past.curve()] == [
        ((), 0.0, pytest.approx(fpe(5.5, 1000, 0))),
        (("a",), 1.0, pytest.approx(fpe(1.5, 1000, 1))),
        (("a", "b"), 6.0, pytest.approx(fpe(0.5, 1000, 2))),
    ]


def test_sources_that_add_nothing_are_found_as_least_squares_finds_them():
    """Backward elimination with an updated inverse, against least squares on every basket anew."""
    rng = np.random.default_rng(11)
    X = rng.normal(size=(300, 9)) @ (np.eye(9) + 0.4 * rng.normal(size=(9, 9)))
    y = X[:, 1] + 0.2 * X[:, 4] + 0.05 * X[:, 7] + rng.normal(size=300)
    X, y = X - X.mean(axis=0), y - y.mean()
    names = list("abcdefghi")
    catalog = SourceCatalog.build(names, {"p": ["b", "c"], "q": ["g", "h", "i"]}, ["a"], dict.fromkeys("pqdef", 1.0))
    past = past_of(300, X.T @ X / 300, X.T @ y / 300, float(y @ y) / 300, catalog)
    basket = list(range(len(catalog.sources)))
    found = past.helpful(basket)
    while True:
        added = {s: past.left([o for o in basket if o != s]) - past.left(basket) for s in basket}
        chance = {s: past.chance(catalog.members[s].size, past.left(basket)) for s in basket}
        least = min(basket, key=lambda s: added[s] / chance[s])
        if added[least] > chance[least]:
            break
        basket.remove(least)
    assert found == basket
    assert 0 < len(found) < len(catalog.sources)


def test_one_step_that_helps_is_advised():
    """Two baskets have no bend: not to buy would be the advice whatever the other brings."""
    levels = [level(0, 10), level(2, 6, error_cost=0.7)]
    assert stop_at(levels) == 1
    _, said = advice(levels, 1, 1, Units("mm", "EUR"), points((0, 10), (2, 6)))
    assert "What helps costs 2.00 EUR a row in all" in said
    assert stop_at(levels[:1]) == 0


def test_hindsight_is_of_all_rows_that_a_shuffle_may_play(tmp_path):
    file, schema, X, y = clinic(tmp_path / "c.csv", T=200)
    found = kh.experiments.frontier(file, schema=schema, levels=[0.001], seeds=1, rounds=50)
    assert found.rows == 200
    assert found.levels[0].basket.mse == pytest.approx(left(X, y, []), rel=1e-9)
    ordered = StreamSpec.parse(file, None, schema, shuffle=False)
    assert kh.experiments.frontier(ordered, levels=[0.001], seeds=1, rounds=50).rows == 50


def test_what_adds_nothing_is_in_no_basket(played):
    found, X, y = played({0.01: [[]], 0.02: [["pulse"]], 0.5: [["bmi", "pulse"]], 3.0: [["bmi", "salt_diet"]]})
    assert [one.basket.sources for one in found.levels] == [(), (), ("bmi",), ("bmi", "salt_diet")]
    assert [p.sources for p in found.hindsight] == [(), ("bmi",), ("bmi", "salt_diet")]
    for point in found.hindsight:
        assert point.mse == pytest.approx(left(X, y, point.sources), rel=1e-7)
        assert point.optimal
    assert not any("pulse" in name for one in found.levels for b in one.baskets for name in b.sources)


def test_a_basket_that_costs_more_and_lowers_nothing_is_left_out(played):
    found, _, _ = played({0.01: [[]], 0.5: [["bmi"]], 0.7: [["salt_diet"]], 0.9: [["waist"]], 1.1: [["bmi"]]})
    assert [one.error_cost for one in found.levels] == [0.01, 0.5, 1.1]
    assert sorted(one.error_cost for one in found.left_out) == [0.7, 0.9]
    assert all(a.basket.mse >= b.basket.mse for a, b in itertools.pairwise(found.levels))


def test_the_frontier_goes_down_as_it_goes_right():
    levels = [level(5, 4), level(0, 9), level(2, 9), level(3, 5), level(4, 5.5), level(3, 6, sources=("x",))]
    kept, left_out = on_frontier(levels, lower)
    assert [one.basket.price for one in kept] == [0, 3, 5]
    assert [(one.basket.price, one.basket.typical_error) for one in left_out] == [(2, 9), (3, 6), (4, 5.5)]


def test_the_first_row_is_paid_for_and_its_error_is_left_out(tmp_path):
    file, schema, _, _ = clinic(tmp_path / "c.csv", T=60)
    stream = StreamSpec.parse(file, None, schema, shuffle=True)
    outcome = play_level(Play(stream, error_cost=5.0, seed=1, rounds=60))
    rows = stream.rows(1, 60)
    seed = int(np.random.SeedSequence([1, 1]).generate_state(1)[0])
    learner = kh.make("thrifty", names=list(CLINIC), k=None, prices=list(CLINIC.values()), error_cost=5.0, seed=seed)
    history = kh.play(learner, rows.X, rows.y)
    assert history.losses[0] > 100 * history.losses[1:].mean()  # else this test could not tell
    assert outcome["mse"] == pytest.approx(history.losses[1:].mean(), rel=1e-12)
    assert outcome["price"] == pytest.approx(history.price.sum() / 60, rel=1e-12)
    assert outcome["price"] > 0


def test_moments_alone_give_the_basket_that_the_rows_give():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(200, 7)) @ rng.normal(size=(7, 7))
    y = X @ rng.normal(size=7) + rng.normal(size=200)
    X, y = X - X.mean(axis=0), y - y.mean()
    names = list("abcdefg")
    catalog = SourceCatalog.build(names, {"p": ["b", "e"]}, ["d"], {"a": 1.0, "p": 3.0, "c": 2.0, "f": 1.5, "g": 0.5})
    columns = [[names.index(n) for n in ("a", "be", "c", "f", "g")[i]] for i in range(5)]
    for budget_per_row in (0.0, 1.7, 4.0, 8.0):
        found = best_basket_of(X.T @ X / 200, X.T @ y / 200, float(y @ y) / 200, catalog, budget_per_row=budget_per_row)
        every = []
        for r in range(6):
            for chosen in itertools.combinations(range(5), r):
                S = [3, *(j for g in chosen for j in columns[g])]
                if sum(catalog.prices[list(chosen)]) <= budget_per_row:
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
            file, schema=schema, levels=LEVELS, seeds=2, executor=executor, jobs=2, out=tmp_path / executor
        )
        for executor in ("joblib", "dask")
    )
    assert here == there


def test_the_baskets_in_hindsight_are_best_at_their_price_and_hold_nothing_that_chance_explains():
    """By trying all baskets of what is useful; of 12 irrelevant sources the best one looks useful too."""
    rng = np.random.default_rng(5)
    prices = {"good": 1.0, "better": 1.5, "panel": 12.0} | {f"noise{i}": 0.1 + 0.3 * i for i in range(12)}
    n, d = 2000, len(prices)
    X = rng.normal(size=(n, d))
    y = X[:, :3] @ [5.0, 3.0, 4.0] + 9.0 * rng.normal(size=n)
    V = np.cov(np.column_stack([X, y]).T, bias=True)
    found = past_of(n, V[:-1, :-1], V[:-1, -1], V[-1, -1], SourceCatalog.build(list(prices), prices=prices)).curve()
    helpful = [S for m in range(4) for S in itertools.combinations(("good", "better", "panel"), m)]
    each = sorted((sum(prices[s] for s in S), S) for S in helpful)
    left = {
        S: V[-1, -1] - V[j := [list(prices).index(s) for s in S], -1] @ np.linalg.solve(V[np.ix_(j, j)], V[j, -1])
        for S in helpful
    }
    best = [S for i, (_, S) in enumerate(each) if all(left[S] < left[cheaper] for _, cheaper in each[:i])]
    assert {("good",), ("good", "better", "panel")} < {point.sources for point in found} <= set(best)


@pytest.mark.parametrize("sources", [1, 8])
def test_what_irrelevant_attributes_reach_by_chance_grows_with_their_number(sources):
    """Chi-square of two degrees of freedom exceeds x with probability exp(-x / 2); of one, as |z| exceeds sqrt(x)."""
    catalog = SourceCatalog.build([f"x{j}" for j in range(sources)])
    past = past_of(50, np.eye(sources), np.zeros(sources), 1.0, catalog)
    p = 0.05 / sources
    assert past.chance(2, 3.0) == pytest.approx(-2.0 * math.log(p) * 3.0 / 50, rel=1e-12)
    assert math.erfc(math.sqrt(past.chance(1, 3.0) * 50 / 3.0 / 2.0)) == pytest.approx(p, rel=1e-12)
