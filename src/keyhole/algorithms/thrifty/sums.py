"""What the stored rows say of every attribute outside the support.

A row shows j, a part A of the support, and lacks the other members B. It enters with what A leaves unexplained,

    e = y - y_bar - w'x                          x_B replaced by E(x_B | x_A)

and with a weight: of the noise in e, w_B' C w_B is due to B, where C = cov(x_B | x_A), and of what x_j shows beyond A,
the part u_B' C u_B might be B's doing as well; with c_j what it has of its own,

    s2 / (s2 + w_B' C w_B)  c_j / (c_j + u_B' C u_B)

So a row that lacks what j may stand in for says next to nothing of it. With the second weight alone it enters the sums
of what u leaves of x_j, (x_j - u'x) x_a and (x_j - u'x)^2, from which u and c_j are worked out anew. w, u and c_j are
those of the time: when there is news all rows are weighed again, as long as they are all there.
"""

from ..._internal.numba._bare import inner
from .fit import condition, expect
from .state import Attribute, Pair, Records, State, Work

__all__ = ["accumulate", "unheard", "weigh_again"]


@inner
def _missing(state: State, t: int) -> int:
    """The members' deviations in stored row t, as far as it shows them: how many it lacks; -1 where it shows nobody
    but members."""
    attr, shown, member, v, seen = state.attr, state.shown, state.fit.member, state.work.v, state.work.seen
    lacking, others = state.now.m, False
    for a in range(state.now.m):
        v[a], seen[a] = 0.0, 0
    for i in range(shown.shape[1]):
        value = shown[t, i]
        if value.j < 0:
            break
        a = attr[value.j].place
        if a >= 0:
            v[a], seen[a] = value.x - member[a].x_bar, 1
            lacking -= 1
        else:
            others = True
    return lacking if others else -1


@inner
def _alike(state: State, lacking: int, before: int) -> bool:
    """Whether a row lacks the same members as the one before it, which lacked so many."""
    for b in range(lacking if lacking == before else 0):
        if state.work.seen[state.work.lost[b]]:
            return False
    return lacking == before


@inner
def _unexplained(state: State, t: int, lacking: int) -> float:
    """e, with what row t lacks of the support imputed."""
    fit, now, v = state.fit, state.now, state.work.v
    expect(fit.P, state.work, now.m, lacking)
    e: float = state.row[t].y - (fit.label.y_bar if now.m > 0 else now.y_mean)
    for a in range(now.m):
        e -= fit.member[a].w * v[a]
    return e


@inner
def _noise(state: State, lacking: int) -> float:
    """w_B' C w_B; C w_B is left in `work.row`."""
    member, lost, C, pull = state.fit.member, state.work.lost, state.work.inverse, state.work.row
    noise = 0.0
    for b in range(lacking):
        pull[b] = 0.0
        for e in range(lacking):
            pull[b] += C[b, e] * member[lost[e]].w
        noise += member[lost[b]].w * pull[b]
    return min(noise, state.now.y_var)


@inner
def _own_part(state: State, j: int, lacking: int) -> float:
    """c / (c + u_B' C u_B): how much of what j shows in such a row is its own."""
    pair, lost, C, shared = state.pair[j], state.work.lost, state.work.inverse, 0.0
    for b in range(lacking):
        for e in range(lacking):
            shared += pair[lost[b]].u * pair[lost[e]].u * C[b, e]
    c: float = state.attr[j].c
    return c / (c + shared) if shared > 0.0 and c > 0.0 else 1.0


@inner
def _relate(me: Attribute, pair: Records, work: Work, m: int, x: float, own: float) -> None:
    """What a row shows of j beyond u'x, and together with each member it shows."""
    left = x - me.x / me.n
    for a in range(m):
        left -= pair[a].u * work.v[a]
    me.own_xx += own * left * left
    for a in range(m):
        if work.seen[a]:
            pair[a].own_n += own
            pair[a].own_xa += own * left * work.v[a]


@inner
def _hear(state: State, j: int, x: float, e: float, weight: float, quiet: float, lacking: int) -> None:
    """What a row of this weight says of j beside the support; `quiet`: how little noise is in e."""
    me, pair, work = state.attr[j], state.pair[j], state.work
    weight *= _own_part(state, j, lacking)
    _relate(me, pair, work, state.now.m, x, weight)
    weight *= quiet
    me.h += weight
    me.e += weight * e
    me.xe += weight * x * e
    for a in range(state.now.m):
        pair[a].x_ae += weight * work.v[a] * e
    for b in range(lacking):
        pair[work.lost[b]].pull += weight * work.row[b]


@inner
def _weigh(state: State, t: int, before: int) -> int:
    """Row t into what is heard of every attribute it shows that is not a member.

    How many members it lacks: `before` of the next row, which mostly lacks the same; -1 of the first.
    """
    attr, shown, s2, weight = state.attr, state.shown, state.now.s2, state.row[t].weight
    lacking = _missing(state, t)
    if lacking < 0:
        return before
    if not _alike(state, lacking, before):
        condition(state.fit.P, state.work, state.now.m)
    e = _unexplained(state, t, lacking)
    noise = _noise(state, lacking)
    quiet = s2 / (s2 + noise) if s2 > 0.0 else 1.0
    for i in range(shown.shape[1]):
        j = shown[t, i].j
        if j < 0:
            break
        if attr[j].place < 0:
            _hear(state, j, shown[t, i].x, e, weight, quiet, lacking)
    return lacking


@inner
def accumulate(state: State, t: int) -> None:
    """Stored row t is new."""
    state.now.news += _weigh(state, t, -1) >= 0


@inner
def unheard(me: Attribute, pair: Pair) -> None:
    """Nothing was heard of an attribute yet, nor beside a member."""
    me.h, me.e, me.xe, me.own_xx = 0.0, 0.0, 0.0, 0.0
    pair.x_ae, pair.pull, pair.own_n, pair.own_xa = 0.0, 0.0, 0.0, 0.0


@inner
def weigh_again(state: State) -> None:
    """What every stored row says by the weights, c and u of now."""
    before = -1
    for j in range(state.attr.size):
        for a in range(state.pair.shape[1]):
            unheard(state.attr[j], state.pair[j, a])
    for t in range(min(state.now.told, state.row.size)):
        before = _weigh(state, t, before)
