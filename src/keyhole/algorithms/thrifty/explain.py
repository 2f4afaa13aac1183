"""What is known about an attribute, in words."""

import math
from dataclasses import dataclass

import numpy as np

from .state import FEW, State

__all__ = ["Explanation", "explain", "rate"]


@dataclass(frozen=True)
class Explanation:
    """What is known about one attribute, and why it is or is not in the support."""

    name: str
    weight: float
    uncertainty: float
    """Standard error: of the weight in the support, of the weight it would have outside."""
    bought: int
    price: float
    adds: float
    """By how much it lowers the squared error of a row, beside the rest of the support: in it, what would be lost."""
    fair_price: float
    """What that is worth at the rate of the support, whose dearest member costs just what it adds; NaN without one."""
    in_support: bool
    reason: str


def rate(state: State) -> float:
    """Money for a unit of squared error, as the support shows it: its dearest member's; NaN where none costs any."""
    fit, m = state.fit, int(state.now.m)
    members = fit.member[:m]
    price, adds = state.attr["price"][members["j"]], members["w"] ** 2 * members["cond"] * state.now.y_unit**2
    paid = (price > 0.0) & (adds > 0.0)
    return float((price[paid] / adds[paid]).max()) if paid.any() else math.nan


def explain(state: State, j: int, name: str, rate: float) -> Explanation:
    """The record of attribute j; `rate` is that of the support."""
    me, now = state.attr[j], state.now
    if me.asked == 0:  # of a wide table nearly all, and a field of a record takes its time
        return Explanation(name, 0.0, np.inf, 0, float(me.price), 0.0, 0.0 * rate, False, "never bought")
    per_unit = float(now.y_unit / me.unit) if me.unit > 0.0 else 0.0
    L, weight, error, adds = float(state.given.L), 0.0, np.inf, 0.0
    if me.place >= 0:
        member = state.fit.member[me.place]
        weight, adds = float(member.w), float(member.w**2 * member.cond)
        error = float(np.sqrt(now.s2 * state.fit.V[me.place, me.place]))
        reason = f"in the support: z^2 = {(weight / error) ** 2:.1f}, it leaves below {L / 2:.1f}"
    elif me.observed == 0:
        reason = "bought, never observed"
    elif me.unit == 0.0:
        reason = "constant so far"
    elif me.idle:
        reason = "known from the support"
    elif me.rows < FEW or me.c <= 0.0:
        reason = f"observed {me.observed} times: too few to judge"
    else:
        error, adds = float(me.se / me.c), float(max(me.r**2 - me.se**2, 0.0) / me.c)  # of r^2, se^2 is chance
        reason = _outside(float((me.r / me.se) ** 2), L, bool(me.loan_value > 0.0))
    if me.idle:
        reason += ": not bought again"
    adds *= float(now.y_unit) ** 2
    fair = rate * adds
    if me.price > 0.0 and not me.idle and math.isfinite(fair):
        reason += f"; it {'adds' if me.place >= 0 else 'would add'} {fair:.3g} a row and costs {me.price:.3g}"
    error = error * per_unit if np.isfinite(error) else error
    told = (name, weight * per_unit, error, int(me.asked), float(me.price), adds, fair)
    return Explanation(*told, bool(me.place >= 0), reason)


def _outside(z2: float, L: float, borrows: bool) -> str:
    """Why an attribute that can be judged is not in the support."""
    why = f"z^2 = {z2:.1f} beside the support, it joins above {L:.1f}"
    if z2 > L:
        why = f"z^2 = {z2:.1f} is significant, but those in its place explain more"
    return f"{why}; it borrows a place to be known better" if borrows else why
