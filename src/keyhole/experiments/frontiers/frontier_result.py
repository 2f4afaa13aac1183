"""A frontier as a value, and the file it is kept in."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from math import isclose, sqrt
from pathlib import Path
from typing import Any

from ..._internal.atomic_io import read_json, write_json
from ...errors import ConfigError, StateError
from ...simulation.probability_scores import ProbabilityScores

__all__ = ["FILE", "Choice", "Frontier", "Level", "Point", "frontier_in"]

FILE = "frontier.json"
_FORMAT = 1

# Baskets are equally good where prices differ by at most 10 % and typical errors by at most 1 %; so many are named.
_EQUAL_PRICE, _EQUAL_ERROR, _EQUALS = 0.10, 0.01, 3


@dataclass(frozen=True)
class Point:
    """A basket in hindsight: weights by least squares on all rows, error by the final prediction error."""

    price: float
    mse: float
    sources: tuple[str, ...]
    optimal: bool
    """Whether it is proved that no basket of at most this price leaves less."""
    gap: float
    """By how much less another could leave at most."""

    @property
    def typical_error(self) -> float:
        """The root of the mean squared error."""
        return sqrt(max(self.mse, 0.0))


@dataclass(frozen=True)
class Choice:
    """A whole basket that some seeds ended with, and what that basket itself costs and leaves.

    A source that adds no more than chance to the rest of its basket is no part of it.
    """

    sources: tuple[str, ...]
    price: float
    """The sum of its sources' prices."""
    mse: float
    """In hindsight: the final prediction error of least squares on its attributes and the free ones."""
    seeds: int
    """How many seeds ended with exactly this basket."""

    @property
    def typical_error(self) -> float:
        """The root of the mean squared error."""
        return sqrt(max(self.mse, 0.0))

    def cost(self, error_cost: float) -> float:
        """What a row costs at an error cost: error_cost * mse + price."""
        return error_cost * self.mse + self.price


@dataclass(frozen=True)
class Level:
    """What `thrifty` did at an error cost: the baskets its seeds ended with, and means over whole runs."""

    error_cost: float
    price: float
    """Paid a row in a whole run, exploration included; the mean over seeds."""
    mse: float
    """Of the predictions of a whole run, over the rows that count; the mean over seeds."""
    low: float
    """The smallest mse of a seed."""
    high: float
    """The largest."""
    bought: Mapping[str, float]
    """In which share of the rows each source was bought, the most bought first."""
    baskets: tuple[Choice, ...]
    """Every basket that a seed ended with: the commonest first, among equally common ones the least cost."""
    best: Point
    """The best basket in hindsight that costs no more than `basket`."""
    probabilities: ProbabilityScores | None = None
    """For yes/no labels: means over seeds, and the bins of all seeds together; there `mse` is the Brier score."""

    @property
    def typical_error(self) -> float:
        """The root of the mean squared error of whole runs."""
        return sqrt(max(self.mse, 0.0))

    @property
    def basket(self) -> Choice:
        """The basket that the most seeds ended with."""
        return self.baskets[0]

    @property
    def equals(self) -> tuple[Choice, ...]:
        """`basket`, and at most two as common and as good: price within 10 %, typical error within 1 %."""
        first = self.basket
        common = [b for b in self.baskets if b.seeds == first.seeds]
        good = [
            b
            for b in common
            if isclose(b.price, first.price, rel_tol=_EQUAL_PRICE)
            and isclose(b.typical_error, first.typical_error, rel_tol=_EQUAL_ERROR)
        ]
        return tuple(good[:_EQUALS])


@dataclass(frozen=True)
class Frontier:
    """What each amount of money buys."""

    stream: str
    """The file or data set."""
    target: str
    rows: int
    seeds: int
    sources: Mapping[str, float]
    """What can be ordered, and its price."""
    free: tuple[str, ...]
    levels: tuple[Level, ...]
    """By the price of their baskets: each dearer basket leaves less error than those before it."""
    left_out: tuple[Level, ...]
    """The levels whose basket costs more than another's and does not lower the error."""
    hindsight: tuple[Point, ...]
    """By price: the first buys nothing, the last everything that helps."""
    stop: int
    """The level beyond which the next unit of money stops paying."""
    headline: str
    """What to buy, what it costs and what error it leaves: one sentence."""
    details: str
    """What finding it took, and what more money would bring."""
    currency: str = ""
    unit: str = ""
    first_row: str = "left out"
    """Whether the first labelled row "counts" in errors while learning or is "left out"."""

    @property
    def sentence(self) -> str:
        """The whole advice."""
        return f"{self.headline} {self.details}"

    def write(self, path: Path) -> None:
        """All or nothing."""
        write_json(path, {"format": _FORMAT, **asdict(self)})


def frontier_in(folder: Path) -> Frontier:
    """The frontier that `keyhole frontier` left in a folder."""
    path = folder / FILE
    try:
        data: dict[str, Any] = read_json(path)
        if data.pop("format") != _FORMAT:
            raise ConfigError(f"{path} is of another version of keyhole; make it again")
        levels, left_out = (tuple(map(_level, data[name])) for name in ("levels", "left_out"))
        points = tuple(map(_point, data["hindsight"]))
        parts = {"levels": levels, "left_out": left_out, "hindsight": points, "free": tuple(data["free"])}
        return Frontier(**(data | parts))
    except (OSError, StateError, KeyError, TypeError) as fault:
        raise ConfigError(f"there is no frontier in {folder} ({fault}); make one with: keyhole frontier FILE") from None


def _point(data: dict[str, Any]) -> Point:
    return Point(**(data | {"sources": tuple(data["sources"])}))


def _level(data: dict[str, Any]) -> Level:
    baskets = tuple(Choice(**(b | {"sources": tuple(b["sources"])})) for b in data["baskets"])
    return Level(**(data | {"baskets": baskets, "best": _point(data["best"])}))
