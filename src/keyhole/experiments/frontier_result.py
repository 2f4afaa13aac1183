"""The frontier as a value and as a file: its levels, its knee, and the sentences that describe them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from math import isclose, sqrt
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from .._internal.atomic_io import read_json, write_json
from .._internal.formatting import Units, join_names
from ..errors import ConfigError, StateError
from ..simulation.scoring import ProbabilityScores

__all__ = [
    "FILE",
    "KNEE",
    "Choice",
    "Frontier",
    "Level",
    "Point",
    "advice",
    "bend",
    "frontier_in",
    "hull",
    "named",
    "on_frontier",
    "stop_at",
]

KNEE = (
    "The recommended basket is the knee of the curve: the one farthest below the straight line from the cheapest "
    "basket to the best, where price and typical error are both scaled to run from 0 to 1; if none lies below it, the "
    "best."
)

FILE = "frontier.json"
_FORMAT = 1

# Baskets are equally good if prices differ by at most 10 % and typical errors by at most 1 %; at most 3 are named.
_EQUAL_PRICE, _EQUAL_ERROR, _EQUALS = 0.10, 0.01, 3


@dataclass(frozen=True)
class Point:
    """A basket in hindsight, with its price and error: weights by least squares on all rows, error by the final
    prediction error.
    """

    price: float
    mse: float
    sources: tuple[str, ...]
    optimal: bool
    """Whether it is proved that no basket of at most this price has a smaller error."""
    gap: float
    """An upper bound on how much smaller the error of another basket could be."""

    @property
    def typical_error(self) -> float:
        """The root of the mean squared error."""
        return sqrt(max(self.mse, 0.0))


@dataclass(frozen=True)
class Choice:
    """A complete basket that some seeds ended with, and its own price and error.

    It excludes sources whose contribution to the rest of the basket does not exceed chance.
    """

    sources: tuple[str, ...]
    price: float
    """The sum of the prices of its sources."""
    mse: float
    """The final prediction error, in hindsight, of least squares on its attributes and the free ones."""
    seeds: int
    """The number of seeds that ended with exactly this basket."""

    @property
    def typical_error(self) -> float:
        """The root of the mean squared error."""
        return sqrt(max(self.mse, 0.0))

    def cost(self, error_cost: float) -> float:
        """Return the cost of a row at an error cost: error_cost * mse + price."""
        return error_cost * self.mse + self.price


@dataclass(frozen=True)
class Level:
    """The results of `thrifty` at one error cost: the final baskets of its seeds, and means over whole runs."""

    error_cost: float
    price: float
    """Money spent per row over a whole run, including exploration; the mean over seeds."""
    mse: float
    """The error of the predictions of a whole run, over the scored rows; the mean over seeds."""
    low: float
    """The smallest mse of any seed."""
    high: float
    """The largest mse of any seed."""
    bought: Mapping[str, float]
    """The share of the rows in which each source was bought, in descending order."""
    baskets: tuple[Choice, ...]
    """The final baskets of the seeds: the most frequent first, ties by lowest cost."""
    best: Point
    """The best basket in hindsight that costs no more than `basket`."""
    probabilities: ProbabilityScores | None = None
    """For yes/no labels: means over seeds, and the bins of all seeds combined; `mse` is then the Brier score."""

    @property
    def typical_error(self) -> float:
        """The root of the mean squared error of whole runs."""
        return sqrt(max(self.mse, 0.0))

    @property
    def basket(self) -> Choice:
        """The basket that most seeds ended with."""
        return self.baskets[0]

    @property
    def equals(self) -> tuple[Choice, ...]:
        """`basket`, and at most two others equally frequent and good: price within 10 %, typical error within 1 %."""
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
    """The cost-error frontier of a stream: what each price per row buys."""

    stream: str
    """The name of the file or data set."""
    target: str
    rows: int
    seeds: int
    sources: Mapping[str, float]
    """The price of each source."""
    free: tuple[str, ...]
    levels: tuple[Level, ...]
    """Sorted by the price of their baskets; each more expensive basket has a smaller error."""
    left_out: tuple[Level, ...]
    """The dominated levels: their basket costs more than another and does not lower the error."""
    hindsight: tuple[Point, ...]
    """Sorted by price: the first buys nothing, the last everything that helps."""
    stop: int
    """The index of the level beyond which further money has little effect."""
    headline: str
    """What to buy, its price and its error, in one sentence."""
    details: str
    """The cost of learning, and the effect of more money."""
    currency: str = ""
    unit: str = ""
    first_row: str = "left out"
    """Whether the first labelled row "counts" in errors while learning or is "left out"."""

    @property
    def sentence(self) -> str:
        """The complete advice."""
        return f"{self.headline} {self.details}"

    def write(self, path: Path) -> None:
        """Write the frontier atomically."""
        write_json(path, {"format": _FORMAT, **asdict(self)})


def frontier_in(folder: "str | Path") -> Frontier:
    """Read the frontier that `keyhole frontier` left in a folder."""
    path = Path(folder) / FILE
    try:
        data: dict[str, Any] = read_json(path)
        if (found := data.pop("format", None)) != _FORMAT:
            what = f"{path} has format {str(found)[:20]}, and this version of keyhole reads format {_FORMAT} only"
            raise ConfigError(f"{what}; make it again with: keyhole frontier FILE")
        levels, left_out = (tuple(map(_level, data[name])) for name in ("levels", "left_out"))
        points = tuple(map(_point, data["hindsight"]))
        parts = {"levels": levels, "left_out": left_out, "hindsight": points, "free": tuple(data["free"])}
        return Frontier(**(data | parts))
    except (OSError, StateError, KeyError, TypeError) as fault:
        raise ConfigError(f"there is no frontier in {folder} ({fault}); run keyhole frontier FILE") from None


def _point(data: dict[str, Any]) -> Point:
    return Point(**(data | {"sources": tuple(data["sources"])}))


def _level(data: dict[str, Any]) -> Level:
    baskets = tuple(Choice(**(b | {"sources": tuple(b["sources"])})) for b in data["baskets"])
    return Level(**(data | {"baskets": baskets, "best": _point(data["best"])}))


def on_frontier(
    levels: Sequence[Level], lowers: Callable[[Choice, Choice], bool]
) -> tuple[tuple[Level, ...], tuple[Level, ...]]:
    """Split levels into those on the frontier, sorted by the price of their baskets, and the dominated ones.

    `lowers(dearer, cheaper)` says whether the more expensive basket has a smaller error. Levels with equal baskets are
    kept together.
    """
    kept: list[Level] = []
    left_out: list[Level] = []
    for level in sorted(levels, key=lambda one: (one.basket.price, one.basket.mse, one.basket.sources, one.error_cost)):
        last = kept[-1].basket if kept else level.basket
        good = level.basket.sources == last.sources or lowers(level.basket, last)
        (kept if good else left_out).append(level)
    return tuple(kept), tuple(left_out)


class Priced(Protocol):
    """Something with a price and an error."""

    @property
    def price(self) -> float:
        """The price of a row."""

    @property
    def typical_error(self) -> float:
        """The root of the mean squared error."""


def hull(baskets: Sequence[Priced]) -> list[int]:
    """Return the lower convex hull of typical error over price: the baskets that no mixture of others beats."""
    order = sorted(range(len(baskets)), key=lambda i: (baskets[i].price, baskets[i].typical_error))
    kept: list[int] = []
    for i in order:
        if kept and baskets[i].typical_error >= baskets[kept[-1]].typical_error:
            continue
        while len(kept) > 1 and _slope(baskets, kept[-2], i) <= _slope(baskets, kept[-2], kept[-1]):
            kept.pop()
        kept.append(i)
    return kept


def _slope(baskets: Sequence[Priced], a: int, b: int) -> float:
    """Return the change of typical error per unit of money from a to b."""
    first, second = baskets[a], baskets[b]
    return (second.typical_error - first.typical_error) / max(second.price - first.price, 1e-300)


def bend(baskets: Sequence[Priced]) -> int:
    """Return the knee of the hull: the basket farthest below the line from its first to its last point.

    If none is below the line (a hull of two), return the last: everything that helps comes in one step.
    """
    on = hull(baskets)
    first, last = baskets[on[0]], baskets[on[-1]]
    if len(on) == 1:
        return on[0]
    money = np.array([baskets[i].price - first.price for i in on]) / max(last.price - first.price, 1e-300)
    error = np.array([baskets[i].typical_error - last.typical_error for i in on])
    error /= max(first.typical_error - last.typical_error, 1e-300)
    below = 1.0 - (money + error)
    return on[int(np.argmax(below))] if below.max() > 1e-9 else on[-1]


def stop_at(levels: Sequence[Level]) -> int:
    """Return the level whose basket is at the knee."""
    return bend([level.basket for level in levels])


def named(level: Level, most: int = 8) -> str:
    """Return the basket of a level in words; equally frequent and good baskets are joined: "bmi or waist"."""
    return " or ".join(join_names(b.sources, most) or "nothing" for b in level.equals)


def advice(levels: Sequence[Level], at: int, seeds: int, units: Units, hindsight: Sequence[Point]) -> tuple[str, str]:
    """Return what to buy, with price and error in hindsight; then the cost of learning and the effect of more money."""
    here = levels[at]
    error = units.error(here.typical_error)
    learning = f"While learning, the runs paid {units.money(here.price)} a row and had a typical error of {error}."
    choice = f"That is the choice at an error cost of {units.error_cost(here.error_cost)}."
    return _buy(here, seeds, units), f"{choice} {learning} {_beyond(here, units, hindsight)}"


def _buy(level: Level, seeds: int, units: Units) -> str:
    """Return a sentence with the basket (or several that tie), its price and error, and how many seeds agree."""
    equals = level.equals
    facts = [f"{units.money(b.price)} a row, typical error {units.error(b.typical_error)} in hindsight" for b in equals]
    if len(equals) > 1:
        each = [f"{join_names(b.sources) or 'nothing'} ({fact})" for b, fact in zip(equals, facts, strict=True)]
        return f"Buy {' or '.join(each)}: they are about equally good, and the seeds disagree."
    agree = "" if level.basket.seeds == seeds else f" ({level.basket.seeds} of {seeds} seeds ended with it)"
    return f"Buy {named(level)}: {facts[0]}{agree}."


def _beyond(level: Level, units: Units, hindsight: Sequence[Point]) -> str:
    """Return a sentence with the next better basket, its price and its error."""
    here = level.basket
    better = [p for p in hindsight if p.price > here.price and p.typical_error < here.typical_error]
    if not better:
        return f"What helps costs {units.money(here.price)} a row in all, and more money buys nothing."
    more = better[0]
    facts = f"{units.money(more.price)} a row, typical error {units.error(more.typical_error)}"
    return f"The next better basket is {join_names(more.sources, 6)}: {facts}."
