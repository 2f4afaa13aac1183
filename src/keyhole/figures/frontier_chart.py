"""What money buys: error against money, a line for what is possible, and a dot for each who was there."""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import NamedTuple

import altair as alt
import numpy as np

from .figure import Figure, number
from .labels import Box, Label, place_labels
from .theme import INK, axis, colour_of, layered, rows_of

__all__ = ["Stop", "frontier"]

# Larger than other figures: every dot has its name beside it.
_WIDTH, _HEIGHT, _FONT = 480, 300, 11


class Stop(NamedTuple):
    """A place on the way: what a row costs, the error that is left, and what it is."""

    price: float
    error: float
    name: str
    ours: bool = False
    word: str | None = None
    """What is written beside the dot; None: the name."""


def frontier(
    title: str, way: Sequence[Stop], beside: Sequence[Stop], x_name: str, y_name: str, way_name: str = "in hindsight"
) -> Figure:
    """The way as steps from dot to dot, and named dots beside it; what is `ours` is set apart."""
    most = max((s.price for s in (*way, *beside)), default=1.0)
    usual = _usual(way, most)
    low, high = _range([s.error for s in (*way, *beside)])
    # One dear thing at the far right would push everything else against the left edge.
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
    """The axis of errors: all of them, some room above, and more below, where the names of the best baskets stand."""
    finite = [e for e in errors if np.isfinite(e)] or [0.0]
    low, high = min(finite), max(finite)
    margin = 0.06 * (high - low) or 0.06 * abs(high) or 1.0
    return low - 4 * margin, high + margin


def _written(
    way: Sequence[Stop], beside: Sequence[Stop], to_pixels: Callable[[Stop], tuple[float, float]]
) -> list[Label]:
    """The words of all dots, beside them; the line is kept free of words where there is room elsewhere."""
    colours = [*(colour_of(1) if s.ours else INK for s in beside), *(colour_of(0) for _ in way)]
    shown = [(s, colour) for s, colour in zip((*beside, *way), colours, strict=True) if np.isfinite(s.error)]
    path = [to_pixels(s) for s in way if np.isfinite(s.error)]
    corners = [(b[0], a[1]) for a, b in pairwise(path)]
    ends = [*zip(path, corners, strict=False), *zip(corners, path[1:], strict=True)]
    lines = [Box(min(a[0], b[0]), min(a[1], b[1]), max(a[0], b[0]), max(a[1], b[1])) for a, b in ends]
    words = [(to_pixels(s), s.name if s.word is None else s.word, colour) for s, colour in shown]
    return place_labels(words, lines, _WIDTH, _HEIGHT, _FONT)


def _usual(way: Sequence[Stop], most: float) -> float:
    """The scale is straight up to about here, and logarithmic beyond."""
    prices = sorted(s.price for s in way if s.price > 0)
    return prices[len(prices) // 2] if prices else max(most, 1.0)


def _ticks(usual: float, most: float) -> list[float]:
    """0 and round numbers that a bent scale keeps apart.

    >>> _ticks(10.0, 417.0)
    [0.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0]
    """
    low = int(np.floor(np.log10(usual / 2)))
    found = [m * 10.0**e for e in range(low, low + 12) for m in (1, 2, 5)]
    return [0.0, *(v for v in found if 0.45 * usual <= v <= 0.8 * most)]
