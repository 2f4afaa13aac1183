"""A change of the world is noticed: what the last rows say against what the whole past says.

Beside each prediction stands its recalibration on the last 40 rows or so, the label regressed on our own f alone:

    recent = mean y + slope (f - mean f),      slope drawn to the present one by ten rows
    doubt <- max(0, doubt + log t(y - recent) - log t(y - y_hat))        Student's t with 4 degrees of freedom

The scale of t is the noise of the fit, drawn halfway to that of the last rows where a burst makes these noisier.
Where little is explained there is little to lose, and more noise is doubt as well: the last rows are judged by their
own. Where nothing changed doubt drifts downwards, and a single label moves it by little, however absurd.

A prediction may be too timid all along: weights are held back, slopes too. That is no change. So a second doubt is
firm: it gives the past the slope that all rows of this support ask for, where that is the larger one. When doubt
passes 10 + ln(rows), and half of it is firm, that is an alarm: the past weighs a thousandth, and is soon outvoted.
Otherwise, or where the support is new and has hardly been tried, the fit is to blame: its past weighs a twentieth.

Where single weights change, f may follow the label much as before. So a third doubt compares with the fit bent: each
weight moved as the last 40 rows ask for, by steps along the inverse covariance P of the members, that far apart labels
(Student's t again) shorten and that fade five times as slowly:

    bend <- (1 - 1/200) bend + P v (y - y_hat - bend'v) / 40

It asks for 2 more, and is an alarm where the support has stayed for 300 rows and for a twentieth of all, and predicts
worse than it did: else a newcomer's weight, or one that an absurd label left, is the wrong one. All start anew with
each support, and nobody is swapped while doubt is a third of the way to an alarm: the rows before and after a change
together speak for the wrong ones, and the alarm would come late or not at all.
"""

import math

from ..._internal.numba._bare import inner
from .state import Now, Records, State
from .watch import Watch

__all__ = [
    "GONE",
    "LONGEST",
    "PROVEN",
    "doubtful",
    "forget_recent",
    "likelihood",
    "noise",
    "notice",
    "patience",
    "ring",
    "weigh",
]

# Rows that the recalibration remembers, needs, and is drawn by; rows of a past that can be doubted at all; rows that
# make a burst of noise; the part of the noise below which little is explained.
_MEMORY, _FEWEST, _PRIOR, _PAST, _BURST, _LITTLE = 40.0, 20.0, 10.0, 200.0, 10.0, 0.1
# Rows of a support that has been tried; they also draw its slope to the present one. What a bent fit is asked for more,
# and the rows, at least, and the part of all of them, after which a support has been judged again and stayed.
_TRIED, _MORE, _STAYED, _PART = 100.0, 2.0, 300.0, 0.05
# The part of what an alarm takes from which on something may have changed.
_SOME = 0.3
# How much less likely, in logarithms, the labels of the last rows are than those of all, where the fit became worse.
_MARGIN = 0.25
# What the past is divided by at an alarm, and where the fit is to blame.
GONE, _FADED = 1e3, 20.0
# The evidence that decides on a regime that is tried, and for how many rows it is.
PROVEN, LONGEST = 3.0, 40


@inner
def likelihood(error: float, s2: float) -> float:
    """The logarithm of Student's t density with 4 degrees of freedom and scale s2, up to a constant."""
    return -2.5 * math.log1p(error * error / (4.0 * s2))


@inner
def noise(now: Watch) -> float:
    """The variance of a label about its prediction: the fit's, or that of the last rows where these are noisier."""
    return max(now.s2, now.late_error2)


@inner
def patience(now: Watch) -> float:
    """How much evidence an alarm takes: 10 + ln(rows), so that a long quiet life has as few false ones as a short."""
    return 10.0 + math.log(now.n / now.g)


@inner
def doubtful(now: Watch) -> bool:
    """Whether something may have changed: then what the rows before and after say together holds of neither."""
    return bool(now.doubt > _SOME * patience(now))


@inner
def ring(bell: Records, now: Watch, level: float, before: float, after: float) -> None:
    """Keep an alarm: by how much the label's level moved, the slope on our predictions before and after."""
    entry = bell[now.rang % bell.size]
    entry.row, entry.level, entry.before, entry.after, entry.back = now.told + 1, level, before, after, 0
    now.rang += 1


@inner
def forget_recent(now: Watch) -> None:
    """The recalibrations start anew: f is another one now."""
    now.doubt, now.late_n, now.late_f, now.late_y, now.late_ff, now.late_fy = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    now.bent, now.late_loss, now.past_loss = 0.0, 0.0, 0.0
    now.firm, now.past_n, now.past_f, now.past_y, now.past_ff, now.past_fy = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0


@inner
def _slope(n: float, f: float, y: float, ff: float, fy: float, prior: float, slope: float, least: float) -> float:
    """The slope of y on f by the sums of n rows, and `prior` more that have the slope given."""
    spread = ff / n - (f / n) ** 2
    return (n * (fy / n - f * y / (n * n)) / spread + prior * slope) / (n + prior) if spread > least else slope


@inner
def _remember(now: Watch, f: float, y: float, error2: float, loss: float) -> None:
    """The row into both recalibrations; the past is remembered as long as the slope of the predictions is."""
    keep = 1.0 - 1.0 / _MEMORY
    now.late_n, now.late_f, now.late_y = keep * now.late_n + 1.0, keep * now.late_f + f, keep * now.late_y + y
    now.late_ff, now.late_fy = keep * now.late_ff + f * f, keep * now.late_fy + f * y
    now.late_loss = keep * now.late_loss + loss
    keep = 1.0 - 1.0 / max(50.0, now.n / now.g / 2.0)
    now.past_n, now.past_f, now.past_y = keep * now.past_n + 1.0, keep * now.past_f + f, keep * now.past_y + y
    now.past_ff, now.past_fy = keep * now.past_ff + f * f, keep * now.past_fy + f * y
    now.past_loss = keep * now.past_loss + loss
    now.late_error2 += (error2 - now.late_error2) / _BURST


@inner
def _worse(now: Watch) -> bool:
    """Whether a support that has stayed predicts worse than it did: if not, it was no better before."""
    stayed = now.past_n > max(_STAYED, _PART * now.n / now.g)
    return stayed and now.late_loss / now.late_n > now.past_loss / now.past_n + _MARGIN


@inner
def _verdict(bell: Records, now: Watch, before: float, after: float, firm: bool) -> float:
    """What the past is divided by, now that doubt is large; all doubts begin again."""
    changed = firm and now.past_n > _TRIED
    now.doubt, now.firm, now.bent = 0.0, 0.0, 0.0
    if changed:
        ring(bell, now, 0.0, before, after)
    return GONE if changed else _FADED


@inner
def weigh(
    bell: Records, now: Watch, explained: float, slope: float, f: float, y: float, y_hat: float, bent: float
) -> float:
    """Add what label y says for or against a change: y_hat is its prediction, slope times the signal f and a constant,
    and `bent` what the fit says where it is bent by the last rows.

    What the past is to be divided by: 1 as a rule.
    """
    n, s2, error2, by = now.late_n, math.sqrt(now.s2 * noise(now)), (y - y_hat) ** 2, 1.0
    if n > _FEWEST and now.n / now.g > _PAST and s2 > 0.0:
        least = 1e-12 * now.y_var
        after = _slope(n, now.late_f, now.late_y, now.late_ff, now.late_fy, _PRIOR, slope, least)
        recent = now.late_y / n + after * (f - now.late_f / n)
        past = _slope(now.past_n, now.past_f, now.past_y, now.past_ff, now.past_fy, _TRIED, slope, least)
        fair = y_hat + max(0.0, past - slope) * (f - now.past_f / now.past_n)
        late2, fit2 = (noise(now), now.s2) if explained < _LITTLE * now.s2 else (s2, s2)
        gain = likelihood(y - recent, late2) - 0.5 * math.log(late2 / fit2)
        by_fit = likelihood(y - y_hat, fit2)
        now.doubt = max(0.0, now.doubt + gain - by_fit)
        now.firm = max(0.0, now.firm + gain - max(by_fit, likelihood(y - fair, fit2)))
        straight = max(likelihood(y - y_hat, noise(now)), likelihood(y - fair, noise(now)))
        now.bent = max(0.0, now.bent + likelihood(y - bent, noise(now)) - straight)
        error2 = min(error2, min((y - recent) ** 2, (y - bent) ** 2))
        if now.doubt > patience(now):
            by = _verdict(bell, now, slope, after, now.firm > 0.5 * now.doubt)
        elif now.bent > patience(now) + _MORE and now.past_n > _TRIED:
            by = _verdict(bell, now, slope, slope, _worse(now))
    _remember(now, f, y, error2, -likelihood(y - y_hat, max(now.s2, 1e-300)))
    return by


@inner
def _start_again(now: Now) -> None:
    """Errors and slope are estimated anew."""
    now.error2, now.fy, now.ff, now.epoch = now.y_var, 0.0, 0.0, now.told


@inner
def _bent(state: State) -> float:
    """What the bends of the weights add to the prediction of a row that showed all members."""
    more = 0.0
    for a in range(state.now.m):
        more += state.fit.member[a].bend * state.work.v[a]
    return more


@inner
def _bend(state: State, off: float) -> None:
    """Move the bends along P v, where the bent fit was off by so much."""
    now, fit, v, h = state.now, state.fit, state.work.v, 0.0
    for a in range(now.m):
        for e in range(now.m):
            h += v[a] * fit.P[a, e] * v[e]
    step = off / (1.0 + off * off / (4.0 * max(noise(now), 1e-300))) / (_MEMORY + max(h, 0.0))
    for a in range(now.m):
        fit.member[a].bend *= 1.0 - 0.2 / _MEMORY
        for e in range(now.m):
            fit.member[a].bend += step * fit.P[a, e] * v[e]


@inner
def _prove(now: Now, f: float, y: float) -> None:
    """Add what label y says for a regime that is tried: the fit must do as well as its own noise, not just better than
    the mean, or than itself with twice the deviation."""
    off = y - now.y_mean - f
    own = likelihood(off, now.s2) - 0.5 * math.log(now.s2)
    wide = likelihood(off, 4.0 * now.s2) - 0.5 * math.log(4.0 * now.s2)
    now.proof += own - max(wide, likelihood(y - now.y_mean, now.y_var) - 0.5 * math.log(now.y_var))
    if abs(now.proof) > PROVEN or now.told - now.tried_at >= LONGEST:
        now.refit_at = now.told + 1


@inner
def notice(state: State, f: float, y: float, y_hat: float) -> None:
    """Weigh what label y, predicted as y_hat from the signal f, says; where that is much, judge the support at once."""
    now = state.now
    explained = state.fit.label.explained if now.m > 0 else 0.0
    bent, g = y_hat + _bent(state), now.g
    by = weigh(state.bell, now, explained, now.alpha, f, y, y_hat, bent)
    _bend(state, y - bent)
    if now.tried > 0 and now.s2 > 0.0:
        _prove(now, f, y)
    if by > 1.0:
        now.g *= by
        now.refit_at, now.score_at, now.epoch = now.told + 1, 0, now.told - int(now.n / now.g)
        for a in range(now.m):
            state.fit.member[a].bend = 0.0
    if by == GONE:
        now.ended, now.left, now.regime = g, now.regime, now.told + 1
        _start_again(now)
