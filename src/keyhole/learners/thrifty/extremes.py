"""Values far from all others of their attribute: real, drawn in, or none at all - whichever predicts the label best.

A value further than six deviations from the mean is drawn in to there, until its attribute, as a member, has shown what
its extreme values are worth. Two log likelihood ratios against drawing in are added up over the rows that have one:

    genuine <- genuine + log t(y - y_hat with the value as it is) - log t(y - y_hat with the value drawn in)
    void <- void + log t(y - y_hat with the mean instead)   - log t(y - y_hat with the value drawn in)

and the best of the three is done. As it is: no further than the largest deviation seen before, so that a first absurd
value of a column with heavy tails is drawn in too.
"""

import math

from ..._bare import inner
from ..._types import Floats, Ints
from .change import likelihood, noise
from .fit import mean_and_variance
from .state import Attribute, State
from .units import scaled

__all__ = ["judge_extremes", "sized", "winsorised"]

# Deviations beyond which a value is extreme, once so many were seen; the most that is believed of either side.
_EXTREME, _SEEN, _SURE = 6.0, 10, 20.0
# In variances: a deviation whose square is below this is not extreme, whatever rounding does; no root has to be taken.
_ORDINARY = 0.999 * _EXTREME**2


@inner
def _within(z: float, mean: float, reach: float) -> float:
    """z, no further than `reach` from the mean."""
    return min(mean + reach, max(mean - reach, z))


@inner
def _limits(me: Attribute) -> tuple[float, float]:
    """The mean, and how far from it a value is extreme; 0: none is, yet."""
    mean, variance = mean_and_variance(me)
    return mean, _EXTREME * math.sqrt(variance) if me.observed >= _SEEN else 0.0


@inner
def _ordinary(me: Attribute, z: float) -> bool:
    """Whether z is not extreme, which most values are not, told at the least expense; False: who knows."""
    mean, variance = mean_and_variance(me)
    return me.observed < _SEEN or (z - mean) ** 2 < _ORDINARY * variance


@inner
def sized(me: Attribute, z: float) -> float:
    """z as it counts for mean and variance: no further out than six deviations, or than one before it was."""
    if _ordinary(me, z):
        return z
    mean, reach = _limits(me)
    return _within(z, mean, max(reach, me.far)) if reach > 0.0 else z


@inner
def winsorised(me: Attribute, z: float) -> float:
    """z, in the attribute's own units, as it is used; what is extreme as it is, drawn in, or replaced by the mean."""
    if _ordinary(me, z):
        return z
    mean, reach = _limits(me)
    if reach <= 0.0 or abs(z - mean) <= reach:
        return z
    if me.void > 0.0 and me.void >= me.genuine:
        return mean
    return _within(z, mean, max(reach, me.far) if me.genuine > 0.0 else reach)


@inner
def judge_extremes(state: State, attributes: Ints, x: Floats, n: int, error: float) -> None:
    """Learn what extreme values of members are worth from how far the label was from its prediction."""
    s2 = noise(state.now)
    if s2 <= 0.0:
        return
    for i in range(n):
        me = state.attr[attributes[i]]
        if me.place < 0 or math.isnan(x[i]):
            continue
        z = scaled(x[i], me.ref, me.unit)
        if _ordinary(me, z):
            continue
        mean, reach = _limits(me)
        if reach <= 0.0 or abs(z - mean) <= reach:
            continue
        w, used = state.now.alpha * state.fit.member[me.place].w, winsorised(me, z)
        drawn = likelihood(error + w * (used - _within(z, mean, reach)), s2)
        real = likelihood(error + w * (used - _within(z, mean, max(reach, me.far))), s2) - drawn
        void = likelihood(error + w * (used - mean), s2) - drawn
        me.genuine, me.void = min(_SURE, max(-_SURE, me.genuine + real)), min(_SURE, max(-_SURE, me.void + void))
