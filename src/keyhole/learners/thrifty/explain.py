"""What is known about an attribute, in words."""

from dataclasses import dataclass

import numpy as np

from .state import FEW, State

__all__ = ["Explanation", "explain"]


@dataclass(frozen=True)
class Explanation:
    """What is known about one attribute, and why it is or is not in the support."""

    name: str
    weight: float
    uncertainty: float
    """Standard error: of the weight in the support, of the weight it would have outside."""
    bought: int
    price: float
    in_support: bool
    reason: str


def explain(state: State, j: int, name: str) -> Explanation:
    """The record of attribute j."""
    me, now = state.attr[j], state.now
    per_unit = float(now.y_unit / me.unit) if me.unit > 0.0 else 0.0
    L, weight, error = float(state.given.L), 0.0, np.inf
    if me.place >= 0:
        weight = float(state.fit.member[me.place].w)
        error = float(np.sqrt(now.s2 * state.fit.V[me.place, me.place]))
        reason = f"in the support: z^2 = {(weight / error) ** 2:.1f}, it leaves below {L / 2:.1f}"
    elif me.observed == 0:
        reason = "never bought" if me.asked == 0 else "bought, never observed"
    elif me.unit == 0.0:
        reason = "constant so far"
    elif me.rows < FEW or me.c <= 0.0:
        reason = f"observed {me.observed} times: too few to judge"
    else:
        error = float(me.se / me.c)
        reason = _outside(float((me.r / me.se) ** 2), L, bool(me.loan_value > 0.0))
    error = error * per_unit if np.isfinite(error) else error
    return Explanation(name, weight * per_unit, error, int(me.asked), float(me.price), bool(me.place >= 0), reason)


def _outside(z2: float, L: float, borrows: bool) -> str:
    """Why an attribute that can be judged is not in the support."""
    why = f"z^2 = {z2:.1f} beside the support, it joins above {L:.1f}"
    if z2 > L:
        why = f"z^2 = {z2:.1f} is significant, but those in its place explain more"
    return f"{why}; it borrows a place to be known better" if borrows else why
