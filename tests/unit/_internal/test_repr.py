"""How objects look in a terminal and in a notebook."""

import numpy as np

import keyhole as kh


def played():
    learner = kh.make("fixed-random", names=["age", "<b>", "bmi"], k=2, seed=0, prices=[1.0, 2.0, 3.0])
    return learner, kh.play(learner, np.ones((4, 3)), np.array([1.0, np.nan, 0.0, 1.0]))


def test_a_line_says_what_matters():
    learner, history = played()
    assert repr(learner).startswith("<learner fixed-random: buys 2 of 3, rounds 4, 0 open, support ")
    assert repr(history).startswith("<history of 4 rows: mean loss ")
    assert "rows without a label 1" in repr(history)
    r = learner.ask()
    assert repr(r) == f"<round 5: to exploit, order {' and '.join(r.sources)}, price {r.price:g}>"


def test_a_notebook_shows_a_table_and_names_cannot_break_it():
    learner, history = played()
    for thing in (learner, history, learner.ask()):
        html = thing._repr_html_()
        assert html.startswith("<table>")
        assert "<b></b>" not in html
        assert "<b>," not in html
    whole = kh.make("vaw", names=["<script>"], seed=0)
    kh.play(whole, np.ones((4, 1)), np.ones(4))
    assert "&lt;script&gt;" in whole._repr_html_()
    assert "<script>" not in whole._repr_html_()


def test_an_empty_history_can_be_shown():
    learner, _ = played()
    assert "mean loss -" in repr(kh.play(learner, np.empty((0, 3)), np.empty(0)))


def test_a_solution_says_how_good_it_is():
    solution = kh.dantzig.solve(np.eye(3), np.array([2.0, 0.5, 0.0]), 1.0)
    assert repr(solution).startswith("<solution optimal: objective 1, non-zero 1 of 3, certificate ")


def test_a_history_of_a_store_is_short(sqlite_url):
    with kh.open_store(sqlite_url) as store:
        assert (
            repr(store.create("icu", "fixed-random", names=["age"], k=1, seed=0).history()) == "<history of 0 labels>"
        )
