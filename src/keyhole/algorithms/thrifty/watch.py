"""What both engines of `thrifty` keep of the label, and what `change` watches it with: fields of a record (`state`)."""

__all__ = ["ALARMS", "RECALIBRATED", "Account", "Bell", "Turn", "Watch"]

# So many alarms are remembered.
ALARMS = 32
# What starts anew where f is another signal (`change.forget_recent`).
_SUMS = ("n", "f", "y", "ff", "fy")
RECALIBRATED = (
    "doubt",
    "firm",
    "bent",
    "late_loss",
    "past_loss",
    *(f"late_{name}" for name in _SUMS),
    *(f"past_{name}" for name in _SUMS),
)


class Watch:
    """A part of `now`."""

    # Weight of the present; sums of the weights, of y, of y^2.
    g: float
    n: float
    y: float
    yy: float
    # Of the label, which is kept as (y - y_ref) / y_unit.
    y_mean: float
    y_var: float
    y_low: float
    y_high: float
    y_ref: float
    y_unit: float
    # Residual variance of the fit; running mean of the predictions' squared errors; labels told.
    s2: float
    error2: float
    told: int
    # Sums of 1, f, y, f^2, f y and of how unlikely y was, over the last rows and over those since the support changed.
    late_loss: float
    past_loss: float
    late_n: float
    late_f: float
    late_y: float
    late_ff: float
    late_fy: float
    past_n: float
    past_f: float
    past_y: float
    past_ff: float
    past_fy: float
    # Squared error of the last rows; how much better than the fit they predict, and than the fit recalibrated on all
    # rows of its support; how much better than that weights bent by the last rows do; alarms in all.
    late_error2: float
    doubt: float
    firm: float
    bent: float
    rang: int


class Turn:
    """The part of `now` that `regimes` needs."""

    # The regime; the one that ended in this row, if any, and the weight of the present in it.
    regime: int
    left: int
    ended: float
    # The one that is tried, if any: 1 + its place; since how many labels; the evidence for it. How many members to fit
    # anew from the stored rows.
    tried: int
    tried_at: int
    proof: float
    anew: int


class Bell:
    """`bell[i]`: an alarm. Number of the label; by how much its level moved; slope on our predictions, then and now,
    the same where single weights moved; > 0: the number of the label at which what holds again had ended."""

    row: int
    level: float
    before: float
    after: float
    back: int


class Account:
    """`accounts[e]`: where one account puts the label's level, how fast it follows, how far it is believed."""

    c: float
    gain: float
    belief: float
