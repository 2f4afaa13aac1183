"""The short ways to LLVM give what Python gives, leave numba what they do not know, and are short."""

import sys

import numba
import numpy as np
import pytest
from llvmlite.ir import IRBuilder  # type: ignore[import-untyped]
from numba.core import config

from keyhole._internal.numba import _bare, _jit
from keyhole._internal.numba._compiler import Compiler
from tests.compiled import entry

PAIR = np.dtype({"names": ["a", "n"], "formats": ["f8", "i8"]}, align=True)
A = np.arange(24.0).reshape(2, 3, 4)


def items(x: np.ndarray, i: int, j: int) -> tuple[float, float, float, float, int, int]:
    """By numbers, by variables and from the end; of an array, and of a view of it."""
    row = x[i]
    last = x[1, -1]
    return x[i, j, 2], x[-1, j, -2], row[j, i], last[i] + row[-1][1], row.size + last.size, row.shape[1]


@pytest.mark.parametrize("x", [A, A.copy(order="F"), A[:, :, ::-1], A[::-1], A[:, :, :3], A.astype(np.int32)])
def test_items_and_views_of_every_layout(x: np.ndarray) -> None:
    for i in (0, 1, -1, -2):
        for j in (0, 2, -3):
            assert entry(items)(x, i, j) == items(x, i, j)


def test_an_index_is_as_wide_as_it_is() -> None:
    def at(x: np.ndarray, i: int) -> float:
        return x[i] + x[np.uint8(i) % np.uint8(3)]

    for kind in (np.int8, np.uint8, np.int32, np.uint64):
        assert entry(at)(A[0, 0], kind(3)) == A[0, 0, 3] + A[0, 0, 0]


@pytest.mark.parametrize("kind", [np.float64, np.float32, np.int64, np.bool_])
def test_what_is_written_becomes_a_number_of_the_array(kind: type) -> None:
    def write(x: np.ndarray, i: int, y: float) -> None:
        x[i, 0] = y
        x[i, -1] = i
        x[0, i] += 2

    ours, theirs = (np.zeros((2, 3), kind) for _ in "ab")
    for x, does in ((ours, entry(write)), (theirs, numba.njit(write))):
        does(x, 1, 2.5)
    assert ours.tobytes() == theirs.tobytes()


def test_a_part_of_an_array_is_written_as_numba_does() -> None:
    def write(x: np.ndarray, row: np.ndarray) -> None:
        x[1] = row
        x[0, 1:] = 7.0

    ours, theirs = np.zeros((2, 3)), np.zeros((2, 3))
    entry(write)(ours, np.arange(3.0))
    write(theirs, np.arange(3.0))
    assert np.array_equal(ours, theirs)


def test_records_and_their_fields() -> None:
    def fill(records: np.ndarray, n: int) -> float:
        for i in range(n):
            here = records[i]
            here.n += i
            here.a = 0.5 * here.n
        return records[-1].a + records["a"][0] + records["n"].size

    ours = np.ones(3, PAIR).view(np.recarray)
    assert entry(fill)(np.asarray(ours), 3) == 1.5 + 0.5 + 3
    assert [tuple(record) for record in ours.tolist()] == [(0.5, 1), (1.0, 2), (1.5, 3)]


def loops(start: int, stop: int, step: int) -> tuple[int, int, int, int, int]:
    """Every kind of range, a loop that is left early, and one within another."""
    one = two = three = broken = nested = 0
    for i in range(stop):
        one += i + 1
    for i in range(start, stop):
        two += i + 1
    for i in range(start, stop, step):
        three += i + 1
    for i in range(stop):
        if i == 2:
            break
        broken += i + 1
    for i in range(stop):
        for j in range(i):
            nested += i * j
    return one, two, three, broken, nested


@pytest.mark.parametrize("given", [(0, 5, 1), (2, 5, 2), (5, 2, -1), (5, -5, -3), (-3, 0, 1), (3, 3, 1), (0, -2, 1)])
def test_loops(given: tuple[int, int, int]) -> None:
    assert entry(loops)(*given) == loops(*given)


def test_a_range_that_another_function_made_keeps_its_step() -> None:
    evens = _jit.inner(lambda n: range(0, n, 2))

    def total(n: int) -> int:
        found = 0
        for i in evens(n):
            found += i
        return found

    assert entry(total)(7) == 12


def test_a_range_that_is_one_of_two_keeps_its_step() -> None:
    def total(n: int, step: int) -> int:
        found = 0
        turns = range(n)
        if step != 1:
            turns = range(0, n, step)
        for i in turns:
            found += i
        return found

    assert [entry(total)(7, step) for step in (1, 3, -1)] == [21, 9, 0]


def test_a_loop_over_anything_else_is_as_before() -> None:
    def over(x: np.ndarray) -> float:
        total = 0.0
        for i, v in enumerate(x):
            total += i * v
        for v in (1.0, 2.0):
            total += v
        for a, b in zip(x, x[1:]):  # noqa: B905, RUF007 -- numba knows no pairwise
            total += a * b
        return total

    assert entry(over)(np.arange(4.0)) == over(np.arange(4.0))


def test_arithmetic_of_numbers_of_different_kinds() -> None:
    def mixed(i: int, u: int, x: float, yes: bool) -> tuple[float, ...]:
        total = x
        total += i
        total -= yes
        return i + x, i / u, i * 3, 2.0 - u, i < x, u >= i, yes + i, yes == (i != 3), x**2 + i**-1.0, 7 // i, total

    for x in (2.5, np.nan, np.inf, -0.0):
        given = (3, np.uint8(4), x, True)
        assert np.array_equal(entry(mixed)(*given), mixed(3, 4, x, True), equal_nan=True)


def test_a_variable_of_a_loop_is_what_it_was_last() -> None:
    """Also where it is an array, whose references are counted: none is lost and none is kept."""

    def last(x: np.ndarray, n: int) -> float:
        row = x[0]
        for i in range(n):
            if i % 2:
                row = x[i].copy()
            late = row[0]
        return late + row[1]

    x = np.arange(12.0).reshape(6, 2)
    held = sys.getrefcount(x)
    compiled = entry(last)
    for n in (1, 2, 5, 6):
        assert compiled(x, n) == last(x, n)
    assert sys.getrefcount(x) == held


def test_bounds_are_checked_where_that_is_asked_for() -> None:
    checked = numba.njit(pipeline_class=Compiler, boundscheck=True)
    with pytest.raises(IndexError):
        checked(lambda x, i: x[i])(np.ones(3), 3)

    def write(x: np.ndarray, i: int) -> None:
        x[i] = 1.0

    with pytest.raises(IndexError):
        checked(write)(np.ones(3), -4)


def product(x: np.ndarray, y: np.ndarray, out: np.ndarray) -> None:
    """A kernel like any other."""
    for i in range(x.shape[0]):
        for j in range(y.shape[1]):
            total = 0.0
            for k in range(y.shape[0]):
                total += x[i, k] * y[k, j]
            out[i, j] = total


def test_a_numba_that_is_not_known_lowers_its_own_way(monkeypatch: pytest.MonkeyPatch) -> None:
    def untouchable(*given: object) -> None:
        raise AssertionError("numba that we do not know went our way")

    assert Compiler.short_ways
    monkeypatch.setattr(Compiler, "short_ways", False)
    monkeypatch.setattr("keyhole._internal.numba._lowering._Lower.lower_expr", untouchable)
    out = np.zeros((2, 2))
    entry(product)(np.eye(2), A[0, :2, :2].copy(), out)
    assert np.array_equal(out, A[0, :2, :2])


@pytest.mark.skipif(config.BOUNDSCHECK == 1, reason="what is under a bounds check goes numba's way")
def test_half_of_the_instructions_are_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    """What this is for; and what says so first if numba no longer goes through here."""
    written = 0
    insert = IRBuilder._insert

    def counted(self: IRBuilder, instruction: object) -> None:
        nonlocal written
        written += 1
        insert(self, instruction)

    monkeypatch.setattr(IRBuilder, "_insert", counted)
    numbers, kind = [], numba.float64[:, ::1]
    theirs = numba.njit(error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True, _nrt=False)
    for compiled in (theirs(product), _bare.inner(product)):
        written = 0
        compiled.compile((kind, kind, kind))
        numbers.append(written)
    assert numbers[1] < 0.5 * numbers[0]
