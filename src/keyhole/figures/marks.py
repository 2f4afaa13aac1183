"""Heat maps, bar charts and scatter plots."""

from collections.abc import Sequence

import altair as alt
import numpy as np

from .._internal.typing import Floats
from .figure import Figure, number
from .theme import INK, axis, colour_of, layered, rows_of

__all__ = ["bars", "heat", "scatter"]

_ROW = 18


def heat(title: str, ends: Floats, names: Sequence[str], share: Floats, x_name: str) -> Figure:
    """Draw a heat map: one row per name, and one cell per block of rows, shaded by `share` (0 to 1); `ends` are the
    last rows of the blocks.
    """
    starts = np.concatenate([[0.0], ends[:-1]])
    values = [
        {"from": float(a), "to": float(b), "name": name, "share": float(s), "tip": _cell(name, a, b, float(s))}
        for name, shares in zip(names, share, strict=True)
        for a, b, s in zip(starts, ends, shares, strict=True)
    ]
    cells = alt.Chart(rows_of(values)).mark_rect(color=colour_of(0))
    drawn = cells.encode(
        alt.X("from:Q", title=x_name, axis=axis()),
        alt.X2("to"),
        alt.Y("name:N", sort=list(names), title=None),
        opacity=alt.Opacity("share:Q", scale=alt.Scale(domain=[0, 1], range=[0, 1]), legend=None),
        tooltip=[alt.Tooltip("name:N"), alt.Tooltip("to:Q", title=x_name), alt.Tooltip("share:Q", format=".0%")],
        description=alt.Description("tip:N"),
    )
    head = [f"% of rows, up to {x_name}", *(f"{b:.6g}" for b in ends)]
    rows = [[name, *(f"{100 * s:.0f}" for s in share[i])] for i, name in enumerate(names)]
    return Figure(title, layered([drawn], height=_ROW * max(1, len(names))), head, rows)


def bars(
    title: str,
    names: Sequence[str],
    values: Floats,
    x_name: str,
    low: Floats | None = None,
    high: Floats | None = None,
) -> Figure:
    """Draw one bar per name, with whiskers from low to high if given."""
    banded = low is not None and high is not None
    data = [
        {"name": n, "value": float(v)} | ({"low": float(low[i]), "high": float(high[i])} if banded else {})  # type: ignore[index]
        for i, (n, v) in enumerate(zip(names, values, strict=True))
    ]
    base = alt.Chart(rows_of(data))
    Y = alt.Y("name:N", sort=list(names), title=None)
    tips = [alt.Tooltip("name:N"), alt.Tooltip("value:Q", title=x_name, format=".4~g")]
    for row in data:
        row["tip"] = f"{row['name']}: {number(_of(row, 'value'))}"
    X = alt.X("value:Q", title=x_name, axis=axis(grid=True))
    mark = base.mark_bar(color=colour_of(0), height={"band": 0.7})
    layers = [mark.encode(X, Y, tooltip=tips, description=alt.Description("tip:N"))]
    if banded:
        layers.append(base.mark_rule(color=INK, aria=False).encode(alt.X("low:Q", title=x_name), alt.X2("high"), y=Y))
    rows = [
        [n, number(float(values[i])), *([number(float(low[i])), number(float(high[i]))] if banded else [])]  # type: ignore[index]
        for i, n in enumerate(names)
    ]
    head = ["", x_name, *(["low", "high"] if banded else [])]
    return Figure(title, layered(layers, height=(_ROW + 2) * max(1, len(names))), head, rows)


def scatter(
    title: str,
    x: Floats,
    y: Floats,
    x_name: str,
    y_name: str,
    labels: Sequence[str] | None = None,
    diagonal: bool = False,
    joined: bool = False,
) -> Figure:
    """Draw dots, optionally with `labels`; `diagonal` adds the line y = x, `joined` connects the dots."""
    data = [
        {"x": float(a), "y": float(b), "label": labels[i] if labels else ""}
        for i, (a, b) in enumerate(zip(x, y, strict=True))
        if np.isfinite(a) and np.isfinite(b)
    ]
    base = alt.Chart(rows_of(data))
    X = alt.X("x:Q", title=x_name, scale=alt.Scale(zero=False), axis=axis())
    Y = alt.Y("y:Q", title=y_name, scale=alt.Scale(zero=False), axis=axis(grid=True))
    tips = [alt.Tooltip("label:N"), alt.Tooltip("x:Q", title=x_name), alt.Tooltip("y:Q", title=y_name)]
    for row in data:
        at = f"{x_name} {number(_of(row, 'x'), 4)}, {y_name} {number(_of(row, 'y'), 4)}"
        row["tip"] = f"{row['label']}: {at}" if row["label"] else at
    few = len(data) <= 50
    dots = base.mark_point(filled=True, color=colour_of(0), size=60 if few else 14, opacity=1.0 if few else 0.35)
    layers = [dots.encode(X, Y, tooltip=tips, description=alt.Description("tip:N"))]
    if joined:
        layers.insert(0, base.mark_line(color=colour_of(0), aria=False).encode(X, Y))
    if labels:
        layers.append(base.mark_text(dy=-10, color=INK, fontSize=11, aria=False).encode(X, Y, text="label:N"))
    if diagonal and data:
        layers.append(_diagonal(data, X, Y))
    head = [*([""] if labels else []), x_name, y_name]
    rows = [[*([str(p["label"])] if labels else []), number(_of(p, "x")), number(_of(p, "y"))] for p in data[:200]]
    return Figure(title, layered(layers), head, rows)


def _cell(name: str, start: float, end: float, part: float) -> str:
    return f"{name}, {start + 1:.0f} to {end:.0f}: {100 * part:.0f} %"


def _of(point: dict[str, object], key: str) -> float:
    return float(str(point[key]))


def _diagonal(data: Sequence[dict[str, object]], X: alt.X, Y: alt.Y) -> alt.Chart:
    """Draw the line on which prediction and outcome agree."""
    every = [_of(p, key) for p in data for key in ("x", "y")]
    ends = [{"x": v, "y": v} for v in (min(every), max(every))]
    line = alt.Chart(rows_of(ends)).mark_line(color=INK, strokeDash=[2, 4], aria=False)
    drawn: alt.Chart = line.encode(X, Y)
    return drawn
