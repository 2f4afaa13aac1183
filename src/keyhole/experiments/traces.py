"""Analysis of traces: groups of seeds, bands, log-log slopes, and paired comparisons."""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np

from .._internal.typing import Floats
from ..core.registry.spec import Spec
from .aggregate import Band
from .trace_job import Part, Trace

__all__ = [
    "Group",
    "Ratio",
    "at_end",
    "band_at_end",
    "by",
    "compared",
    "curve_of",
    "curve_on",
    "enumeration",
    "exponent",
    "label",
    "microseconds",
    "paired",
    "slope",
    "value_at",
    "written",
]

Group: TypeAlias = "list[tuple[Part, Trace]]"


class Curve3(NamedTuple):
    """A curve: x, and the median, 10 % and 90 % quantiles of y over seeds."""

    x: Floats
    y: Floats
    low: Floats
    high: Floats


class Ratio(NamedTuple):
    """Ratios of paired results over seeds, and a 95 % confidence interval of their median."""

    each: tuple[float, ...]
    band: Band
    """The 10-90 % band of the ratios."""
    low: float
    high: float

    @classmethod
    def of(cls, ratios: Sequence[float]) -> "Ratio":
        """Compute the ratios' band and the sign-test confidence interval of the median, from order statistics."""
        n, x = len(ratios), sorted(ratios)
        left = next(r for r in range(n + 1) if sum(math.comb(n, i) for i in range(r + 1)) > 0.025 * 2**n)
        return cls(tuple(ratios), Band.of(x), x[left - 1] if left else -np.inf, x[n - left] if left else np.inf)

    def called(self, close: float = 0.0) -> str:
        """Return "more" or "less" if surely above or below one, "same" if surely within `close` of one, else "open".

        >>> [Ratio.of(x).called(0.05) for x in ([1.2] * 6, [0.9] * 6, [1.01] * 6, [0.9, 1.2] * 3, [1.2] * 5)]
        ['more', 'less', 'same', 'open', 'open']
        """
        if 1 - close <= self.low and self.high <= 1 + close:
            return "same"
        return "more" if self.low > 1 else "less" if self.high < 1 else "open"


def by(results: "Sequence[tuple[Part, Trace]]", *fields: str) -> dict[tuple[object, ...], Group]:
    """Group results by these fields of a part, in the order of the grid."""
    groups: dict[tuple[object, ...], Group] = {}
    for part, found in results:
        groups.setdefault(tuple(getattr(part, field) for field in fields), []).append((part, found))
    return groups


def label(algorithm: object) -> str:
    """Return the name of an algorithm in tables, with its tuning if it is from a paper.

    >>> label("ds-oslrc[explore=1]")
    'ds-oslrc[tuning=empirical,explore=1]'
    """
    return str(Spec.parse(str(algorithm)).labelled())


def curve_of(group: Group, y: str, x: str = "t") -> Curve3:
    """Return one column over another, aggregated over the seeds of a group."""
    columns = np.array([found[y] for _, found in group], dtype=np.float64)  # type: ignore[literal-required]
    middle, low, high = np.quantile(columns, [0.5, 0.1, 0.9], axis=0)
    return Curve3(np.array(group[0][1][x], dtype=np.float64), middle, low, high)  # type: ignore[literal-required]


def curve_on(group: Group, y: str, x: Floats) -> Curve3:
    """Return a column at the rounds x, aggregated over the seeds of a group; NaN after the last round of a run."""
    columns = np.array([[value_at(found, y, t) for t in x] for _, found in group])
    columns[:, x > group[0][1]["t"][-1]] = np.nan
    middle, low, high = np.quantile(columns, [0.5, 0.1, 0.9], axis=0)
    return Curve3(x, middle, low, high)


def at_end(group: Group, y: str) -> Floats:
    """Return the last entry of a column, per seed."""
    return np.array([found[y][-1] for _, found in group])  # type: ignore[literal-required]


def band_at_end(group: Group, y: str) -> Band:
    """Return the last entry of a column, as a band over seeds."""
    return Band.of(at_end(group, y).tolist())


def value_at(found: Trace, y: str, t: float) -> float:
    """Return a column at round t, interpolated linearly in ln t between recorded rounds."""
    return float(np.interp(np.log(t), np.log(found["t"]), found[y]))  # type: ignore[literal-required]


def paired(group: Group, other: Group, y: str, t: float = np.inf) -> Ratio:
    """Return the ratios of a column between two groups at round t, or at the end, paired by seed."""
    theirs = {part.seed: value_at(found, y, t) for part, found in other}
    return Ratio.of([value_at(found, y, t) / theirs[part.seed] for part, found in group if part.seed in theirs])


def compared(calls: "Mapping[str, str]") -> str:
    """Say how a learner's regret compares with others', from each one's `Ratio.called()` relative to the learner.

    >>> compared({"A": "more", "B": "less", "C": "more", "D": "open"})
    'has less regret than A and C, has more regret than B, and is undecided against D'
    """
    words = {"more": "has less regret than", "less": "has more regret than", "open": "is undecided against"}
    names = {word: [name for name, found in calls.items() if found == call] for call, word in words.items()}
    said = [f"{word} {enumeration(found)}" for word, found in names.items() if found]
    return enumeration(said) if len(said) < 2 else f"{', '.join(said[:-1])}, and {said[-1]}"


def slope(group: Group, y: str, x: str = "t", low: float = 0.0, high: float = np.inf) -> Band:
    """Return d ln y / d ln x by least squares for low <= x <= high, as a band over seeds; NaN if y is not positive."""
    return Band.of([_slope(found[x], found[y], low, high) for _, found in group])  # type: ignore[literal-required]


def _slope(x: Sequence[float], y: Sequence[float], low: float, high: float) -> float:
    u, v = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    chosen = (u >= low) & (u <= high)
    if chosen.sum() < 3 or not (v[chosen] > 0).all():
        return float("nan")
    return float(np.polyfit(np.log(u[chosen]), np.log(v[chosen]), 1)[0])


def exponent(group: Group, letter: str, column: str = "regret") -> Band:
    """Return d ln column / d ln letter at the end, as a band over seeds; NaN if the letter takes only one value."""
    cells = {float(str(key[0])): cell for key, cell in by(group, letter).items()}
    x = np.array(sorted(cells))
    ends = {v: {part.seed: found[column][-1] for part, found in cells[v]} for v in cells}  # type: ignore[literal-required]
    fitted = []
    for seed in set.intersection(*(set(ends[v]) for v in ends)):
        y = np.array([ends[v][seed] for v in x])
        if x.size > 1 and (y > 0).all():
            fitted.append(float(np.polyfit(np.log(x), np.log(y), 1)[0]))
    return Band.of(fitted)


def microseconds(group: Group) -> Band:
    """Return the CPU time per round, as a band over seeds."""
    return Band.of([1e6 * found["seconds"][-1] / found["t"][-1] for _, found in group])


def enumeration(items: Sequence[str]) -> str:
    """Join words as in a sentence.

    >>> enumeration(["a", "b", "c"]), enumeration(["a"])
    ('a, b and c', 'a')
    """
    return " and ".join(filter(None, [", ".join(items[:-1]), *items[-1:]]))


def written(band: Band, digits: int = 3) -> str:
    """Format a band for display.

    >>> written(Band(1.0, 0.5, 2.25))
    '1 (0.5 to 2.25)'
    """
    if np.isnan(band.middle):
        return "-"
    return f"{band.middle:.{digits}g} ({band.low:.{digits}g} to {band.high:.{digits}g})"
