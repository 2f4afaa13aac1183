"""Who gets a free place: the most likely to be worth one where columns are unlike, else the most promising."""

import numpy as np

import keyhole as kh


def test_with_many_unlike_columns_what_matters_is_found_after_few_looks_at_the_others():
    """Looked for in the breadth, the first of 300 took more than 12 looks at each."""
    rows = []
    for seed in range(5):
        X, y, w = kh.streams.synthetic(300, 3, 3000, 0.1, "uniform", seed)
        learner, t = kh.make("thrifty", d=300, k=3, seed=seed), 0
        while not set(np.flatnonzero(w)) & set(learner.support.tolist()):
            kh.play(learner, X[t : t + 20], y[t : t + 20])
            t += 20
        rows.append(t)
    assert np.median(rows) < 600  # six looks at each
