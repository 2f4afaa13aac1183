"""The keeper's loop for `thrifty`, compiled: it alone reads X, and hands over the bought values of a row, no others."""

import numpy as np

from .._jit import jit
from .._types import Bools, Floats, Ints
from ..learners.thrifty import Thrifty
from ..thrifty.book import SIZE, Book
from ..thrifty.choosing import choose
from ..thrifty.learning import predict, tell

__all__ = ["play_block"]

# Rows per call: a user who waits sees progress, and an interrupt is heard.
_BLOCK = 4096


@jit
def _loop(
    b: Book, pool: Bools, X: Floats, y: Floats, out: Floats, explored: Bools, who: Ints, sizes: Ints, first: int
) -> int:
    """Play the rows of X from `first` to the one that calls for a refit, or all; how many are played then.

    Predictions go into `out`, purchases into `who`, of which `sizes` come before and after the label; a NaN label
    closes a round unlearnt.
    """
    x = np.empty(who.shape[1])
    for t in range(first, y.size):
        blank = b.cnt[SIZE] == 0
        n, extras, lent = choose(b, pool, who[t])
        sizes[t, 0], sizes[t, 1] = n, extras
        for i in range(n):
            x[i] = X[t, who[t, i]]
        out[t] = predict(b, who[t, :n], x[:n])
        explored[t] = lent or blank
        for i in range(n, n + extras):
            x[i] = X[t, who[t, i]]
        if not np.isnan(y[t]) and tell(b, who[t, : n + extras], x[: n + extras], y[t], n):
            return t + 1
    return int(y.size)


def play_block(learner: Thrifty, X: Floats, y: Floats, out: Floats, explored: Bools) -> tuple[Ints, Ints]:
    """Play some of the rows as the protocol would: what each bought, and how many before and after the label."""
    n = min(y.size, _BLOCK, learner.store.free())
    who, sizes = np.zeros((n, learner.width + learner.k0), np.int64), np.zeros((n, 2), np.int64)
    t, b = 0, learner._book
    while t < n:
        t = _loop(b, learner.store.everything, X[:n], y[:n], out[:n], explored[:n], who, sizes, t)
        learner._settle()
    learner.t += n
    return who, sizes
