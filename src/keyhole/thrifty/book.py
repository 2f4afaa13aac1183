"""Everything `thrifty` knows, as a dozen arrays: the book that its compiled functions read and write.

Few arrays with named columns, because a compiled function takes each array of a tuple as seven arguments.
"""

from typing import NamedTuple

import numpy as np

from .._types import Floats, Ints

__all__ = ["Book"]

# Columns of `Book.at`, a row per attribute. Shift and scale; sums of 1, x, x^2 before winsorising; asks and values.
REF, UNIT, RAW, ASKED, COUNT, THEN = 0, 1, 2, 5, 6, 7
# The candidate beside the support: covariance with the residual, conditional variance, standard error; what follows.
R, C, SE, GAIN, HOPE, PRICE = 8, 9, 10, 11, 12, 13
# Relative to the support: weighted sums of 1, x, x^2, x y, y; the plain count of rows; asks when it failed to join.
N_, X_, XX_, XY_, Y_, ROW_, FAILED, COLUMNS = 14, 15, 16, 17, 18, 19, 20, 21
# Rows of `Book.idx`: place in the support or -1; whose place to take; who waits; the seeded order; scratch (-1).
PLACE, VICTIM, QUEUE, ORDER, MARK, INDICES = 0, 1, 2, 3, 4, 5
# Last axis of `Book.pair[j, a]`: the sums over rows that show both of 1, x_j, x_a, x_j x_a.
PN, PJ, PA, PJA, PAIRS = 0, 1, 2, 3, 4
# Columns of `Book.mass`, one row per stored row.
LABEL, HEFT = 0, 1
# The two fits: first axis of `M`, `vec`, `gram`, `inv`, `top`; no literals: numba would compile for each of them.
NOW, TRIAL = np.int64(0), np.int64(1)
# Rows of `Book.vec[f]`: weight, mean, deviation, variance given the others, weight of the rows in which it was imputed.
W, MEANS, SD, COND, IMPUTED, VECTORS = 0, 1, 2, 3, 4, 5
# `Book.inv[f]`: inverse of the centred Gram (the variance of the weights in units of S2); inverse covariance.
V, P = 0, 1
# Columns of `Book.top[f]`: mean of the label and variance explained.
CENTRE, EXPLAINED = 0, 1

# Places in `Book.num`: weight of the present; sums of weight, label, label^2; moments of the label;
G, ROWS, Y1, Y2, MEAN, VAR = 0, 1, 2, 3, 4, 5
# residual variance; running squared error; range of the label; slope of the label on our own predictions; the CUSUM;
S2, ERR, LOW, HIGH, FY, FF, ALPHA, DRIFT = 6, 7, 8, 9, 10, 11, 12, 13
# shift and scale of the label; the lending account; constants and a counter.
YREF, YUNIT, LEND, DECAY, SPEND, RESETS, NUMS = 14, 15, 16, 17, 18, 19, 20
# Places in `Book.cnt`: size of the support, labels told, when to refit, start of this epoch; the queue; k, k0, moves;
# when to score all.
SIZE, TOLD, NEXT, SINCE, QUEUED, TURN, K, K0, MOVES, ALL, CNTS = 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10

# Fewer values than this decide nothing.
FEW = 5


class Book(NamedTuple):
    """The arrays; d attributes, k members, K = k + k0 values in a row, two fits."""

    at: Floats  # (d, COLUMNS)
    idx: Ints  # (INDICES, d)
    pair: Floats  # (d, k, PAIRS)
    who: Ints  # (rows, K) attributes of the stored rows, -1 behind the last
    what: Floats  # (rows, K) their values
    mass: Floats  # (rows, 2)
    M: Ints  # (2, k)
    vec: Floats  # (2, VECTORS, k)
    gram: Floats  # (2, k + 2, k + 2) sums of products of (x_M, 1, y), one member at most imputed
    inv: Floats  # (2, 2, k, k)
    top: Floats  # (2, 2)
    num: Floats
    cnt: Ints
