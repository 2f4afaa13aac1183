"""What a row says about those it showed beside the support is worked out at once, not at the next refit.

Free places go to whoever looks best *now*: one that only seemed good is left after the few looks that speak against it,
and whoever reaches the evidence for joining is tried in the same row.
"""

from ..._internal.numba._bare import inner
from ..._internal.typing import Ints
from .score import enough, evidence, regress
from .state import State

__all__ = ["refresh"]


@inner
def refresh(state: State, attributes: Ints, total: int) -> bool:
    """r, c and se anew for the candidates among the first `total` attributes; whether one of them should join now.

    Not where all places are taken: who has to go for it is a matter for the refit.
    """
    attr, now, given = state.attr, state.now, state.given
    if now.s == 0.0:  # nobody was scored yet
        return False
    u, due = state.work.v, False
    for i in range(total):
        j = attributes[i]
        me = attr[j]
        if me.place >= 0 or me.rows < 2 or me.idle:
            continue
        v = regress(me, state.pair[j], state.fit, now, now.s, u)
        new = now.m < given.k and me.asked >= 1.1 * me.failed
        due = due or (new and v > 0.0 and enough(me) and evidence(me, now) > given.L)
    return due
