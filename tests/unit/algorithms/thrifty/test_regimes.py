"""A regime that comes back gets its rows back; one that does not leaves no trace."""

import numpy as np
import pytest

import keyhole as kh
from keyhole.algorithms.thrifty.regimes import KEPT, turn
from keyhole.core.serialization import from_bytes, to_bytes
from keyhole.errors import StateError


def weights(which):
    return kh.streams.synthetic(12, 3, 1, seed=which).w


def in_turns(regimes, rows=1500, seed=0):
    """X, y, noise, the rows of each regime in turn."""
    T = rows * len(regimes)
    X, noise = kh.streams.synthetic(12, 3, T, seed=seed).X, 0.1 * np.random.default_rng(seed).standard_normal(T)
    w = np.repeat([weights(which) for which in regimes], rows, axis=0)
    return X, np.einsum("td,td->t", X, w) + noise, noise


def played(regimes, **options):
    X, y, noise = in_turns(regimes)
    learner = kh.make("thrifty", d=12, k=3, seed=2, **options)
    history = kh.play(learner, X, y)
    return learner, history.losses - noise**2


def back(learner):
    return [alarm for alarm in learner.alarms if "holds again" in alarm.what]


def test_what_comes_back_is_known_at_once_and_said():
    learner, excess = played([1, 2, 1, 2])
    first, second = back(learner)
    assert 3000 < first.row < 3200
    assert 4500 < second.row < 4700
    ended = [alarm.row for alarm in learner.alarms if alarm not in (first, second)]
    assert first.what == f"what held until row {ended[0]} holds again"
    assert second.what == f"what held until row {ended[1]} holds again"
    assert set(learner.support) == set(np.flatnonzero(weights(2)))
    new, known, too = (excess[row : row + 300].sum() for row in (ended[0], first.row, second.row))
    assert max(known, too) < 0.5 * new
    assert np.array_equal(np.unique(learner.memory.row["regime"][:6000]), [-1, 0, ended[0]])


def test_what_never_was_is_not_taken_for_what_was():
    learner, _ = played([1, 2, 3, 4])
    assert back(learner) == []
    assert set(learner.support) == set(np.flatnonzero(weights(4)))
    assert learner.memory.now["tried"][0] == 0


def test_the_last_four_are_kept():
    learner, _ = played([1, 2, 3, 4, 5, 3])
    (alarm,) = back(learner)
    assert alarm.row > 7500
    learner, _ = played([1, 2, 3, 4, 5, 1])
    assert back(learner) == []
    assert (learner.memory.kept["m"] > 0).all()


def test_it_survives_a_file_at_any_row_of_a_trial():
    X, y, _ = in_turns([1, 2, 1])
    learner = kh.make("thrifty", d=12, k=3, seed=2)
    kh.play(learner, X[:3000], y[:3000])
    tried = 0
    for t in range(3000, 3150):
        learner = from_bytes(to_bytes(learner))
        kh.play(learner, X[t : t + 1], y[t : t + 1])
        tried += int(learner.memory.now["tried"][0] > 0)
    assert tried > 3
    whole = kh.make("thrifty", d=12, k=3, seed=2)
    kh.play(whole, X[:3150], y[:3150])
    assert to_bytes(whole) == to_bytes(learner)
    assert len(back(whole)) == 1


def test_compiled_and_row_by_row_play_are_the_same():
    X, y, _ = in_turns([1, 2, 1])
    fast, slow = (kh.make("thrifty", d=12, k=3, seed=2) for _ in range(2))
    a, b = kh.play(fast, X[:3300], y[:3300]), kh.play(slow, X[:3300], y[:3300], compiled=False)
    assert np.array_equal(a.predictions, b.predictions)
    assert to_bytes(fast) == to_bytes(slow)
    assert len(back(fast)) == 1


def on_trial():
    """A learner that tries its first regime after the second ended, and what it knows."""
    X, y, _ = in_turns([1, 2, 3])
    learner = kh.make("thrifty", d=12, k=3, seed=2)
    kh.play(learner, X[:3000], y[:3000])
    for t in range(3000, 3200):
        kh.play(learner, X[t : t + 1], y[t : t + 1])
        if learner.memory.now["tried"][0] > 0:
            return learner
    raise AssertionError("no regime was tried")


def test_a_trial_lifts_the_rows_of_its_regime_and_its_end_lowers_them():
    memory = on_trial().memory
    now, mine = memory.now[0], memory.row["regime"][: memory.now["told"][0]] == 0
    weight = memory.row["weight"][: mine.size]
    assert mine.sum() == memory.kept["ended"][0] - 1 - 200  # not the last ones, nor the one that rang
    assert (weight[mine] == now["g"]).all()
    assert now["n"] == pytest.approx(weight.sum())
    i = int(now["tried"]) - 1
    assert set(memory.members) == set(memory.kept_members[i, : memory.kept["m"][i]])
    now["proof"] = -4.0
    turn(memory)
    assert (weight[mine] == now["g"] / 1e3).all()
    assert (now["tried"], now["anew"]) == (0, 3)
    assert now["n"] == pytest.approx(weight.sum())
    last = int(memory.kept["ended"].argmax())
    assert memory.member["j"][1].tolist() == memory.kept_members[last].tolist()  # those at the alarm go on


def test_the_last_that_ended_is_tried_first_but_not_the_one_that_just_did():
    X, y, _ = in_turns([1, 2, 3, 4])
    learner = kh.make("thrifty", d=12, k=3, seed=2)
    kh.play(learner, X[:4500], y[:4500])
    memory = learner.memory
    for t in range(4500, 4800):
        kh.play(learner, X[t : t + 1], y[t : t + 1])
        if memory.now["tried"][0] > 0:
            break
    ended = np.sort(memory.kept["ended"][memory.kept["m"] > 0])
    assert ended.size == 3
    assert memory.kept["ended"][memory.now["tried"][0] - 1] == ended[1]


def test_nothing_is_decided_before_the_evidence_is_there():
    memory = on_trial().memory
    memory.now["proof"] = 2.9
    turn(memory)
    assert memory.now["tried"][0] > 0
    memory.now["told"] += 40
    turn(memory)
    assert memory.now["tried"][0] == 0


@pytest.mark.parametrize(
    ("field", "of", "value"),
    [("now", "tried", KEPT + 1), ("now", "anew", 1), ("now", "ended", 1.0), ("kept", "m", 4), ("kept", "g", np.nan)],
)
def test_regimes_that_were_made_up_are_refused(field, of, value):
    flat = on_trial().get_state()
    flat[f"memory.{field}"] = flat[f"memory.{field}"].copy()
    flat[f"memory.{field}"][of][0] = value
    with pytest.raises(StateError):
        kh.make("thrifty", d=12, k=3, seed=2).set_state(flat)


@pytest.mark.parametrize("members", [[0, 1, 12], [0, -1, 2], [3, 3, 4]])
def test_members_that_nobody_could_have_kept_are_refused(members):
    flat = on_trial().get_state()
    flat["memory.kept_members"] = flat["memory.kept_members"].copy()
    flat["memory.kept_members"][0] = members
    with pytest.raises(StateError):
        kh.make("thrifty", d=12, k=3, seed=2).set_state(flat)
