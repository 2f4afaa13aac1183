"""How often, and with which values, every attribute outside the support was seen, alone and beside each member."""

from ..._internal.numba._bare import inner
from .state import Attribute, Records, State
from .sums import unheard

__all__ = ["count", "recount"]


@inner
def _count_value(me: Attribute, pair: Records, attr: Records, shown: Records, t: int, x: float, weight: float) -> None:
    """The moments of an attribute, alone and with each member that stored row t shows."""
    me.n += weight
    me.x += weight * x
    me.xx += weight * x * x
    me.rows += 1
    for i in range(shown.shape[1]):
        other = shown[t, i]
        if other.j < 0:
            break
        a = attr[other.j].place
        if a >= 0:
            both = pair[a]
            both.n += weight
            both.x_j += weight * x
            both.x_a += weight * other.x
            both.x_jj += weight * x * x
            both.x_aa += weight * other.x * other.x
            both.x_ja += weight * x * other.x


@inner
def count(state: State, t: int) -> None:
    """Row t into the moments of every attribute it shows that is not a member."""
    attr, shown = state.attr, state.shown
    for i in range(shown.shape[1]):
        j, x = shown[t, i].j, shown[t, i].x
        if j < 0:
            break
        if attr[j].place < 0:
            _count_value(attr[j], state.pair[j], attr, shown, t, x, state.row[t].weight)


@inner
def recount(state: State) -> None:
    """All moments anew from the stored rows: the support has changed, and with it what they are relative to. What the
    rows say beside it is heard when everybody is scored."""
    for j in range(state.attr.size):
        me = state.attr[j]
        me.n, me.x, me.xx, me.rows, me.failed = 0.0, 0.0, 0.0, 0, 0
        for a in range(state.pair.shape[1]):
            pair = state.pair[j, a]
            pair.n, pair.x_j, pair.x_a, pair.x_jj, pair.x_aa, pair.x_ja, pair.u = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
            unheard(me, pair)
    for t in range(min(state.now.told, state.row.size)):
        count(state, t)
