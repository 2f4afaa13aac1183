"""The engine of thrifty; its state are arrays of records."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

def layouts() -> dict[str, tuple[int, list[tuple[str, int, str]]]]:
    """Records by name: (size, [(field, offset, type)])."""

def constants() -> bytes:
    """The default constants as the bytes of one record."""

STORED_REGIMES: int

LEVEL_GAINS: list[float]

INTERVAL_LEVELS: list[float]

def invert(A: NDArray[np.float64], m: int) -> list[float]:
    """
    The inverse of a covariance matrix, row by row; 0 for columns that others determine.
    """

def posterior(
    prior: NDArray[np.float64], gain: float, n: float, v: float, q: int, y_var: float, need: float
) -> tuple[list[float], float, float]:
    """
    Weights of spike and slabs after n rows, E |theta|^2, and E (|theta|^2 - need)_+.
    """

def initial_prior(expected: float, n: float) -> list[float]:
    """The prior of what a source explains: spike and slabs."""

def knapsack(values: NDArray[np.float64], prices: NDArray[np.float64], count: int, money: float) -> list[int]:
    """
    1 for the things of the best basket: at most `count` of them for at most `money`.
    """

class OutlierClip:
    """Adaptive winsorising of one attribute."""

    def __init__(self) -> None: ...
    def clip(self, z: float) -> float:
        """The value as it is used."""

    def trusted(self, z: float) -> bool:
        """Whether it is an outlier that counts as it is."""

    def observe(self, z: float, weight: float) -> None:
        """Count a value into mean and variance."""

    def learn(self, z: float, weight: float, error: float, s2: float) -> None:
        """Learn from the label of a row whether an outlier was genuine."""

    @property
    def mean(self) -> float: ...
    @property
    def variance(self) -> float: ...
    @property
    def evidence(self) -> float: ...
    @property
    def limit(self) -> float: ...
    @property
    def n_rejected(self) -> int: ...

class LabelGuard:
    """Clips labels that are absurdly far from their predictions."""

    def __init__(self) -> None: ...
    def tolerance(self, n_labels: int, y_var: float, y_low: float, y_high: float) -> float:
        """How far from its prediction a label may be."""

    def clip(self, off: float, n_labels: int, y_var: float, y_low: float, y_high: float) -> float:
        """The error that is learnt from; the tolerance adapts."""

class LevelTracker:
    """The level of the label, by four experts with fixed share."""

    def __init__(self) -> None: ...
    def update(self, off: float, reach: float, s2: float, rows: float) -> None:
        """Learn from the error of a label."""

    def learnt_level(self, rho: float) -> float:
        """
        The level that is subtracted from labels that are learnt; rho: correlation of attributes from row to row.
        """

    def moved(self, y_var: float) -> float:
        """By how much the level moved, once it has stayed there."""

    @property
    def level(self) -> float: ...
    @property
    def levels(self) -> list[float]: ...
    @property
    def weights(self) -> list[float]: ...

class DriftDetector:
    """
    Cumulative sums that compare each prediction with alternatives fitted to the last rows.
    """

    def __init__(self) -> None: ...
    def update(
        self,
        f: float,
        y: float,
        y_hat: float,
        y_hat_shifted: float,
        slope: float,
        explained: float,
        s2: float,
        y_var: float,
        rows: float,
    ) -> tuple[float, float, float]:
        """
        What the past is to be divided by (1: no change), and the slopes before and after.
        """

    def reset(self) -> None:
        """Start again with another support."""

    def suspicious(self) -> bool: ...
    @property
    def statistics(self) -> tuple[float, float, float]: ...
    @property
    def noise(self) -> float: ...

class IntervalCalibrator:
    """Running quantiles of the errors."""

    def __init__(self, log_q: Sequence[float], centre: float) -> None: ...
    def update(self, error: float, spread: float, n_labels: int) -> float:
        """Learn from an error; the lowest level whose interval held the label."""

    def reach(self, level: float, n_labels: int) -> float:
        """Half the width of an interval, in spreads."""

    @property
    def log_q(self) -> list[float]: ...
    @property
    def centre(self) -> float: ...

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
