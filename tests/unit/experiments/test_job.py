"""A job and its outcome."""

import numpy as np
import pytest

import keyhole as kh
from keyhole.experiments import Comparison, Job, StreamSpec, run_job, summarise
from keyhole.experiments.aggregate import Band
from keyhole.experiments.job import rows_of

SYNTHETIC = StreamSpec.parse("synthetic:d=8,k=3,sigma=0.1")


def test_the_outcome_is_that_of_playing_the_stream():
    job = Job(SYNTHETIC, "ds-oslrc", seed=2, rounds=400, k=3, k0=0)
    outcome = run_job(job)
    X, y, w = kh.streams.synthetic(8, 3, 400, sigma=0.1, seed=2)
    seed = int(np.random.SeedSequence([2, 1]).generate_state(1)[0])
    learner = kh.make("ds-oslrc", names=[f"x{i}" for i in range(8)], k=3, seed=seed)
    history = kh.play(learner, X, y)
    assert np.isclose(outcome["regret"], history.regret(w)[-1], rtol=1e-9)
    assert np.isclose(outcome["loss"], history.losses.mean(), rtol=1e-12)
    assert outcome["rows"][-1] == 400
    assert np.allclose(outcome["curve"], history.regret(w)[np.array(outcome["rows"]) - 1])
    assert outcome | {"seconds": 0.0} == run_job(job) | {"seconds": 0.0}
    assert outcome["seconds"] > 0


def test_the_key_tells_jobs_apart():
    jobs = [
        Job(stream, name, seed, rounds, 3, 0)
        for stream in (SYNTHETIC, StreamSpec.parse("synthetic:d=9,k=3"))
        for name in ("vaw", "ds-oslrc")
        for seed in (0, 1)
        for rounds in (10, 20)
    ]
    assert len({job.key for job in jobs}) == len(jobs)


def test_an_oracle_is_told_the_truth_where_there_is_one():
    outcome = run_job(Job(SYNTHETIC, "oracle-support", 0, 300, 3, 0))
    assert outcome["found"] == 1.0
    with pytest.raises(kh.ConfigError, match="only a synthetic stream knows"):
        run_job(Job(StreamSpec.parse("nhanes"), "oracle-support", 0, 100, 3, 0))


def test_a_table_is_played_in_its_own_units_and_shuffled_by_seed():
    stream = StreamSpec.parse("nhanes", shuffle=True)
    one, two = (stream.rows(seed, 500) for seed in (0, 1))
    assert 70 < one.y.min() < one.y.max() < 250
    assert not np.array_equal(one.y, two.y)
    assert np.array_equal(StreamSpec.parse("nhanes").rows(0, 500).y, StreamSpec.parse("nhanes").rows(1, 500).y)
    outcome = run_job(Job(stream, "fixed-random", 0, 500, 4, 0))
    assert 100 < outcome["loss"] < 3000
    assert np.isnan(outcome["found"])
    assert outcome["regret"] > 0  # against the best four in hindsight


def test_bands_are_quantiles_over_seeds():
    values = list(np.random.default_rng(0).permutation(np.arange(101.0)))
    assert Band.of([*values, float("nan")]) == (50.0, 10.0, 90.0)
    pairs = [(job, run_job(job)) for job in (Job(SYNTHETIC, "vaw", seed, 60, 3, 0) for seed in range(3))]
    (row,) = summarise(pairs)
    assert row.seeds == 3
    assert row.regret.middle == np.median([outcome["regret"] for _, outcome in pairs])
    assert (row.curve[1] <= row.curve[0]).all()
    assert (row.curve[0] <= row.curve[2]).all()


def test_money_limits_those_who_plan_with_it():
    stream = StreamSpec.parse("nhanes")

    def played(algorithm, **money):
        return run_job(Job(stream, algorithm, 0, 300, 4, 0, **money)) | {"seconds": 0.0, "found": 0.0}

    assert 0.5 < played("thrifty", total_budget=600.0)["price_per_row"] <= 2.0 < played("thrifty")["price_per_row"]
    # Regret is against the best basket of the comparison's budget, which an option of one algorithm does not change.
    apart = {"regret": 0.0, "curve": []}
    assert played("thrifty", error_cost=0.05) | apart == played("thrifty[error_cost=0.05]") | apart
    assert played("fixed-random", error_cost=0.05, total_budget=600.0) | apart == played("fixed-random") | apart


def test_no_learner_of_a_comparison_knows_a_row_before_it_is_played(tmp_path):
    """Not by ranges, centres or anything else: with other rows at the end of a file, the losses before are the same."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(600, 3))
    y = 150 + 8 * X[:, 0] + rng.normal(size=600)

    def losses(name, tail):
        file, schema = tmp_path / f"{name}.csv", tmp_path / f"{name}.toml"
        table = np.column_stack([X, y])
        table[300:] += tail
        file.write_text("\n".join(["a,b,c,y", *(",".join(map(repr, row)) for row in table.tolist())]) + "\n")
        low, high, mean = table.min(0).tolist(), table.max(0).tolist(), table.mean(0).tolist()
        lines = [
            f"{n} = {{low = {low[j]}, high = {high[j]}, center = {mean[j]}, estimated = true}}"
            for j, n in enumerate("abc")
        ]
        label = f'name = "y"\nlow = {low[3]}\nhigh = {high[3]}\ncenter = {mean[3]}\nestimated = true'
        schema.write_text("\n".join(["[label]", label, "[attributes]", *lines]) + "\n")
        stream = StreamSpec.parse(str(file), None, schema)
        outcomes = [run_job(Job(stream, a, 0, 200, 2, 0)) for a in ("vaw", "fixed-random", "thrifty", "support-bandit")]
        return [outcome["losses"] for outcome in outcomes]

    assert losses("one", 0.0) == losses("two", 50.0)


def test_the_first_row_counts_for_no_learner_and_one_rival_for_all(tmp_path):
    rng = np.random.default_rng(4)
    X = rng.normal(size=(400, 3))
    y = 150 + 8 * X[:, 0] + rng.normal(size=400)
    file = tmp_path / "t.csv"
    file.write_text("\n".join(["a,b,c,y", *(",".join(map(repr, r)) for r in np.column_stack([X, y]).tolist())]) + "\n")
    stream = StreamSpec.parse(str(file), "y")
    rows = rows_of(Job(stream, "vaw", 0, 300, 2, 0))
    assert rows.y[0] == y[40]  # a tenth of 400 rows is set aside
    seed = int(np.random.SeedSequence([0, 1]).generate_state(1)[0])
    history = kh.play(kh.make("thrifty", names=list("abc"), k=2, seed=seed), rows.X, rows.y)
    assert history.losses[0] > 100**2
    assert run_job(Job(stream, "thrifty", 0, 300, 2, 0))["loss"] == pytest.approx(history.losses[1:].mean(), rel=1e-12)
    outcomes = [run_job(Job(stream, algorithm, 0, 300, 2, 0)) for algorithm in ("thrifty", "vaw", "fixed-random")]
    rival = {round(o["loss"] * 299 - o["regret"], 6) for o in outcomes}
    assert len(rival) == 1
    assert [o["reference"] for o in outcomes] == [False, True, False]
    assert [o["budget"] for o in outcomes] == ["k = 2", "k = 3", "k = 2"]


def test_a_data_set_by_name_is_not_scaled_by_its_own_future():
    stream = StreamSpec.parse("nhanes", shuffle=True)
    rows, whole = rows_of(Job(stream, "vaw", 3, 2000, 4, 0)), stream.rows(3, 2100)
    assert np.array_equal(rows.y, whole.y[100:])
    assert rows.schema.label.center == pytest.approx(whole.y[:100].mean())
    assert rows.schema.label.estimated


def test_a_stated_centre_is_predicted_first_and_the_row_counts(tmp_path):
    X, y = np.zeros((40, 2)), np.full(40, 155.0)
    X[:, 0], y[1] = np.arange(40), 150.0
    file, schema = tmp_path / "t.csv", tmp_path / "t.toml"
    file.write_text("\n".join(["a,b,y", *(",".join(map(repr, r)) for r in np.column_stack([X, y]).tolist())]) + "\n")
    schema.write_text(
        '[label]\nname = "y"\nlow = 100\nhigh = 200\ncenter = 140\n[attributes]\n'
        "a = {low = 0, high = 40}\nb = {low = -1, high = 1}\n"
    )
    stream = StreamSpec.parse(str(file), None, schema)
    for algorithm in ("thrifty", "vaw", "fixed-random"):
        assert run_job(Job(stream, algorithm, 0, 1, 1, 0))["loss"] == 15.0**2


@pytest.mark.parametrize("name", ["budget_per_row", "error_cost", "total_budget"])
def test_money_without_prices_is_refused_by_its_name(tmp_path, name):
    with pytest.raises(
        kh.ConfigError, match=f"--{name.replace('_', '-')} M needs to know what things cost: give --prices FILE"
    ):
        Comparison(tmp_path / "c", [SYNTHETIC], ["thrifty"], 1, 100, **{name: 1.0})
    assert not (tmp_path / "c").exists()
