"""Values far from all others of their attribute: real, drawn in, or none at all - whichever predicts the label best.

A value further than six deviations from the mean is extreme, and drawn in to there until its attribute, as a member,
has shown what such values are worth. That is added up, as a log likelihood ratio:

    genuine <- genuine + log t(y - y_hat with the value as it is) - log t(y - y_hat with the value drawn in)

and a value counts as it is where this is positive, up to a limit that is the attribute's own as well: eight times the
farthest that a label bore out, against the mean in its place. Where a label says that a value was none, the limit falls
below it; from then on the mean stands for what is beyond the limit, which every real value beyond it lifts by half, and
every one within that was none lowers by a third. Both mistakes cost the same: it settles where they are as frequent.
"""

import math

from ..._internal.numba._bare import inner
from ..._internal.typing import Floats, Ints
from .change import likelihood, noise
from .fit import mean_and_variance
from .state import FEW, Attribute, State
from .units import scaled

__all__ = ["farthest", "judge_extremes", "on_trust", "sized", "winsorised"]

# Deviations beyond which a value is extreme, once so many were seen; four times as many from a few on. The most that is
# believed of either side.
_EXTREME, _SEEN, _FOUR, _SURE = 6.0, 10, 4.0, 20.0
# How many times as far as another a value may be: as one of an attribute not yet judged; as one that a label bore out;
# as that where some were none. By how much a label has to speak for one of the two.
_TWICE, _MUCH, _STEP, _CLEAR = 2.0, 8.0, 1.5, 2.0
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
    reach = _EXTREME * math.sqrt(variance) if me.observed >= FEW else 0.0
    return mean, reach if me.observed >= _SEEN else _FOUR * reach


@inner
def _ordinary(me: Attribute, z: float) -> bool:
    """Whether z is not extreme, which most values are not, told at the least expense; False: who knows."""
    mean, variance = mean_and_variance(me)
    return me.observed < FEW or (z - mean) ** 2 < _ORDINARY * variance


@inner
def _believed(me: Attribute) -> float:
    """The deviation up to which a value counts as it is; 0: none that is extreme does."""
    return me.limit if me.genuine > 0.0 else 0.0


@inner
def farthest(me: Attribute, z: float) -> float:
    """The largest deviation so far, z included: an absurd value, or a few, must not make all others look ordinary."""
    mean, reach = _limits(me)
    far = abs(z - mean)
    if reach > 0.0 and far > max(reach, _believed(me)):
        far = min(far, _TWICE * max(reach, me.far))
    return max(me.far, far)


@inner
def sized(me: Attribute, z: float) -> float:
    """z as it counts for mean and variance: no further out than six deviations, or than one before it was."""
    if _ordinary(me, z):
        return z
    mean, reach = _limits(me)
    return _within(z, mean, max(max(reach, me.far), _believed(me))) if reach > 0.0 else z


@inner
def winsorised(me: Attribute, z: float) -> float:
    """z, in the attribute's own units, as it is used; what is extreme as it is, drawn in, or replaced by the mean."""
    if _ordinary(me, z):
        return z
    mean, reach = _limits(me)
    if reach <= 0.0 or abs(z - mean) <= max(reach, _believed(me)):
        return z
    return mean if me.absurd > 0 and abs(z - mean) > me.limit else _within(z, mean, reach)


@inner
def on_trust(me: Attribute, z: float) -> bool:
    """Whether z, as it is used, is extreme: it may lead to a label unlike any before."""
    mean, variance = mean_and_variance(me)
    return me.genuine > 0.0 and (z - mean) ** 2 > 1.01 * _EXTREME**2 * variance


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
        real = likelihood(error + w * (used - z), s2)
        drawn = likelihood(error + w * (used - _within(z, mean, reach)), s2)
        me.genuine = min(_SURE, max(-_SURE, me.genuine + real - drawn))
        _bound(me, abs(z - mean), reach, real - likelihood(error + w * (used - mean), s2))


@inner
def _bound(me: Attribute, deviation: float, reach: float, real: float) -> None:
    """The limit, after a label that speaks for a value so far out by `real`, against the mean in its place."""
    if real > _CLEAR:
        most = _MUCH * deviation if me.absurd == 0 else _STEP * min(deviation, max(reach, me.limit))
        me.limit = max(me.limit, most)
    elif real < -_CLEAR:
        me.absurd += 1
        me.limit = min(me.limit, max(reach, min(0.999 * deviation, me.limit / _STEP)))
