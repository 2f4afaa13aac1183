"""The frontier chart: error against money, with a step line of the best baskets and named dots."""

from collections.abc import Callable, Sequence
from itertools import pairwise
from math import cos, pi, sin
from typing import NamedTuple

import altair as alt
import numpy as np

from .._internal.typing import Bools, Floats
from .figure import Figure, number
from .theme import INK, axis, colour_of, layered, rows_of

__all__ = ["Box", "Label", "Stop", "crossings", "frontier", "label_box", "place_labels"]

# In pixels: half the size of a dot, the candidate distances of a label from its dot, and the distance from which a
# leader line connects them.
_DOT = 5.0
_DISTANCES = (9.0, 14.0, 22.0, 32.0, 44.0, 58.0, 74.0, 92.0, 112.0, 134.0)
_LED = 20.0
# Mean character width of a sans-serif font, and line height, relative to the font size.
_WIDE, _TALL = 0.56, 1.15
# Costs per square pixel of overlap; distance costs less, since a far label is better than a covered one.
_OVER_LABEL, _OVER_DOT, _OVER_LINE, _OUTSIDE = 1000.0, 400.0, 4.0, 1000.0
# The cost of a leader that crosses a label or a dot.
_CROSSED = 150.0
_ROUNDS = 3


class Box(NamedTuple):
    """A rectangle in pixels; y grows downwards."""

    left: float
    top: float
    right: float
    bottom: float

    def overlap(self, other: "Box") -> float:
        """Return the area shared with another box."""
        wide = min(self.right, other.right) - max(self.left, other.left)
        tall = min(self.bottom, other.bottom) - max(self.top, other.top)
        return wide * tall if wide > 0 and tall > 0 else 0.0


class Label(NamedTuple):
    """A text anchored at (x, y): the middle of its left edge, its centre, or the middle of its right edge (`align`)."""

    x: float
    y: float
    text: str
    align: str
    colour: str
    leader: tuple[tuple[float, float], tuple[float, float]] | None
    """The line from the dot to the text, if they are far apart."""


def label_box(x: float, y: float, text: str, align: str, font: float) -> Box:
    """Return the rectangle of a text, estimated from the mean character width."""
    wide, tall = _WIDE * font * len(text), _TALL * font
    left = x - {"left": 0.0, "center": wide / 2, "right": wide}[align]
    return Box(left, y - tall / 2, left + wide, y + tall / 2)


def place_labels(
    dots: Sequence[tuple[tuple[float, float], str, str]],
    lines: Sequence[Box],
    width: float,
    height: float,
    font: float,
) -> list[Label]:
    """Place the label of each dot ((x, y), text, colour), in the given order; an empty text gets no label.

    Of sixteen directions and ten distances, the one of least cost is chosen: overlap with other labels, dots, `lines`
    (thin boxes) and leaders, area outside the plot, then distance. The first pass places one label after another; two
    further passes move each label to its best position given all others.
    """
    points = np.array([(x - _DOT, y - _DOT, x + _DOT, y + _DOT) for (x, y), _, _ in dots]).reshape(-1, 4)
    drawn = np.array([(b.left - 1, b.top - 1, b.right + 1, b.bottom + 1) for b in lines]).reshape(-1, 4)
    plot = np.array([[0.0, 0.0, width, height]])

    def boxes_of(labels: Sequence[Label]) -> Floats:
        return np.array([label_box(t.x, t.y, t.text, t.align, font) for t in labels]).reshape(-1, 4)

    def costs(labels: Sequence[Label], distances: Floats, others: Sequence[Label]) -> Floats:
        boxes, leaders, placed = boxes_of(labels), _leaders(labels), boxes_of(others)
        outside = (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1]) - _overlap(boxes, plot)
        crossed = crossings(leaders, placed).sum(1) + crossings(leaders, points).sum(1)
        crossed += crossings(_leaders(others), boxes).sum(0)
        found: Floats = (
            _OVER_LABEL * _overlap(boxes, placed)
            + _OVER_DOT * _overlap(boxes, points)
            + _OVER_LINE * _overlap(boxes, drawn)
            + _OUTSIDE * outside
            + _CROSSED * crossed
            + _CROSSED / 5 * crossings(leaders, drawn).sum(1)
            + distances
        )
        return found

    placed: dict[int, Label] = {}
    for _ in range(_ROUNDS):
        for i, ((x, y), text, colour) in enumerate(dots):
            if text:
                others = [label for j, label in placed.items() if j != i]
                places = _around(x, y, text, colour)
                labels, distances = [label for label, _ in places], np.array([distance for _, distance in places])
                placed[i] = labels[int(np.argmin(costs(labels, distances, others)))]
    return list(placed.values())


def _overlap(boxes: Floats, others: Floats) -> Floats:
    """Return for each box the total area it shares with the other boxes."""
    sides = np.minimum(boxes[:, None, 2:], others[:, 2:]) - np.maximum(boxes[:, None, :2], others[:, :2])
    return np.asarray(sides.clip(min=0.0).prod(axis=2).sum(axis=1))


def _leaders(labels: Sequence[Label]) -> Floats:
    """Return the end points (x0, y0, x1, y1) of the leaders; NaN for a label without one."""
    return np.array([np.ravel(t.leader) if t.leader else [np.nan] * 4 for t in labels]).reshape(-1, 4)


def crossings(leaders: Floats, boxes: Floats) -> Bools:
    """Return the (leaders, boxes) table of which leader passes through the inside of which box."""
    start, step = leaders[:, None, :2], leaders[:, None, 2:] - leaders[:, None, :2]
    with np.errstate(divide="ignore", invalid="ignore"):
        ends = (boxes[:, :2] - start) / step, (boxes[:, 2:] - start) / step
    enter, leave = np.minimum(*ends).max(axis=2), np.maximum(*ends).min(axis=2)
    return np.asarray(np.maximum(enter, 0.0) < np.minimum(leave, 1.0))


def _around(x: float, y: float, text: str, colour: str) -> list[tuple[Label, float]]:
    """Return candidate positions of a label with their distances: nearest first, then by preferred direction."""
    around: list[tuple[Label, float]] = []
    for distance in _DISTANCES:
        for turn in (-45, 0, 45, -135, 180, 135, -90, 90, -20, 20, -70, 70, -110, 110, -160, 160):
            dx, dy = distance * cos(turn * pi / 180), distance * sin(turn * pi / 180)
            align = "center" if abs(dx) < 1e-6 else "left" if dx > 0 else "right"
            stop = 2.0 if align != "center" else 8.0
            ends = [(x + share * dx, y + share * dy) for share in (1.5 * _DOT / distance, 1 - stop / distance)]
            leader = (ends[0], ends[1]) if distance >= _LED else None
            around.append((Label(x + dx, y + dy, text, align, colour, leader), distance))
    return around


# Larger than other figures, because every dot is labelled.
_WIDTH, _HEIGHT, _FONT = 480, 300, 11


class Stop(NamedTuple):
    """A point of the chart: the price of a row, its error, and its name."""

    price: float
    error: float
    name: str
    ours: bool = False
    word: str | None = None
    """The label beside the dot; None: the name."""


def frontier(
    title: str, way: Sequence[Stop], beside: Sequence[Stop], x_name: str, y_name: str, way_name: str = "in hindsight"
) -> Figure:
    """Draw the best baskets as a step line with dots, and further named dots; those marked `ours` are highlighted."""
    most = max((s.price for s in (*way, *beside)), default=1.0)
    usual = _usual(way, most)
    low, high = _range([s.error for s in (*way, *beside)])
    # A symlog scale, so that one expensive basket does not squeeze all others against the left edge.
    bent = alt.Scale(type="symlog", constant=usual, domain=[0.0, most or 1.0], nice=False)
    says = f"{x_name} (log scale beyond {number(usual)})"
    X = alt.X("x:Q", title=says, scale=bent, axis=axis(values=_ticks(usual, most)))
    Y = alt.Y("y:Q", title=y_name, scale=alt.Scale(domain=[low, high], nice=False), axis=axis(grid=True))
    tips = [alt.Tooltip("name:N"), alt.Tooltip("x:Q", title=x_name), alt.Tooltip("y:Q", title=y_name)]
    said = alt.Description("tip:N")
    tip = "datum.name + ': ' + format(datum.y, '.4~g') + ' for ' + format(datum.x, '.4~g')"
    path = alt.Chart(rows_of([{"x": s.price, "y": s.error, "name": s.name} for s in way]))
    line = path.mark_line(color=colour_of(0), interpolate="step-after", strokeWidth=2.2, aria=False).encode(X, Y)
    stops = path.transform_calculate(tip=tip).mark_point(filled=True, color=colour_of(0), size=45)
    dots = [{"x": s.price, "y": s.error, "name": s.name, "ours": s.ours} for s in beside]
    others = alt.Chart(rows_of(dots)).transform_calculate(tip=tip)
    colour = alt.condition("datum.ours", alt.value(colour_of(1)), alt.value(INK))
    marks = others.mark_point(filled=True, size=90, shape="diamond", opacity=1).encode(
        X, Y, color=colour, tooltip=tips, description=said
    )

    def to_pixels(stop: Stop) -> tuple[float, float]:
        across = np.log1p(stop.price / usual) / max(np.log1p(most / usual), 1e-300)
        return float(across * _WIDTH), float((high - stop.error) / (high - low) * _HEIGHT)

    def to_data(x: float, y: float) -> dict[str, float]:
        return {
            "x": float(usual * np.expm1(x / _WIDTH * np.log1p(most / usual))),
            "y": high - y / _HEIGHT * (high - low),
        }

    words = _written(way, beside, to_pixels)
    texts = [to_data(w.x, w.y) | {"word": w.text, "align": w.align, "colour": w.colour} for w in words]
    leaders = [to_data(*end) | {"leader": i} for i, w in enumerate(words) if w.leader is not None for end in w.leader]
    written = alt.Chart(rows_of(texts))
    labels = [
        written.transform_filter(f"datum.align == '{align}'")
        .mark_text(align=align, baseline="middle", fontSize=_FONT, aria=False)
        .encode(X, Y, text="word:N", color=alt.Color("colour:N", scale=None))
        for align in ("left", "center", "right")
    ]
    thin = alt.Chart(rows_of(leaders)).mark_line(color=INK, strokeWidth=0.7, opacity=0.6, aria=False)
    threads = thin.encode(X, Y, detail="leader:N")
    layers = [line, threads, stops.encode(X, Y, tooltip=tips, description=said), marks, *labels]
    head = ["", x_name, y_name]
    rows = [[f"{way_name}: {s.name}", number(s.price), number(s.error)] for s in way]
    rows = [[s.name, number(s.price), number(s.error)] for s in beside] + rows
    return Figure(title, layered(layers, _WIDTH, _HEIGHT), head, rows)


def _range(errors: Sequence[float]) -> tuple[float, float]:
    """Return the range of the error axis, with some margin above and more below for labels."""
    finite = [e for e in errors if np.isfinite(e)] or [0.0]
    low, high = min(finite), max(finite)
    margin = 0.06 * (high - low) or 0.06 * abs(high) or 1.0
    return low - 4 * margin, high + margin


def _written(
    way: Sequence[Stop], beside: Sequence[Stop], to_pixels: Callable[[Stop], tuple[float, float]]
) -> list[Label]:
    """Return the labels of all dots; they avoid the line where possible."""
    colours = [*(colour_of(1) if s.ours else INK for s in beside), *(colour_of(0) for _ in way)]
    shown = [(s, colour) for s, colour in zip((*beside, *way), colours, strict=True) if np.isfinite(s.error)]
    path = [to_pixels(s) for s in way if np.isfinite(s.error)]
    corners = [(b[0], a[1]) for a, b in pairwise(path)]
    ends = [*zip(path, corners, strict=False), *zip(corners, path[1:], strict=True)]
    lines = [Box(min(a[0], b[0]), min(a[1], b[1]), max(a[0], b[0]), max(a[1], b[1])) for a, b in ends]
    words = [(to_pixels(s), s.name if s.word is None else s.word, colour) for s, colour in shown]
    return place_labels(words, lines, _WIDTH, _HEIGHT, _FONT)


def _usual(way: Sequence[Stop], most: float) -> float:
    """Return the price up to which the scale is linear; it is logarithmic beyond."""
    prices = sorted(s.price for s in way if s.price > 0)
    return prices[len(prices) // 2] if prices else max(most, 1.0)


def _ticks(usual: float, most: float) -> list[float]:
    """Return 0 and round numbers as ticks of the symlog scale.

    >>> _ticks(10.0, 417.0)
    [0.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0]
    """
    low = int(np.floor(np.log10(usual / 2)))
    found = [m * 10.0**e for e in range(low, low + 12) for m in (1, 2, 5)]
    return [0.0, *(v for v in found if 0.45 * usual <= v <= 0.8 * most)]
