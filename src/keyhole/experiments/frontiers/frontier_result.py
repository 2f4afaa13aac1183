"""A frontier as a value, and the file it is kept in."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from math import sqrt
from pathlib import Path
from typing import Any

from ..._internal.atomic_io import read_json, write_json
from ...errors import ConfigError, StateError

__all__ = ["FILE", "Frontier", "Level", "Point", "frontier_in"]

FILE = "frontier.json"
_FORMAT = 1


@dataclass(frozen=True)
class Point:
    """A basket in hindsight: weights by least squares on all rows."""

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
class Level:
    """What `thrifty` did, told a worth: means over seeds, every look included, the first row left out."""

    worth: float
    price: float
    """Paid a row."""
    mse: float
    low: float
    """The smallest mse of a seed."""
    high: float
    """The largest."""
    bought: Mapping[str, float]
    """In which share of the rows each source was bought, the most bought first."""
    basket: tuple[str, ...]
    """What most seeds bought at the end."""
    best: Point
    """The best basket in hindsight that costs no more."""

    @property
    def typical_error(self) -> float:
        """The root of the mean squared error."""
        return sqrt(max(self.mse, 0.0))


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
    known: tuple[str, ...]
    levels: tuple[Level, ...]
    """By what they paid."""
    hindsight: tuple[Point, ...]
    """By price: the first buys nothing, the last everything."""
    stop: int
    """The level beyond which the next unit of money stops paying."""
    sentence: str
    currency: str = ""
    unit: str = ""

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
        levels = tuple(Level(**(level | _tuples(level) | {"best": _point(level["best"])})) for level in data["levels"])
        points = tuple(map(_point, data["hindsight"]))
        return Frontier(**(data | {"levels": levels, "hindsight": points, "known": tuple(data["known"])}))
    except (OSError, StateError, KeyError, TypeError) as fault:
        raise ConfigError(f"there is no frontier in {folder} ({fault}); make one with: keyhole frontier FILE") from None


def _point(data: dict[str, Any]) -> Point:
    return Point(**(data | {"sources": tuple(data["sources"])}))


def _tuples(level: dict[str, Any]) -> dict[str, object]:
    return {"basket": tuple(level["basket"])}
