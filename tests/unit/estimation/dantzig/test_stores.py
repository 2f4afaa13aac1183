"""Where H is kept must not matter: the same answers from the dense one, from built rows and from lists."""

import numpy as np
import pytest

from keyhole._internal.typing import Floats, Ints
from keyhole.errors import ConfigError, StateError
from keyhole.estimation.dantzig import Sequence, gram_storage
from keyhole.estimation.dantzig.gram_storage import Dense, Log


def rounds(seed: int, d: int, k: int, length: int) -> list[tuple[Ints, Floats, Floats]]:
    """Rounds of different sizes, some attributes far more often than others."""
    rng = np.random.default_rng(seed)
    chance = rng.dirichlet(np.full(d, 0.5))
    w = np.where(np.arange(d) < 4, 0.5, 0.0)
    found = []
    for _ in range(length):
        B = rng.choice(d, min(int(rng.integers(1, k + 1)), np.count_nonzero(chance)), replace=False, p=chance)
        x = rng.uniform(-1, 1, B.size)
        found.append((B, np.outer(x, x), x * (x @ w[B] + 0.1 * rng.normal())))
    return found


@pytest.mark.parametrize("gamma", [0.4, 0.02])
@pytest.mark.parametrize("seed", range(3))
def test_built_rows_give_the_bits_of_the_dense_matrix(seed: int, gamma: float) -> None:
    dense, rows = Sequence(40, store="dense"), Sequence(40, store="rows")
    for B, h, v in rounds(seed, 40, 8, 60):
        dense.update(B, h, v)
        rows.update(B, h, v)
        one, two = dense.solve(gamma * dense.gamma_max), rows.solve(gamma * rows.gamma_max)
        assert (one.status, one.path, one.pivots) == (two.status, two.path, two.pivots)
        np.testing.assert_array_equal(one.w, two.w)
        np.testing.assert_array_equal(one.dual, two.dual)


@pytest.mark.parametrize("gamma", [0.4, 0.02])
@pytest.mark.parametrize("seed", range(3))
def test_lists_give_the_same_optimum(seed: int, gamma: float) -> None:
    dense, lists = Sequence(40, store="dense"), Sequence(40, store="lists")
    kinds = set()
    for B, h, v in rounds(seed, 40, 8, 60):
        dense.update(B, h, v)
        lists.update(B, h, v)
        one, two = dense.solve(gamma * dense.gamma_max), lists.solve(gamma * lists.gamma_max)
        assert one.status == two.status
        if one.status == "optimal":
            assert two.objective == pytest.approx(one.objective, rel=1e-9)
            assert max(two.primal_residual, two.dual_residual, two.gap) <= 1e-9
        kinds |= set(np.minimum(lists.rows._place[lists.simplex.indices], 0).tolist())
    # Both kinds of rows were in a basis: lists (-2) and built ones (0).
    assert kinds == {-2, 0}


@pytest.mark.parametrize("store", ["dense", "rows", "lists"])
def test_every_store_holds_the_sum_of_the_rounds(store: str) -> None:
    H, b, seq = np.zeros((9, 9)), np.zeros(9), Sequence(9, store=store)
    for B, h, v in rounds(0, 9, 5, 40):
        H[np.ix_(B, B)] += h
        b[B] += v
        seq.update(B, h, v)
    np.testing.assert_array_equal(seq.H, H)
    np.testing.assert_array_equal(seq.b, b)


def test_rows_come_and_go_without_a_trace(monkeypatch: pytest.MonkeyPatch) -> None:
    """With memory for hardly any row, each is built over and over, and nothing changes."""
    monkeypatch.setattr(gram_storage, "MEMORY", 0)
    rng = np.random.default_rng(1)
    d = 120
    dense, rows = Sequence(d, store="dense"), Sequence(d, store="rows")
    for i in range(60):
        B, x = rng.choice(d, 10, replace=False), rng.choice([-1.0, 1.0], 10)
        for seq in (dense, rows):
            seq.update(B, np.outer(x, x), x * x[0])
        gamma = (0.9 if i % 2 else 0.1) * dense.gamma_max
        one, two = dense.solve(gamma), rows.solve(gamma)
        np.testing.assert_array_equal(one.w, two.w)
    kept = rows.rows._owner[rows.rows._owner >= 0]
    assert len(kept) < d
    for j in kept:
        np.testing.assert_array_equal(rows.rows._C[rows.rows._place[j]], dense.H[j])


@pytest.mark.parametrize("store", ["rows", "lists"])
def test_a_restored_log_continues_bit_for_bit(store: str) -> None:
    seq = Sequence(40, store=store)
    for B, h, v in rounds(2, 40, 8, 50):
        seq.update(B, h, v)
        twin = Sequence(40, store=store)
        twin.set_state(seq.get_state())
        one, two = seq.solve(0.1 * seq.gamma_max), twin.solve(0.1 * twin.gamma_max)
        assert (one.status, one.path, one.pivots) == (two.status, two.path, two.pivots)
        np.testing.assert_array_equal(one.w, two.w)
        np.testing.assert_array_equal(one.dual, two.dual)


def test_the_store_is_chosen_by_the_size() -> None:
    assert isinstance(Sequence(50).rows, Dense)
    middle, large = Sequence(6_000).rows, Sequence(60_000).rows
    assert isinstance(middle, Log)
    assert middle.short_row == 0
    assert isinstance(large, Log)
    assert large.short_row == 15_000


def test_a_log_refuses_a_round_that_is_not_symmetric() -> None:
    seq = Sequence(5, store="rows")
    with pytest.raises(ConfigError, match="symmetric"):
        seq.update(np.array([0, 1]), np.array([[1.0, 2.0], [0.0, 1.0]]), np.ones(2))
    assert seq.s == 0
    assert not seq.b.any()


def test_an_unknown_store_is_refused() -> None:
    with pytest.raises(ConfigError, match="store"):
        Sequence(3, store="cloud")


@pytest.mark.parametrize(
    ("key", "at", "value"), [("rows.link", (0, 0), 10**9), ("rows.link", (1, 3), -5), ("rows.B", (0,), 77)]
)
def test_a_damaged_log_is_refused(key: str, at: tuple[int, ...], value: int) -> None:
    seq = Sequence(20, store="rows")
    for one in rounds(3, 20, 5, 10):
        seq.update(*one)
    state = seq.get_state()
    state[key][at] = value
    with pytest.raises(StateError, match="damaged"):
        Sequence(20, store="rows").set_state(state)


@pytest.mark.parametrize(("key", "at", "value"), [("simplex.idx", (0, 0), 20), ("simplex.idx", (1, 0), -1)])
def test_a_damaged_basis_is_refused(key: str, at: tuple[int, ...], value: int) -> None:
    seq = Sequence(20)
    for one in rounds(3, 20, 5, 10):
        seq.update(*one)
    seq.solve(0.2 * seq.gamma_max)
    state = seq.get_state()
    state[key][at] = value
    with pytest.raises(StateError, match="damaged"):
        Sequence(20).set_state(state)
    with pytest.raises(StateError, match="damaged"):
        Sequence(20).set_state(seq.get_state() | {"simplex.m": 99})
