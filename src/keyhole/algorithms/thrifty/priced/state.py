"""Everything the priced engine knows, as records that its compiled functions read and write.

Attributes are numbered j, sources s, columns of the fit a (and e), rows t. Sums over rows are weighted; the weight of
the present is `now.g`, so that a sum of weights divided by it counts rows. Values and labels are kept as
(x - ref) / unit, which loses no digit: the unit is a power of two.
"""

from dataclasses import dataclass

from ...._internal.numba._shared import Shared
from ...._internal.typing import Floats, Ints
from ..state import Quantiles, Records
from ..watch import Watch

__all__ = ["Attribute", "Fit", "Given", "Now", "Pair", "Row", "Source", "State"]


class Attribute:
    """`attr[j]`."""

    # Its source, -1: known; its column in the fit, or -1.
    of: int
    place: int
    # Its values are kept as (x - ref) / unit; unit 0: it has shown one value only.
    ref: float
    unit: float
    observed: int
    # Sums of x y and of y over the rows that show it.
    xy: float
    y: float
    # As of the last refit.
    mean: float
    sd: float


class Source:
    """`source[s]`."""

    price: float
    # Its attributes are listed[first : first + size].
    first: int
    size: int
    # Its place in the support, or -1; 1: it left or failed in this refit, and stays out; it joined, and failed in the
    # same refit: it stays out until so many rounds ordered it.
    place: int
    barred: int
    until: int
    # Rounds that ordered it, and the last of them; the weight of the rows told of them.
    asked: int
    last: int
    tried: float
    # Rows that show all of it, and how many ordinary ones say as much (see `calm`); what it explains beside the support
    # (in it: what would be lost), as measured; the variance left without it; what it explains by the posterior, and the
    # probability that it explains anything.
    n: float
    says: float
    gain: float
    left: float
    adds: float
    real: float
    # rate * adds - price.
    net: float
    # In exchange for which member, -1: none; what that is expected to bring in money, and its standard deviation.
    instead: int
    swap: float
    swap_sd: float
    # > 0: what looking at it is worth, net of the looks; how many more may be ordered before the next refit.
    value: float
    wanted: int
    # 1: constant, never observed, or determined by what is bought anyway; the share of its variance that is its own by
    # the pooled sums; beside which fit (`now.moves`) its rows were read, and whether they say that it is determined.
    idle: int
    own: float
    checked: int
    determined: int


class Pair:
    """`pair[i, j]`: sums of 1, x_i, x_i x_j over the rows that show both."""

    n: float
    x: float
    xx: float


class Row:
    """`row[t]`: label and weight of a stored row; its values are those before `end`."""

    y: float
    weight: float
    end: int


class Now(Watch):
    """`now`: the running totals."""

    # Mean of the label in the rows of the fit, what the fit explains.
    y_bar: float
    explained: float
    # Rounds asked, rows stored, at how many labels to refit.
    asked: int
    rows: int
    refit_at: int
    # Members; sources that wait to be looked at; whose turn it is; whether a place is lent next time.
    m: int
    queued: int
    turn: int
    lend: int
    # Rows since the Gram was built that it lacks.
    lacking: float
    moves: int
    # Money spent, with the rounding it lost; what the support may cost in the mean; with a total, what was saved up
    # for a row that costs more.
    spent: float
    spent_low: float
    ceiling: float
    account: float
    # With a total: what looks may cost now. They are paced, too.
    purse: float
    # What a unit of squared error is worth in money: to members, and to looks.
    rate: float
    look_rate: float


class Given:
    """`given`, by the configuration; infinite: no limit."""

    k: int
    k0: int
    spend: float
    worth: float
    total: float
    rows: float
    decay: float


@dataclass(frozen=True)
class Fit(Shared):
    """Least squares on the attributes A: the known ones, then those of the support."""

    A: Ints  # (m,)
    gram: Floats  # (m + 2, m + 2) sums of products of (x_A, 1, y), what is missing imputed
    w: Floats  # (m,)
    x_bar: Floats  # (m,)
    ridge: Floats  # (m,) what is added to the variances, in units of them
    V: Floats  # (m, m) inverse of the covariance in the Gram
    P: Floats  # (m, m) the same from the pooled pairs


@dataclass(frozen=True)
class State(Shared):
    """What the compiled functions share: d attributes, n sources."""

    attr: Records  # (d,)
    source: Records  # (n,)
    listed: Ints  # (d,) the attributes, known ones first, then source by source
    pair: Records  # (d, d)
    row: Records  # (rows,)
    shown: Ints  # (values,) which attribute, row after row
    x: Floats  # (values,) its value
    members: Ints  # (n,) the support, `now.m` of them
    queue: Ints  # (n,) who waits to be looked at, `now.queued` of them
    scratch: Ints  # (n,)
    prior: Floats  # (5,) log weights of the spike and the slabs
    hoped: Floats  # (5,) the same before anything is known
    tally: Floats  # (5,) scratch: sums of the posterior weights over those who can be judged
    fit: Fit
    quantiles: Quantiles
    bell: Records  # (32,) the last alarms, a ring: `now.rang` in all
    now: Now
    given: Given
