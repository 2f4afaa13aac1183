"""Everything `thrifty` knows, as records that its compiled functions read and write.

Attributes are numbered j, members of the support a (and e), rows t. Sums over rows are weighted; the weight of the
present is `now.g`, so that `n / now.g` counts rows. A record holds plain numbers only: an array inside it would make
its length part of the type, and every (d, k) would be compiled anew.

A field is added by writing it down here; in a file that does not have it, it is what it is in a fresh `Memory`.
"""

from dataclasses import dataclass
from functools import cache
from inspect import get_annotations
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from ..._internal.numba._shared import Shared
from ..._internal.typing import Floats, Ints
from .attribute import Attribute
from .watch import Turn, Watch

__all__ = [
    "FEW",
    "Attribute",
    "Fit",
    "Given",
    "Label",
    "Member",
    "Now",
    "Pair",
    "Quantiles",
    "Records",
    "Row",
    "Shown",
    "State",
    "Work",
    "record",
]

Records: TypeAlias = npt.NDArray[np.record]

# Fewer values than this decide nothing.
FEW = 5


class Pair:
    """`pair[j, a]`: sums of 1, x_j, x_a, x_j^2, x_a^2, x_j x_a over the rows that show attribute j and member a."""

    n: float
    x_j: float
    x_a: float
    x_jj: float
    x_aa: float
    x_ja: float
    # Over all rows of j, as they were weighed: sums of x_a e, and of cov(x_a, w'x) as far as they lack members; the
    # coefficient of x_a in the regression of x_j by which they were. Over those that show both, weighted by how much of
    # what they show is j's own: sums of 1, (x_j - u'x) x_a.
    x_ae: float
    pull: float
    u: float
    own_n: float
    own_xa: float


class Row:
    """`row[t]`: the label and the weight of a stored row, and the regime it belongs to: see `regimes`."""

    y: float
    weight: float
    regime: int


class Shown:
    """`shown[t, i]`: an attribute that stored row t shows, and its value; j = -1 behind the last."""

    j: int
    x: float


class Member:
    """`fit.member[a]`: weight, mean, deviation, variance given the others, weight of the rows that lack it; what the
    last rows add to its weight."""

    j: int
    w: float
    x_bar: float
    sd: float
    cond: float
    imputed: float
    bend: float


class Label:
    """`fit.label`: the label's mean in the rows of the fit, and how much of its variance is explained."""

    y_bar: float
    explained: float


class Now(Watch, Turn):
    """`now`: the running totals."""

    # Sums of f y and f^2 over past predictions f; the slope they give; labels told when what is remembered began: at
    # the last alarm, or as many rows before the last doubt as it left.
    fy: float
    ff: float
    alpha: float
    epoch: int
    # The label's level when it was last reported; for how many rows it has been another; how far from that it usually
    # is, in squares; how far off a label may be.
    level: float
    aside: int
    strayed: float
    far: float
    # Members; changes of the support; how many there had been when the rows were last weighed again, -1 before; labels
    # and s2 then, and rows since then that showed others than members; at how many labels to refit, and to score
    # everybody.
    m: int
    moves: int
    heard: int
    heard_at: int
    heard_s2: float
    news: int
    refit_at: int
    score_at: int
    # How many wait for a loan, whose turn it is, and the account: a place is lent when it reaches 1.
    queued: int
    turn: int
    loans: float
    # Changes of the support when it was last asked who is idle; at how many labels to ask again; after how many equal
    # values a column counts as constant, 0 before that was asked.
    idle_moves: int
    idle_at: int
    same: int
    # Since everybody was last scored: how far few joint rows are trusted (`score.shrinkage`); what is expected of
    # something worth a place, 0 where columns are alike (`free_places`).
    s: float
    expects: float


class Given:
    """`given`, by the configuration: places before and after the label, money a row may cost, what a row fades by; the
    price of choosing k of d, in z^2: see `select`."""

    k: int
    k0: int
    spend: float
    decay: float
    L: float


@dataclass(frozen=True)
class Fit(Shared):
    """Least squares on m members; the first m (m + 2) rows and columns are in use."""

    member: Records  # (k,)
    gram: Floats  # (k + 2, k + 2) sums of products of (x_M, 1, y), one member at most imputed
    V: Floats  # (k, k) inverse of the centred Gram: the variance of w in units of s2
    P: Floats  # (k, k) inverse of the covariance
    C: Floats  # (k, k) the covariance
    label: Label
    q: Floats  # (4, k) scratch of `score`


@dataclass(frozen=True)
class Work(Shared):
    """Scratch: what is said of a row, from the values bought before its label on until that is learnt, and what one
    function needs for itself. Compiled functions that make no arrays are quicker, and quicker to compile."""

    v: Floats  # (k,) the members' deviations from their means; then of `fresh`
    seen: Ints  # (k,) 1: bought before the label, and observed
    row: Floats  # (k + 2,) of `update._extend`
    keep: Ints  # (k,) of `acquire.choose`
    taken: Ints  # (d,) of `acquire.choose`; 0 outside it
    lost: Ints  # (k,) of `fit.condition` and `expect`, with the next four
    pull: Floats  # (k,)
    block: Floats  # (k, k)
    inverse: Floats  # (k, k)
    joined: Floats  # (k + 1, 2 k) of `fit.invert`
    likely: Floats  # (4,) of `level`


@dataclass(frozen=True)
class Quantiles(Shared):
    """How far labels are from predictions: see `interval`."""

    log_q: Floats  # (levels,) in spreads of the error, less the centre
    centre: Floats  # (1,) log of their median
    level: Floats  # (1,) the lowest level whose interval held the last label


@dataclass(frozen=True)
class State(Shared):
    """What the compiled functions share: d attributes, k members, k + k0 values in a row."""

    attr: Records  # (d,)
    order: Ints  # (d,) the attributes in the seeded order, the cheaper of equals first
    queue: Ints  # (d,) those who wait for a loan, `now.queued` of them
    pair: Records  # (d, k)
    row: Records  # (rows,) a ring
    shown: Records  # (rows, k + k0)
    fit: Fit  # of the support
    trial: Fit  # of what may become the support
    quantiles: Quantiles
    accounts: Records  # (4,) of the label's level
    bell: Records  # (32,) the last alarms, a ring: `now.rang` in all
    work: Work
    now: Now
    given: Given


@cache
def record(kind: type) -> np.dtype[np.record]:
    """The fields of a class, its bases' first, as numpy's dtype; one object for each: numba knows a record by it."""
    kinds = reversed(kind.__mro__[:-1])
    fields = [(name, np.dtype(of)) for each in kinds for name, of in get_annotations(each).items()]
    dtype: np.dtype[np.record] = np.dtype((np.record, np.dtype(fields, align=True)))  # type: ignore[assignment]
    return dtype
