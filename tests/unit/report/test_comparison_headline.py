"""Who is ranked in a comparison: learners with the same budget, never a reference."""

from keyhole.experiments import Job, StreamSpec, run_job, summarise
from keyhole.experiments.aggregate import Band
from keyhole.report import comparison_cells, comparison_headline

STREAM = StreamSpec.parse("synthetic:d=8,k=3,sigma=0.1")


def rows(*algorithms, seeds=2):
    jobs = [Job(STREAM, name, seed, 300, 3, 3) for name in algorithms for seed in range(seeds)]
    return summarise([(job, run_job(job)) for job in jobs])


def test_an_oracle_and_one_who_sees_everything_are_not_ranked():
    found = rows("oracle-support", "vaw", "explore-then-commit", "fixed-random")
    best = min(found[2:], key=lambda row: row.regret.middle)
    assert min(row.regret.middle for row in found[:2]) < best.regret.middle
    headline, details = comparison_headline(found)
    assert headline.startswith(f"Of 2 learners with k = 3, {best.algorithm} has the smallest ")
    assert "oracle" not in details
    assert "vaw" not in details
    _, cells = comparison_cells(found)
    assert [line[0].endswith("(reference)") for line in cells] == [True, True, False, False]


def test_more_purchases_after_the_label_are_another_budget():
    found = rows("ds-poslrc", "explore-then-commit", "fixed-random")
    assert {row.budget for row in found} == {"k = 3, k0 = 3", "k = 3"}
    assert comparison_headline(found)[0].startswith("Of 2 learners with k = 3, ")
    head, _ = comparison_cells(found)
    assert "budget" in head


def test_one_seed_decides_nothing():
    headline, details = comparison_headline(rows("ito2017-3", "fixed-random", seeds=1))
    assert headline == "Of 2 learners with k = 3, ito2017-3 has the smallest median regret, but this is not decided."
    assert "(1 seed; not decided by one)" in details


def test_a_headline_claims_a_lead_only_where_the_bands_are_apart():
    first, second = (row._replace(algorithm=name) for row, name in zip(rows("fixed-random") * 2, "ab", strict=True))
    low, high = first._replace(regret=Band(1.0, 0.5, 1.5)), second._replace(regret=Band(2.0, 1.6, 3.0))
    assert comparison_headline([low, high])[0] == "Of 2 learners with k = 3, a has the smallest regret."
    near = second._replace(regret=Band(2.0, 1.4, 3.0))
    headline, details = comparison_headline([low, near])
    assert headline == "Of 2 learners with k = 3, a has the smallest median regret, but this is not decided."
    assert "their bands overlap: not decided" in details
