"""What money buys: error against money, a line for what is possible, and a dot for each who was there."""

from collections.abc import Sequence
from typing import NamedTuple

import altair as alt
import numpy as np

from .figure import Figure, number
from .theme import INK, axis, colour_of, layered, rows_of

__all__ = ["Stop", "frontier"]


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
    data = [{"x": s.price, "y": s.error, "name": s.name} for s in way]
    most = max((s.price for s in (*way, *beside)), default=1.0)
    usual = _usual(way, most)
    dots = [
        {"x": s.price, "y": s.error, "name": s.name, "ours": s.ours, "word": s.name if s.word is None else s.word}
        | {"left": bool(np.arcsinh(s.price / usual) < 0.6 * np.arcsinh(most / usual))}
        for s in beside
    ]
    # One dear thing at the far right would push everything else against the left edge.
    bent = alt.Scale(type="symlog", constant=usual, nice=False)
    X = alt.X("x:Q", title=x_name, scale=bent, axis=axis(values=_ticks(usual, most)))
    Y = alt.Y("y:Q", title=y_name, scale=alt.Scale(zero=False), axis=axis(grid=True))
    tips = [alt.Tooltip("name:N"), alt.Tooltip("x:Q", title=x_name), alt.Tooltip("y:Q", title=y_name)]
    said = alt.Description("tip:N")
    tip = "datum.name + ': ' + format(datum.y, '.4~g') + ' for ' + format(datum.x, '.4~g')"
    path = alt.Chart(rows_of(data))
    line = path.mark_line(color=colour_of(0), interpolate="step-after", strokeWidth=2.2, aria=False).encode(X, Y)
    stops = path.transform_calculate(tip=tip).mark_point(filled=True, color=colour_of(0), size=45)
    others = alt.Chart(rows_of(dots)).transform_calculate(tip=tip)
    colour = alt.condition("datum.ours", alt.value(colour_of(1)), alt.value(INK))
    marks = others.mark_point(filled=True, size=90, shape="diamond", opacity=1).encode(
        X, Y, color=colour, tooltip=tips, description=said
    )
    written = [
        others.transform_filter(f"datum.left == {inward}")
        .mark_text(align=align, dx=dx, dy=-9, fontSize=11, aria=False)  # type: ignore[arg-type]
        .encode(X, Y, text="word:N", color=colour)
        for inward, align, dx in (("true", "left", 6), ("false", "right", 2))
    ]
    layers = [line, stops.encode(X, Y, tooltip=tips, description=said), marks, *written]
    head = ["", x_name, y_name]
    rows = [[f"{way_name}: {s.name}", number(s.price), number(s.error)] for s in way]
    rows = [[s.name, number(s.price), number(s.error)] for s in beside] + rows
    return Figure(title, layered(layers), head, rows)


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
