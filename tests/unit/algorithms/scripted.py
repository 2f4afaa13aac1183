"""A generator that draws what it is told to: every outcome of a learner's draw can be enumerated."""

import numpy as np


class Scripted:
    """Stands in for `learner.rng`; each call gives the next scripted answer."""

    def __init__(self, *answers):
        self.answers = list(answers)

    def _next(self, *args, **kwargs):
        return self.answers.pop(0)

    choice = random = integers = binomial = _next


def change(learner, answers, x, y, read):
    """What one round with these draws adds to `read(learner)`; the learner is put back as it was."""
    state, rng = learner.get_state(), learner.rng
    before = read(learner).copy()
    learner.rng = Scripted(*(np.array(a, dtype=float if isinstance(a, float) else int) for a in answers))
    r = learner.ask()
    learner.rng = rng
    learner.tell(r, x[r.attributes], y, extra_attributes=r.extra, extra_values=x[r.extra])
    added = read(learner) - before
    learner.set_state(state)
    return added


def play_a_while(learner, T=30, seed=1):
    """The learner after T rounds of a stream that fills its budget."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (T, learner.d))
    y = X[:, 0] - 0.5 * X[:, 1]
    for row, label in zip(X, y, strict=True):
        r = learner.ask()
        learner.tell(r, row[r.attributes], label, extra_attributes=r.extra, extra_values=row[r.extra])
    return learner
