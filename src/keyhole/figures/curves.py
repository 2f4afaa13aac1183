"""Line charts over rows, money or T."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import altair as alt
import numpy as np

from .._internal.escaping import printable
from .._internal.typing import Floats
from .figure import Figure, number
from .theme import GREY, HEIGHT, INK, axis, colour_of, layered, rows_of, scale

__all__ = ["Curve", "curves", "steps"]


@dataclass(frozen=True, eq=False)
class Curve:
    """A named line, optionally with a band."""

    name: str
    y: Floats
    low: Floats | None = None
    high: Floats | None = None
    reference: bool = field(default=False, kw_only=True)
    """Whether the line is a reference, drawn in grey."""


def curves(
    title: str,
    x: Floats,
    lines: Sequence[Curve],
    x_name: str,
    y_name: str,
    levels: Sequence[tuple[str, float]] = (),
    cumulative: bool = False,
    interpolate: str = "linear",
    log: bool = False,
    end_names: bool = False,
) -> Figure:
    """Draw lines over x with their bands, and levels as thin labelled horizontal lines.

    With `end_names` each line is labelled at its right end instead of in a legend. An axis is logarithmic if its values
    span two decades, unless the lines grow from zero; with `log` the y axis is logarithmic whenever possible.
    """
    names = [line.name for line in lines]
    values = [
        {"x": float(a), "y": float(b), "series": line.name}
        | ({} if line.low is None or line.high is None else {"low": float(line.low[i]), "high": float(line.high[i])})
        for line in lines
        for i, (a, b) in enumerate(zip(x, line.y, strict=True))
        if np.isfinite(b)
    ]
    tall = [v for row in values for key, v in row.items() if key in ("y", "low", "high") and isinstance(v, float)]
    heights, widths = [*tall, *(level for _, level in levels)], list(x)
    log_y = not cumulative and _spans(heights, 1 if log else 100)
    log_x = not cumulative and _spans(widths, 100)
    x_title, y_title = (
        f"{name} (log scale)" if is_log else name for name, is_log in ((x_name, log_x), (y_name, log_y))
    )
    axis_x = axis(values=_ticks(widths) if log_x else None, largest=max(widths, default=0.0))
    X = alt.X("x:Q", title=x_title, scale=_axis_scale(log_x), axis=axis_x)
    scale_y = _fixed(heights, log_y) if levels or end_names else _axis_scale(log_y)
    axis_y = axis(grid=True, values=_ticks(heights) if log_y else None, largest=max(heights, default=0.0))
    Y = alt.Y("y:Q", title=y_title, scale=scale_y, axis=axis_y)
    colour, dash = scale(names, [line.name for line in lines if line.reference])
    legend = alt.Legend() if len(names) > 1 and not end_names else None
    base = alt.Chart(rows_of(values))
    encoding = {"x": X, "y": Y, "color": alt.Color("series:N", scale=colour, legend=legend)}
    line_mark = base.mark_line(strokeWidth=2.2, interpolate=interpolate, aria=False)  # type: ignore[arg-type]
    layers: list[alt.Chart] = []
    if any("low" in row for row in values):
        band = base.mark_area(opacity=0.18, aria=False, interpolate=interpolate)  # type: ignore[arg-type]
        layers.append(band.encode(X, alt.Y("low:Q", title=y_title), alt.Y2("high"), color=encoding["color"]))
    layers.append(line_mark.encode(**encoding, strokeDash=alt.StrokeDash("series:N", scale=dash, legend=legend)))
    # Invisible points for tooltips: a line itself has no tooltips for single values.
    tips = [alt.Tooltip("series:N"), alt.Tooltip("x:Q", title=x_name), alt.Tooltip("y:Q", title=y_name)]
    said = alt.Description("tip:N")
    dots = base.transform_calculate(tip=_tip(x_name, y_name)).mark_point(size=60, opacity=0, filled=True)
    layers.append(dots.encode(**encoding, tooltip=tips, description=said))
    layers += _levels(levels, scale_y)
    layers += _end_names(lines, scale_y) if end_names else []
    return Figure(title, layered(layers), *_table(x, lines, x_name))


def steps(title: str, x: Floats, lines: Sequence[Curve], x_name: str, y_name: str) -> Figure:
    """Draw step lines, which hold their value until the next point: supports, alarms, counts."""
    return curves(title, x, lines, x_name, y_name, cumulative=True, interpolate="step-after")


def _tip(x_name: str, y_name: str) -> str:
    """Return a Vega expression for a tooltip: "thrifty: mse 0.031 at row 400"."""
    quoted = [printable(name).replace("\\", "\\\\").replace("'", "\\'").replace("\n", " ") for name in (x_name, y_name)]
    return f"datum.series + ': {quoted[1]} ' + format(datum.y, '.4~g') + ' at {quoted[0]} ' + format(datum.x, '.6~g')"


def _axis_scale(log: bool) -> alt.Scale:
    return alt.Scale(type="log", nice=False) if log else alt.Scale(zero=False, nice=True)


def _spans(values: Sequence[float], factor: float) -> bool:
    finite = [v for v in values if np.isfinite(v)]
    return bool(finite) and min(finite) > 0 and max(finite) > factor * min(finite)


def _ticks(values: Sequence[float]) -> list[float]:
    """Return the ticks of a log axis: 1, 2, 5, 10, ... within three decades, else powers of ten, at most eight.

    >>> _ticks([3.0, 180.0])
    [5.0, 10.0, 20.0, 50.0, 100.0]
    >>> _ticks([1.0, 1e24])[:3]
    [1.0, 1000.0, 1000000.0]
    """
    finite = [v for v in values if np.isfinite(v)]
    low, high = min(finite), max(finite)
    powers = range(int(np.floor(np.log10(low))), int(np.ceil(np.log10(high))) + 1)
    steps = (1, 2, 5) if high < 1000 * low else (1,)
    found = [float(f"{step}e{power}") for power in powers[:: -(-len(powers) // 9)] for step in steps]
    return [tick for tick in found if low <= tick <= high]


def _fixed(values: Sequence[float], log: bool) -> alt.Scale:
    """Return a scale with explicit ends, so that labels can be positioned along it."""
    finite = [v for v in values if np.isfinite(v)] or [0.0, 1.0]
    low, high = min(finite), max(finite)
    if log:
        return alt.Scale(type="log", nice=False, domain=[low / 1.1, high * 1.1])
    air = 0.05 * (high - low) or 0.5 * abs(high) or 0.5
    return alt.Scale(nice=False, zero=False, domain=[0.0 if 0 <= low < 0.5 * high else low - air, high + air])


def _levels(levels: Sequence[tuple[str, float]], scale_y: alt.Scale) -> list[alt.Chart]:
    """Draw thin horizontal lines labelled at their right ends, without overlapping labels."""
    if not levels:
        return []
    place = _places([v for _, v in levels], scale_y)
    data = [{"level": float(v), "name": name, "place": place[i]} for i, (name, v) in enumerate(levels)]
    base = alt.Chart(rows_of(data))
    rule = base.mark_rule(color=INK, strokeDash=[2, 4], opacity=0.7).encode(alt.Y("level:Q"))
    words = base.mark_text(align="left", dx=4, fontSize=11, color=INK, baseline="middle")
    return [rule, words.encode(alt.Y("place:Q", scale=None), text="name:N", x=alt.value("width"))]


def _places(values: Sequence[float], scale_y: alt.Scale) -> list[float]:
    """Return the positions of labels beside these values, in pixels from the top, without overlap."""
    low, high = scale_y.domain
    to_unit = np.log if scale_y.type == "log" else np.asarray
    share = (to_unit(high) - to_unit(list(values))) / (to_unit(high) - to_unit(low))
    order = np.argsort(share, kind="stable")
    found = np.empty(len(values))
    found[order] = apart(np.sort(share * HEIGHT))
    return [float(place) for place in found]


def _end_names(lines: Sequence[Curve], scale_y: alt.Scale) -> list[alt.Chart]:
    """Draw the name of each line at its right end, in its colour."""
    ends = [(i, line.name, float(line.y[np.isfinite(line.y)][-1])) for i, line in enumerate(lines)]
    place = _places([v for _, _, v in ends], scale_y)
    colours = [GREY if line.reference else colour_of(i) for i, line in enumerate(lines)]
    data = [{"name": name, "place": at, "colour": colours[i]} for (i, name, _), at in zip(ends, place, strict=True)]
    words = alt.Chart(rows_of(data)).mark_text(align="left", dx=6, fontSize=12, baseline="middle")
    colour = alt.Color("colour:N", scale=None)
    return [words.encode(alt.Y("place:Q", scale=None), text="name:N", color=colour, x=alt.value("width"))]


def apart(places: Floats, room: float = 13.0, bottom: float = HEIGHT) -> list[float]:
    """Spread sorted positions so that each leaves room for the one above it, moved up if they pass the bottom.

    >>> apart(np.array([10.0, 12.0, 50.0]))
    [10.0, 23.0, 50.0]
    >>> apart(np.array([215.0, 218.0]))
    [207.0, 220]
    """
    found: list[float] = []
    for place in places.tolist():
        found.append(max(place, found[-1] + room) if found else place)
    for i in range(len(found) - 1, -1, -1):
        limit = bottom if i == len(found) - 1 else found[i + 1] - room
        found[i] = min(found[i], max(limit, 0.0))
    return found


def _table(x: Floats, lines: Sequence[Curve], x_name: str) -> tuple[list[str], list[list[str]]]:
    banded = [(line, line.low is not None and line.high is not None) for line in lines]
    head = [x_name]
    for line, has_band in banded:
        head += [line.name, f"{line.name} 10 %", f"{line.name} 90 %"] if has_band else [line.name]
    rows = []
    for i, a in enumerate(x):
        row = [f"{a:.6g}"]
        for line, _ in banded:
            row += [number(float(v[i])) for v in (line.y, line.low, line.high) if v is not None]
        rows.append(row)
    return head, rows
