"""A change of the world is noticed: what the last rows say against what the whole past says.

Beside each prediction stands its recalibration on the last 40 rows or so, the label regressed on our own f alone:

    recent = mean y + slope (f - mean f),      slope drawn to the present alpha by ten rows
    doubt <- max(0, doubt + log t(y - recent) - log t(y - y_hat))        Student's t with 4 degrees of freedom

The scale of t is the noise of the fit, drawn halfway to that of the last rows where a burst makes these noisier.
Where little is explained there is little to lose, and more noise is doubt as well: the last rows are judged by their
own. Where nothing changed doubt drifts downwards, and a single label moves it by little, however absurd. An alarm is
doubt above 10 + ln(rows): the past then weighs a thousandth, and is soon outvoted. It starts anew with each support.
"""

import math

from ..._bare import inner
from .state import Now, Records, State

__all__ = ["forget_recent", "likelihood", "noise", "notice", "patience", "ring"]

# Rows that the recalibration remembers, needs, and is drawn by; rows of a past that can be doubted at all; rows that
# make a burst of noise; the part of the noise below which little is explained.
_MEMORY, _FEWEST, _PRIOR, _PAST, _BURST, _LITTLE = 40.0, 20.0, 10.0, 200.0, 10.0, 0.1


@inner
def likelihood(error: float, s2: float) -> float:
    """The logarithm of Student's t density with 4 degrees of freedom and scale s2, up to a constant."""
    return -2.5 * math.log1p(error * error / (4.0 * s2))


@inner
def noise(now: Now) -> float:
    """The variance of a label about its prediction: the fit's, or that of the last rows where these are noisier."""
    return max(now.s2, now.late_error2)


@inner
def patience(now: Now) -> float:
    """How much evidence an alarm takes: 10 + ln(rows), so that a long quiet life has as few false ones as a short."""
    return 10.0 + math.log(now.n / now.g)


@inner
def ring(bell: Records, now: Now, level: float, before: float, after: float) -> None:
    """Keep an alarm: by how much the label's level moved, the slope on our predictions before and after."""
    entry = bell[now.rang % bell.size]
    entry.row, entry.level, entry.before, entry.after = now.told + 1, level, before, after
    now.rang += 1


@inner
def forget_recent(now: Now) -> None:
    """The recalibration starts anew: f is another one now."""
    now.doubt, now.late_n, now.late_f, now.late_y, now.late_ff, now.late_fy = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0


@inner
def _start_again(now: Now) -> None:
    """The past weighs a thousandth; errors and slope are estimated anew, and so is the support, at once."""
    now.g *= 1e3
    now.doubt, now.error2, now.fy, now.ff = 0.0, now.y_var, 0.0, 0.0
    now.epoch, now.refit_at, now.score_at = now.told, now.told + 1, 0


@inner
def notice(state: State, f: float, y: float, y_hat: float) -> None:
    """Add what label y, predicted as y_hat from the signal f, says for or against a change."""
    now = state.now
    n, s2, error2 = now.late_n, math.sqrt(now.s2 * noise(now)), (y - y_hat) ** 2
    if n > _FEWEST and now.n / now.g > _PAST and s2 > 0.0:
        f_bar, y_bar = now.late_f / n, now.late_y / n
        ff, fy = now.late_ff / n - f_bar * f_bar, now.late_fy / n - f_bar * y_bar
        slope = (n * fy / ff + _PRIOR * now.alpha) / (n + _PRIOR) if ff > 1e-12 * now.y_var else 0.0
        recent = y_bar + slope * (f - f_bar)
        gain = likelihood(y - recent, s2) - likelihood(y - y_hat, s2)
        if state.fit.label.explained < _LITTLE * now.s2 or now.m == 0:
            gain = likelihood(y - recent, noise(now)) - likelihood(y - y_hat, now.s2) - math.log(s2 / now.s2)
        now.doubt = max(0.0, now.doubt + gain)
        error2 = min(error2, (y - recent) ** 2)
        if now.doubt > patience(now):
            ring(state.bell, now, 0.0, now.alpha, slope)
            _start_again(now)
    keep = 1.0 - 1.0 / _MEMORY
    now.late_n = keep * n + 1.0
    now.late_f = keep * now.late_f + f
    now.late_y = keep * now.late_y + y
    now.late_ff = keep * now.late_ff + f * f
    now.late_fy = keep * now.late_fy + f * y
    now.late_error2 += (error2 - now.late_error2) / _BURST
