"""The engine of thrifty; its state are arrays of records."""

import numpy as np
from numpy.typing import NDArray

def layouts() -> dict[str, tuple[int, list[tuple[str, int, str]]]]:
    """Records by name: (size, [(field, offset, type)])."""

def constants() -> bytes:
    """The default constants as the bytes of one record."""

def hoped(expected: float, n: float) -> list[float]:
    """The prior of what a source explains: spike and slabs."""

KEPT_REGIMES: int

LEVEL_GAINS: list[float]

INTERVAL_LEVELS: list[float]

def knapsack(values: NDArray[np.float64], prices: NDArray[np.float64], count: int, money: float) -> list[int]:
    """
    1 for the things of the best purchase: at most `count` of them for at most `money`.
    """

class Engine:
    def __init__(self, arrays: dict[str, NDArray[np.generic]], store_full: int) -> None: ...
    def ask(self, pool: NDArray[np.uint8], prices: NDArray[np.float64]) -> tuple[list[int], int, int, float, bool]: ...
    def predict(self, attributes: NDArray[np.int64], x: NDArray[np.float64]) -> tuple[float, float]: ...
    def tell(self, attributes: NDArray[np.int64], x: NDArray[np.float64], before: int, y: float) -> None: ...
    def learn(self, X: NDArray[np.float64], y: NDArray[np.float64], first: int) -> int: ...
    def must_grow(self, values: int) -> bool: ...
    def probabilities(self) -> list[float]: ...
    def reach(self, level: float) -> float: ...
    def play(
        self,
        pool: NDArray[np.uint8],
        X: NDArray[np.float64],
        y: NDArray[np.float64],
        predictions: NDArray[np.float64],
        levels: NDArray[np.float64],
        prices: NDArray[np.float64],
        explored: NDArray[np.uint8],
        bought: NDArray[np.int64],
        sizes: NDArray[np.int64],
        paid: NDArray[np.float64],
        first: int,
    ) -> int: ...
