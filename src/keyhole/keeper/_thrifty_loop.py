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
def _loop(b: Book, pool: Bools, X: Floats, y: Floats, out: Floats, explored: Bools, bought: Ints, width: int) -> None:
    """Play the rows of X: predictions into `out`, purchases into `bought`; a NaN label closes a round unlearnt."""
    who, x = np.empty(width, dtype=np.int64), np.empty(width)
    for t in range(y.size):
        blank = b.cnt[SIZE] == 0
        n, extras, lent = choose(b, pool, who)
        for i in range(n):
            x[i] = X[t, who[i]]
            bought[who[i]] += 1
        out[t] = predict(b, who[:n], x[:n])
        explored[t] = lent or blank
        for i in range(n, n + extras):
            x[i] = X[t, who[i]]
            bought[who[i]] += 1
        if not np.isnan(y[t]):
            tell(b, who[: n + extras], x[: n + extras], y[t], n)


def play_block(learner: Thrifty, X: Floats, y: Floats, out: Floats, explored: Bools, bought: Ints) -> int:
    """Play some of the rows as the protocol would; how many. 0: go row by row, to stop at a bad value and name it."""
    n = min(y.size, _BLOCK, learner.store.free())
    X, y = X[:n], y[:n]
    if np.nanmax(np.abs(X), initial=0.0) > 1e100 or np.nanmax(np.abs(y), initial=0.0) > 1e100:
        return 0
    width = learner.width + learner.k0
    _loop(learner._book, learner.store.everything, X, y, out[:n], explored[:n], bought, width)
    learner.t += n
    return n
