"""Figures as plain SVG: they carry no fonts, follow the page's colours, and look the same twice."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .._text import escape
from .._types import Floats

__all__ = ["COLOURS", "Axis", "Curve", "heat_map", "line_chart"]

COLOURS = 6
"""How many curves can be told apart; the style sheet has this many."""

_WIDTH, _HEIGHT = 480, 300
_LEFT, _RIGHT, _TOP, _BOTTOM = 58, 16, 14, 40
# Beside the plot, for the names of lines across it; a line of text; a letter, wide enough for most.
_MARGIN, _TEXT, _LETTER = 84, 14, 8


@dataclass(frozen=True, eq=False)
class Curve:
    """A line with a name, and a band around it where there is one; `level` draws a thin line across."""

    name: str
    y: Floats
    low: Floats | None = None
    high: Floats | None = None


@dataclass(frozen=True)
class Axis:
    """Numbers to places along an axis, linear, or logarithmic where that was chosen."""

    low: float
    high: float
    start: float
    stop: float
    log: bool = False

    @classmethod
    def fit(cls, values: Floats, start: float, stop: float, log: bool = False) -> "Axis":
        """An axis that holds all finite values, with a little air."""
        finite = values[np.isfinite(values) & ((values > 0) | (not log))]
        low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)
        if log:
            return cls(low / 1.1, high * 1.1, start, stop, True)
        air = 0.05 * (high - low) or 0.5 * abs(high) or 0.5
        return cls(low - air if low < 0 or low > 0.5 * high else min(low, 0.0), high + air, start, stop)

    def __call__(self, value: float) -> float:
        if self.log:
            share = math.log(max(value, 1e-300) / self.low) / math.log(self.high / self.low)
        else:
            share = (value - self.low) / (self.high - self.low)
        return round(self.start + min(max(share, -0.02), 1.02) * (self.stop - self.start), 1)

    def ticks(self) -> list[float]:
        """About five round numbers."""
        if self.log:
            first, last = math.ceil(math.log10(self.low)), math.floor(math.log10(self.high))
            step = max(1, math.ceil((last - first) / 6))
            decades = [10.0**e for e in range(first, last + 1, step)]
            return decades if len(decades) > 1 else [self.low, math.sqrt(self.low * self.high), self.high]
        space = _round_step((self.high - self.low) / 5)
        return [i * space for i in range(math.ceil(self.low / space), math.floor(self.high / space) + 1)]


def line_chart(
    title: str,
    x: Floats,
    curves: Sequence[Curve],
    x_name: str,
    y_name: str,
    levels: Sequence[tuple[str, float]] = (),
    cumulative: bool = False,
) -> str:
    """Curves over x; the y axis is logarithmic where the curves span two decades, unless they grow from zero."""
    all_y = np.concatenate([*(np.ravel(v) for c in curves for v in (c.y, c.low, c.high) if v is not None), np.zeros(0)])
    all_y = np.concatenate([all_y, [level for _, level in levels]])
    log = not cumulative and _spans_decades(all_y)
    X = Axis(0.0, float(x[-1]) if x.size else 1.0, _LEFT, _WIDTH - (_MARGIN if levels else _RIGHT))
    Y = Axis.fit(all_y, _HEIGHT - _BOTTOM, _TOP, log)
    parts = [_grid(X, Y, x_name, y_name + (" (log)" if log else ""))]
    parts.append(_levels(X, sorted((Y(level), name) for name, level in levels)))
    for i, curve in enumerate(curves):
        parts.append(_band(X, Y, x, curve, i) + _line(X, Y, x, curve.y, i))
    return _svg(title, "".join(parts), _HEIGHT)


def heat_map(title: str, ends: Floats, names: Sequence[str], share: Floats, x_name: str) -> str:
    """One line per name, one cell per stretch, as dark as its share (0 to 1)."""
    left, row = 14 + _LETTER * max((len(_shortened(name)) for name in names), default=0), 17
    height = _TOP + row * len(names) + _BOTTOM
    X = Axis(0.0, float(ends[-1]) if ends.size else 1.0, left, _WIDTH - _RIGHT)
    parts = []
    for i, name in enumerate(names):
        y = _TOP + i * row
        parts.append(f'<text x="{left - 6}" y="{y + 12}" text-anchor="end">{escape(_shortened(name))}</text>')
        starts = np.concatenate([[0.0], ends[:-1]])
        for a, b, s in zip(starts, ends, share[i], strict=True):
            if s > 0:
                width = round(X(b) - X(a) + 0.3, 1)
                parts.append(
                    f'<rect class="cell" x="{X(a)}" y="{y}" width="{width}" height="{row - 2}" opacity="{s:.3f}"/>'
                )
    parts.append(_x_axis(X, _TOP + row * len(names) + 4, x_name))
    return _svg(title, "".join(parts), height)


def number(value: float) -> str:
    """A number as short as its size allows.

    >>> [number(v) for v in (0, 0.03412, 7.0, 2580.0, 20000.0, 1.25e6)]
    ['0', '0.0341', '7', '2580', '20k', '1.25M']
    """
    for size, unit, sign in ((1e9, 1e9, "G"), (1e6, 1e6, "M"), (1e4, 1e3, "k")):
        if abs(value) >= size:
            return f"{value / unit:.4g}{sign}"
    return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def _spans_decades(values: Floats) -> bool:
    finite = values[np.isfinite(values)]
    return bool(finite.size) and float(finite.min()) > 0 and float(finite.max()) > 100 * float(finite.min())


def _round_step(rough: float) -> float:
    power = 10.0 ** math.floor(math.log10(rough))
    return next(m * power for m in (1, 2, 5, 10) if m * power >= rough * 0.999)


def _shortened(name: str) -> str:
    return name if len(name) <= 20 else f"{name[:19]}…"


def _svg(title: str, inside: str, height: int) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" role="img" '
        f'aria-label="{escape(title)}"><title>{escape(title)}</title>{inside}</svg>'
    )


def _grid(X: Axis, Y: Axis, x_name: str, y_name: str) -> str:
    parts = []
    for value in Y.ticks():
        parts.append(f'<line class="grid" x1="{_LEFT}" x2="{X.stop}" y1="{Y(value)}" y2="{Y(value)}"/>')
        parts.append(f'<text x="{_LEFT - 6}" y="{Y(value) + 4}" text-anchor="end">{number(value)}</text>')
    middle = (_TOP + _HEIGHT - _BOTTOM) / 2
    parts.append(f'<text transform="translate(13 {middle}) rotate(-90)" text-anchor="middle">{escape(y_name)}</text>')
    return "".join(parts) + _x_axis(X, _HEIGHT - _BOTTOM, x_name)


def _x_axis(X: Axis, y: float, name: str) -> str:
    parts = [f'<line class="axis" x1="{X.start}" x2="{X.stop}" y1="{y}" y2="{y}"/>']
    for value in X.ticks():
        parts.append(f'<text x="{X(value)}" y="{y + 16}" text-anchor="middle">{number(value)}</text>')
    parts.append(f'<text x="{(X.start + X.stop) / 2}" y="{y + 33}" text-anchor="middle">{escape(name)}</text>')
    return "".join(parts)


def _line(X: Axis, Y: Axis, x: Floats, y: Floats, i: int) -> str:
    points = " ".join(f"{X(a)},{Y(b)}" for a, b in zip(x, y, strict=True) if np.isfinite(b))
    return f'<polyline class="curve c{i % COLOURS}" points="{points}"/>'


def _band(X: Axis, Y: Axis, x: Floats, curve: Curve, i: int) -> str:
    if curve.low is None or curve.high is None:
        return ""
    there = [f"{X(a)},{Y(b)}" for a, b in zip(x, curve.high, strict=True)]
    back = [f"{X(a)},{Y(b)}" for a, b in zip(x[::-1], curve.low[::-1], strict=True)]
    return f'<polygon class="band c{i % COLOURS}" points="{" ".join(there + back)}"/>'


def _levels(X: Axis, levels: Sequence[tuple[float, str]]) -> str:
    """Lines across with their names in the right margin, each under the one above it where two would meet."""
    parts, last = [], -math.inf
    for y, name in levels:
        last = max(y, last + _TEXT)
        parts.append(f'<line class="level" x1="{_LEFT}" x2="{X.stop}" y1="{y}" y2="{y}"/>')
        parts.append(f'<path class="level" d="M{X.stop} {y}L{X.stop + 8} {last}" fill="none"/>')
        parts.append(f'<text class="note" x="{X.stop + 11}" y="{last + 4}">{escape(name)}</text>')
    return "".join(parts)
