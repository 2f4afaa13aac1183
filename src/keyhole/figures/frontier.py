"""What money buys: error against money, a line for what is possible, and a dot for each who was there."""

from collections.abc import Sequence
from typing import NamedTuple

import altair as alt

from .figure import Figure, number
from .theme import INK, axis, colour_of, layered, rows_of

__all__ = ["Stop", "frontier"]


class Stop(NamedTuple):
    """A place on the way: what a row costs, the error that is left, and what it is."""

    price: float
    error: float
    name: str
    ours: bool = False


def frontier(
    title: str, way: Sequence[Stop], beside: Sequence[Stop], x_name: str, y_name: str, way_name: str = "in hindsight"
) -> Figure:
    """The way as steps from dot to dot, and named dots beside it; what is `ours` is set apart."""
    data = [{"x": s.price, "y": s.error, "name": s.name} for s in way]
    dots = [{"x": s.price, "y": s.error, "name": s.name, "ours": s.ours} for s in beside]
    most = max((s.price for s in (*way, *beside)), default=1.0)
    # One dear thing at the far right would push everything else against the left edge.
    bent = alt.Scale(type="symlog", constant=_typical(way, most), nice=False)
    X = alt.X("x:Q", title=x_name, scale=bent, axis=axis())
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
    words = others.mark_text(align="right", dx=-8, dy=-9, fontSize=11, aria=False)
    written = words.encode(X, Y, text="name:N", color=colour)
    layers = [line, stops.encode(X, Y, tooltip=tips, description=said), marks, written]
    head = ["", x_name, y_name]
    rows = [[f"{way_name}: {s.name}", number(s.price), number(s.error)] for s in way]
    rows = [[s.name, number(s.price), number(s.error)] for s in beside] + rows
    return Figure(title, layered(layers), head, rows)


def _typical(way: Sequence[Stop], most: float) -> float:
    """The scale is straight up to about here, and logarithmic beyond."""
    prices = sorted(s.price for s in way if s.price > 0)
    return prices[len(prices) // 2] if prices else max(most, 1.0)
