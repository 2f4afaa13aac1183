"""A `Shared` reads the same in compiled code, which is given one pointer for all of it."""

import sys
from dataclasses import dataclass

import numpy as np

from keyhole._internal.numba._bare import jit
from keyhole._internal.numba._shared import Shared
from keyhole._internal.typing import Floats, Ints

COUNT = np.dtype((np.record, np.dtype([("n", np.int64), ("x", np.float64)])))


@dataclass(frozen=True)
class Inside(Shared):
    matrix: Floats
    every_other: Floats


@dataclass(frozen=True)
class Outside(Shared):
    inside: Inside
    numbers: Ints
    count: np.record


def made(n: int) -> Outside:
    matrix, many = np.arange(6.0).reshape(2, 3), np.arange(2.0 * n)
    return Outside(Inside(matrix, many[::2]), np.arange(n), np.zeros(1, COUNT)[0])


@jit
def count(shared: Outside) -> float:
    """Write the record, the matrix and the strided array; a sum over all."""
    shared.count.n += shared.numbers.size
    shared.inside.matrix[1, 2] = 50.0
    shared.inside.every_other[1] = 7.0
    total = 0.0
    for i in range(shared.numbers.size):
        total += shared.numbers[i] * shared.inside.every_other[i]
    for a in range(shared.inside.matrix.shape[0]):
        for e in range(shared.inside.matrix.shape[1]):
            total += shared.inside.matrix[a, e]
    shared.count.x = total
    return total


def test_compiled_code_reads_and_writes_the_arrays_that_python_sees() -> None:
    shared = made(4)
    expected = 0.0 + 1 * 7.0 + 2 * 4.0 + 3 * 6.0 + (0 + 1 + 2 + 3 + 4 + 50)
    assert count(shared) == shared.count.x == expected
    assert (shared.count.n, shared.inside.matrix[1, 2], shared.inside.every_other[1]) == (4, 50.0, 7.0)


def test_sizes_belong_to_the_value_and_not_to_the_type() -> None:
    count(made(4))
    compiled = len(count.signatures)
    assert count(made(2)) == 7.0 + 60.0
    assert len(count.signatures) == compiled


def test_a_call_leaves_no_reference_behind() -> None:
    shared = made(3)
    held = sys.getrefcount(shared), sys.getrefcount(shared.inside.matrix)
    for _ in range(3):
        count(shared)
    assert (sys.getrefcount(shared), sys.getrefcount(shared.inside.matrix)) == held
