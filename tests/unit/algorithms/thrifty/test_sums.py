"""What rows say of a candidate: sums equal those written out row by row, and a row without its stand-in says little."""

import numpy as np
import pytest

import keyhole as kh
from keyhole.algorithms.thrifty.counts import recount
from keyhole.algorithms.thrifty.score import _stale, listen, regress
from keyhole.algorithms.thrifty.update import renew
from tests.compiled import entry


@entry
def weighed(state, s, u):
    recount(state)
    state.now.heard_at = 0
    listen(state, s, u)


@entry
def scored(state, j, s, u):
    return regress(state.attr[j], state.pair[j], state.fit, state.now, s, u)


def played(design, d=10, k=4, T=700, seed=3):
    X, y, _ = kh.streams.synthetic(d, k, T, 0.1, design, seed)
    learner = kh.make("thrifty", d=d, k=k, seed=0)
    kh.play(learner, X, y)
    return learner.memory.state


def row_by_row(state, j):
    """h, the sums of e, x e and (x - u'x)^2, x_ae, pull, own_n and own_xa of candidate j, each row on its own: what it
    lacks by regression."""
    now, fit, m, pair = state.now, state.fit, int(state.now.m), state.pair[j]
    member, P, u, c = fit.member[:m], fit.P[:m, :m], pair["u"][:m], state.attr[j].c
    C = np.linalg.inv(P)
    sums, with_e, pull, own_n, own_xa = np.zeros(4), np.zeros(m), np.zeros(m), np.zeros(m), np.zeros(m)
    for t in range(int(now.told)):
        shown = {int(i): x for i, x in state.shown[t].tolist() if i >= 0}
        if j not in shown:
            continue
        A = [a for a in range(m) if int(member["j"][a]) in shown]
        B = [a for a in range(m) if a not in A]
        v = np.array([shown.get(int(i), 0.0) for i in member["j"]]) - member["x_bar"]
        beta = np.linalg.solve(C[np.ix_(A, A)], C[np.ix_(A, B)])
        v[B] = v[A] @ beta
        cond = C[np.ix_(B, B)] - C[np.ix_(B, A)] @ beta
        e = state.row["y"][t] - fit.label.y_bar - member["w"] @ v
        noise = min(member["w"][B] @ cond @ member["w"][B], now.y_var)
        own = state.row["weight"][t] * c / (c + u[B] @ cond @ u[B])
        weight, left = own * now.s2 / (now.s2 + noise), shown[j] - state.attr[j].x / state.attr[j].n - u @ v
        sums += np.array([weight, weight * e, weight * shown[j] * e, own * left**2])
        own_n[A] += own
        own_xa[A] += own * left * v[A]
        with_e += weight * e * v
        pull[B] += weight * cond @ member["w"][B]
    return sums, with_e, pull, own_n, own_xa


@pytest.mark.parametrize("design", ["uniform", "ar(0.8)", "block(5,0.7)"])
def test_sums_equal_those_written_out_row_by_row(design):
    state = played(design)
    weighed(state, state.now.s, np.zeros(5))
    m, lacked = int(state.now.m), 0
    assert m >= 3
    for j in np.flatnonzero(state.attr["place"] < 0):
        sums, with_e, pull, own_n, own_xa = row_by_row(state, int(j))
        me, pair = state.attr[j], state.pair[j][:m]
        assert [me.h, me.e, me.xe, me.own_xx] == pytest.approx(sums, rel=1e-5, abs=1e-6)  # 1e-9 is added to a diagonal
        assert pair["own_n"] == pytest.approx(own_n, rel=1e-5)
        assert pair["own_xa"] == pytest.approx(own_xa, rel=1e-5, abs=1e-6)
        assert pair["x_ae"] == pytest.approx(with_e, rel=1e-5, abs=1e-6)
        assert pair["pull"] == pytest.approx(pull, rel=1e-5, abs=1e-6)
        lacked += (pull != 0.0).sum()
    assert lacked > 10


def test_moments_are_of_the_values_alone_however_noisy_the_label_of_a_row():
    state = played("ar(0.5)")
    weighed(state, state.now.s, np.zeros(5))
    for j in np.flatnonzero(state.attr["place"] < 0):
        x = state.shown["x"][: int(state.now.told)][state.shown["j"][: int(state.now.told)] == j]
        me = state.attr[j]
        assert [me.n, me.x, me.xx, me.rows] == pytest.approx([x.size, x.sum(), (x * x).sum(), x.size], rel=1e-12)


def copies(T=3000, k=3):
    """Three columns that matter, of nine, three each of which are nearly alike."""
    rng = np.random.default_rng(6)
    own = np.repeat(rng.normal(size=(T, 3)), 3, axis=1)
    X = 0.98**0.5 * own + 0.02**0.5 * rng.normal(size=(T, 9))
    y = X[:, 0] - X[:, 3] + X[:, 6] + 0.1 * rng.normal(size=T)
    learner = kh.make("thrifty", d=9, k=k, seed=0)
    kh.play(learner, X, y)
    return learner.memory.state


def test_what_a_copy_has_of_its_own_is_known_within_a_half():
    known = 0
    for seed in range(8):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(600, 4))
        X[:, 3] = 0.98 * X[:, 0] + (1.0 - 0.98**2) ** 0.5 * X[:, 3]
        y = X[:, :3].sum(axis=1) + 0.1 * rng.normal(size=600)
        learner = kh.make("thrifty", d=4, k=4, seed=0)
        for t in range(600):
            r = learner.ask(available=[True, True, True, t % 15 == 0])
            learner.tell(r, X[t][r.attributes], y[t])
        state = learner.memory.state
        weighed(state, 8.0, np.zeros(4))
        me = state.attr[3]
        if learner.support.tolist() == [0, 1, 2]:  # from covariances of forty rows, and variances of others, it is a
            assert me.c * me.unit**2 == pytest.approx(1.0 - 0.98**2, rel=0.5)  # fifth of var(x) off: five times that
            known += 1
    assert known >= 5


def test_a_row_that_lacks_the_stand_in_says_next_to_nothing_of_its_copy():
    state = copies()
    m, g = int(state.now.m), state.now.g
    candidates = np.flatnonzero(state.attr["place"] < 0)
    weighed(state, state.now.s, np.zeros(4))
    for j in candidates:
        nearest = int(np.argmax(np.abs(state.pair["u"][j][:m] * state.fit.member["sd"][:m])))
        with_it, all_rows = state.pair["n"][j][nearest] / g, state.attr["rows"][j]
        assert state.attr["h"][j] / g < with_it + 0.1 * (all_rows - with_it) + 1e-9


def test_what_overwritten_rows_said_is_kept_until_the_support_moves():
    X, y, _ = kh.streams.synthetic(20, 3, 60_000, 0.3, seed=8)
    learner = kh.make("thrifty", d=20, k=3, seed=0)
    kh.play(learner, X[:32_000], y[:32_000])
    rows, moves = learner.memory.attr["rows"].copy(), int(learner.memory.now["moves"][0])
    heard = learner.memory.attr["h"].copy()
    kh.play(learner, X[32_000:], y[32_000:])
    outside = learner.memory.attr["place"] < 0
    assert learner.memory.row.size == 1 << 15
    assert learner.memory.now["moves"][0] == moves
    assert (learner.memory.attr["rows"] >= rows)[outside].all()
    assert (learner.memory.attr["h"] >= 0.95 * heard)[outside].all()


def test_rows_are_weighed_anew_for_another_support_even_when_the_first_were_overwritten():
    X, y, _ = kh.streams.synthetic(20, 3, 40_000, 0.3, seed=8)
    y[36_000:] = X[36_000:, :3].sum(axis=1)
    learner = kh.make("thrifty", d=20, k=3, seed=0)
    kh.play(learner, X, y)
    now = learner.memory.now
    assert learner.support.tolist() == [0, 1, 2]
    assert now["heard"][0] == now["moves"][0]


def test_sums_are_divided_by_a_heavy_present_and_regressions_are_not():
    state = played("ar(0.8)")
    pair, attr = state.pair.copy(), state.attr.copy()
    state.now.g *= 1e31
    assert renew(state) == pytest.approx(1e31)
    for name in ("n", "x_j", "x_a", "x_jj", "x_aa", "x_ja", "x_ae", "pull", "own_n", "own_xa"):
        assert state.pair[name] == pytest.approx(pair[name] / 1e31)
    for name in ("n", "x", "xx", "h", "e", "xe", "own_xx"):
        assert state.attr[name] == pytest.approx(attr[name] / 1e31)
    assert np.abs(pair["u"]).max() > 0.0
    assert np.array_equal(state.pair["u"], pair["u"])


def test_scores_are_as_sure_as_they_say():
    """(r - its true value) / se over many samples of a candidate that is correlated .9 with a member: about N(0, 1)."""
    z, rows = [], 40
    for seed in range(40):
        rng = np.random.default_rng([seed, 7])
        X = rng.normal(size=(600, 3))
        X[:, 2] = 0.9 * X[:, 0] + (1.0 - 0.81) ** 0.5 * X[:, 2]
        y = X[:, 0] + X[:, 1] + 0.5 * rng.normal(size=600)
        learner = kh.make("thrifty", d=3, k=3, seed=0)
        for t in range(600):
            r = learner.ask(available=[True, True, t % (600 // rows) == 0])
            learner.tell(r, X[t][r.attributes], y[t])
        state = learner.memory.state
        if state.attr[2].place >= 0 or state.now.m < 2:
            continue
        v = scored(state, 2, 8.0, np.zeros(4))
        me, S = state.attr[2], state.fit.member["j"][:2]
        assert v > 0.0
        unit = me.unit * state.now.y_unit
        w = state.fit.member["w"][:2] * state.now.y_unit / state.attr["unit"][S]
        C = np.array([[1.0, 0.0, 0.9], [0.0, 1.0, 0.0], [0.9, 0.0, 1.0]])
        z.append((me.r * unit - C[2] @ ([1.0, 1.0, 0.0] - np.bincount(S, w, 3))) / (me.se * unit))
    assert len(z) > 25
    assert 0.6 < np.std(z) < 1.3  # 2.3 where x_j itself is held against e, and not what it has of its own


def test_how_a_copy_goes_along_with_another_member_is_known_by_what_it_has_of_its_own():
    """Rows that show a copy beside what it copies say how its own part goes along with a third: 25 times less noise."""
    off = []
    for seed in range(20):
        rng = np.random.default_rng([seed, 8])
        X = rng.normal(size=(900, 3))
        X[:, 2] = 0.98 * X[:, 0] + (1.0 - 0.98**2) ** 0.5 * X[:, 2]
        y = X[:, 0] + X[:, 1] + 0.3 * rng.normal(size=900)
        learner = kh.make("thrifty", d=3, k=3, seed=0)
        for t in range(900):
            r = learner.ask(available=[True, True, t % 15 == 0])
            learner.tell(r, X[t][r.attributes], y[t])
        state, u = learner.memory.state, np.zeros(4)
        if learner.support.tolist() != [0, 1]:
            continue
        weighed(state, 8.0, u)
        scored(state, 2, 8.0, u)
        unit = state.attr["unit"]
        off.append(u[state.attr["place"][1]] * unit[2] / unit[1])  # truly 0
    assert len(off) >= 10
    assert np.sqrt(np.mean(np.square(off))) < 0.05  # about .2 / sqrt(60); 1 / sqrt(60) by covariances


def test_two_members_that_are_alike_do_not_hide_whoever_else_matters():
    """The coefficients of either are uncertain, and what the two say together is not: others are as sure as before."""
    rng = np.random.default_rng(9)
    X = rng.normal(size=(4000, 3))
    X[:, 1] = 0.98 * X[:, 0] + (1.0 - 0.98**2) ** 0.5 * X[:, 1]
    y = 8.0 * X[:, 0] - 6.0 * X[:, 1] + X[:, 2] + 0.5 * rng.normal(size=4000)
    learner = kh.make("thrifty", d=3, k=2, k0=1, seed=0)
    for t in range(4000):  # most rows of the third lack both, a few show all
        r = learner.ask(available=[True, True, t % 8 == 0] if t % 4 == 0 or t > 3900 else [False, False, True])
        extra = learner.ask_more(r)
        learner.tell(r, X[t][r.attributes], y[t], extra_attributes=extra, extra_values=X[t][extra])
    state, u = learner.memory.state, np.zeros(3)
    assert sorted(learner.support.tolist()) == [0, 1]
    weighed(state, 8.0, u)
    scored(state, 2, 8.0, u)
    me = state.attr[2]
    assert (me.r / me.se) ** 2 > 25.0


@entry
def stale(state):
    return _stale(state.now)


@pytest.mark.parametrize(
    ("news", "heard_at", "s2", "yes"),
    [(29, 901, 1.04, False), (30, 999, 1.0, True), (0, 900, 1.0, True), (0, 999, 1.06, True), (0, 999, 0.94, True)],
)
def test_rows_are_weighed_again_when_there_is_news_or_other_noise(news, heard_at, s2, yes):
    state = kh.make("thrifty", d=6, k=3, seed=0).memory.state
    now = state.now
    now.g, now.n, now.told, now.news, now.heard_at, now.s2, now.heard_s2 = 2.0, 2000.0, 1000, news, heard_at, s2, 1.0
    assert stale(state) == yes
    now.n = 200.0  # an alarm: a hundred rows are left
    assert stale(state) == (yes or news >= 3 or heard_at <= 990)


@entry
def listened(state, s, u):
    listen(state, s, u)


def test_what_was_heard_is_kept_until_there_is_news():
    state = played("ar(0.8)")
    weighed(state, state.now.s, np.zeros(5))
    j = int(np.flatnonzero(state.attr["place"] < 0)[0])
    heard, state.attr[j].h = float(state.attr[j].h), -1.0
    listened(state, state.now.s, np.zeros(5))
    assert state.attr[j].h == -1.0
    state.now.news = 100
    listened(state, state.now.s, np.zeros(5))
    assert state.attr[j].h == pytest.approx(heard, rel=0.2)  # u is another, a little
    assert (state.now.news, state.now.heard_at, state.now.heard_s2) == (0, state.now.told, state.now.s2)


def test_rows_that_show_others_than_members_are_counted_as_news():
    learner = kh.make("thrifty", d=8, k=3, seed=0)
    X, y, _ = kh.streams.synthetic(8, 3, 900, seed=1)
    kh.play(learner, X[:800], y[:800])
    now, support, news = learner.memory.now, set(learner.support.tolist()), 0
    now["refit_at"], now["news"] = 10_000, 0
    for t in range(800, 900):
        r = learner.ask(available=[j != t % 5 for j in range(8)])
        news += not set(r.attributes.tolist()) <= support
        learner.tell(r, X[t][r.attributes], y[t])
    assert 0 < news < 100
    assert now["news"][0] == news
