"""A job and its outcome."""

import numpy as np
import pytest

import keyhole as kh
from keyhole.experiments import Comparison, Job, StreamSpec, run_job, summarise
from keyhole.experiments.aggregate import Band

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

    assert 1.9 < played("thrifty", total_budget=600.0)["price_per_row"] <= 2.0 < played("thrifty")["price_per_row"]
    assert played("thrifty", error_cost=0.05) == played("thrifty[error_cost=0.05]")
    assert played("fixed-random", error_cost=0.05, total_budget=600.0) == played("fixed-random")


@pytest.mark.parametrize("name", ["budget_per_row", "error_cost", "total_budget"])
def test_money_without_prices_is_refused_by_its_name(tmp_path, name):
    with pytest.raises(
        kh.ConfigError, match=f"--{name.replace('_', '-')} M needs to know what things cost: give --prices FILE"
    ):
        Comparison(tmp_path / "c", [SYNTHETIC], ["thrifty"], 1, 100, **{name: 1.0})
    assert not (tmp_path / "c").exists()
