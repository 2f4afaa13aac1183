"""A learner and a world for the tests of the store."""

import numpy as np

NAMES = [f"test{i}" for i in range(7)]
WEIGHTS = np.array([0.5, -0.4, 0.3, 0, 0, 0, 0])


def create(store, name="icu", algorithm="ds-oslrc", **more):
    return store.create(name, algorithm, **({"names": NAMES, "k": 3, "seed": 0} | more))


def row(i):
    """The i-th patient: all values by name, and the label."""
    x = np.random.default_rng([7, i]).uniform(-1, 1, len(NAMES))
    return dict(zip(NAMES, x.tolist(), strict=True)), float(np.clip(x @ WEIGHTS, -1, 1))


def seen(r, i):
    """The values a round bought of the i-th patient."""
    return {name: row(i)[0][name] for name in r.names}


def play(learner, first, last):
    """Whole rounds of patients first..last-1."""
    for i in range(first, last):
        r = learner.ask(key=f"patient-{i}")
        learner.predict(r, seen(r, i))
        learner.tell(r, seen(r, i), row(i)[1])
