"""Who is ranked in a comparison: learners with the same budget, never a reference."""

from keyhole.experiments import Job, StreamSpec, run_job, summarise
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
    assert headline == f"Of 2 learners with k = 3, {best.algorithm} has the smallest regret."
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
    assert "(1 seed; not decided by one)" in comparison_headline(rows("ito2017-3", "fixed-random", seeds=1))[1]
