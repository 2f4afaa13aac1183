"""Reading traces: groups of seeds, bands over them, and slopes in logarithms."""

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

import numpy as np

from .._types import Floats
from .summing import Band
from .tracing import Part, Trace

__all__ = ["Group", "at_end", "band_at_end", "by", "curve_of", "slope", "written"]

Group: TypeAlias = "list[tuple[Part, Trace]]"


class Curve3(NamedTuple):
    """x, and median, 10 % and 90 % over seeds."""

    x: Floats
    y: Floats
    low: Floats
    high: Floats


def by(results: "Sequence[tuple[Part, Trace]]", *fields: str) -> dict[tuple[object, ...], Group]:
    """The seeds of each combination of these fields of a part, in the order of the grid."""
    groups: dict[tuple[object, ...], Group] = {}
    for part, found in results:
        groups.setdefault(tuple(getattr(part, field) for field in fields), []).append((part, found))
    return groups


def curve_of(group: Group, y: str, x: str = "t") -> Curve3:
    """A column over another, over the seeds of a group."""
    columns = np.array([found[y] for _, found in group], dtype=np.float64)  # type: ignore[literal-required]
    middle, low, high = np.quantile(columns, [0.5, 0.1, 0.9], axis=0)
    return Curve3(np.array(group[0][1][x], dtype=np.float64), middle, low, high)  # type: ignore[literal-required]


def at_end(group: Group, y: str) -> Floats:
    """The last entry of a column, per seed."""
    return np.array([found[y][-1] for _, found in group])  # type: ignore[literal-required]


def band_at_end(group: Group, y: str) -> Band:
    """The last entry of a column, over seeds."""
    return Band.of(at_end(group, y).tolist())


def slope(group: Group, y: str, x: str = "t", low: float = 0.0, high: float = np.inf) -> Band:
    """d ln y / d ln x by least squares for low <= x <= high, per seed, as a band; NaN where y is not positive."""
    return Band.of([_slope(found[x], found[y], low, high) for _, found in group])  # type: ignore[literal-required]


def _slope(x: Sequence[float], y: Sequence[float], low: float, high: float) -> float:
    u, v = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    chosen = (u >= low) & (u <= high)
    if chosen.sum() < 3 or not (v[chosen] > 0).all():
        return float("nan")
    return float(np.polyfit(np.log(u[chosen]), np.log(v[chosen]), 1)[0])


def written(band: Band, digits: int = 3) -> str:
    """A band as one reads it.

    >>> written(Band(1.0, 0.5, 2.25))
    '1 (0.5 to 2.25)'
    """
    if np.isnan(band.middle):
        return "-"
    return f"{band.middle:.{digits}g} ({band.low:.{digits}g} to {band.high:.{digits}g})"
