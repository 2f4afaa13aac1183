"""The theme of all charts: light colours as attributes; a style sheet replaces them in dark mode."""

from collections.abc import Mapping, Sequence

import altair as alt

__all__ = [
    "COLOURS",
    "FAINT",
    "GREY",
    "HEIGHT",
    "INK",
    "PAPER",
    "WIDTH",
    "axis",
    "colour_of",
    "dressed",
    "layered",
    "repainted",
    "rows_of",
    "scale",
    "variables",
]

WIDTH, HEIGHT = 380, 220

# Okabe and Ito's palette, which colour-blind readers can distinguish; lighter shades on a dark background.
_LIGHT = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#8a6d00", "#7f3b08", "#6a51a3", "#a50f15")
_DARK = ("#56b4e9", "#ff9a4d", "#3fcf9f", "#e7a4c9", "#f0e442", "#d8a47f", "#b9a5e2", "#ff8f8f")
COLOURS = len(_LIGHT)
"""The number of series with distinct colours; further ones repeat the colours with other dashes."""

_DASHES: tuple[list[int], ...] = ([1, 0], [7, 3], [2, 3], [9, 3, 2, 3])

INK, PAPER, FAINT, GREY = "#1c2126", "#ffffff", "#d9dde1", "#565e66"
# Text, background, lines, highlighted background, and small print.
_LIGHT_PAGE = {"ink": INK, "paper": PAPER, "faint": FAINT, "soft": "#f4f6f8", "dim": GREY}
_DARK_PAGE = {"ink": "#e8eaed", "paper": "#15181b", "faint": "#3a4046", "soft": "#1f2428", "dim": "#a8b0b8"}


def colour_of(i: int) -> str:
    """Return the colour of the i-th series in light mode."""
    return _LIGHT[i % COLOURS]


def repainted() -> str:
    """Return CSS rules that replace the light colours of figures by the variables of the page, for dark mode.

    The light colours are attributes of the marks, because few programs besides browsers know CSS variables.
    """
    names = {c: f"c{i}" for i, c in enumerate(_LIGHT)} | {INK: "ink", FAINT: "faint", PAPER: "paper", GREY: "dim"}
    rules = [f'svg [{what}="{c}"]{{{what}:var(--{name})}}' for c, name in names.items() for what in ("fill", "stroke")]
    return "".join(rules)


def variables(dark: bool = False) -> str:
    """Return the colours as CSS declarations."""
    series = "".join(f"--c{i}:{c};" for i, c in enumerate(_DARK if dark else _LIGHT))
    return series + "".join(f"--{name}:{c};" for name, c in (_DARK_PAGE if dark else _LIGHT_PAGE).items())


def scale(names: Sequence[str], grey: Sequence[str] = ()) -> tuple[alt.Scale, alt.Scale]:
    """Return the colour scale and the dash scale of the names, in the given order; names in `grey` are grey."""
    colours = [GREY if name in grey else colour_of(i) for i, name in enumerate(names)]
    dashes = [_DASHES[(i // COLOURS + i) % len(_DASHES)] for i in range(len(names))]
    return alt.Scale(domain=list(names), range=colours), alt.Scale(domain=list(names), range=dashes)


def axis(grid: bool = False, values: Sequence[float] | None = None, largest: float = 0.0) -> alt.Axis:
    """Return a numeric axis with labels such as 0, 0.1, 500 or 1.5k; `values` are its ticks.

    Labels are 1e+5, 1e+15 if the axis reaches so far (`largest`) that unit prefixes become obscure.
    """
    far = f"{'true' if largest >= 1e13 else 'datum.value >= 1e13'} && datum.label ? format(datum.value, '~e')"
    near = "abs(datum.value) < 1 && datum.label ? format(datum.value, '.3~g')"
    label = f"datum.value == 0 ? '0' : {far} : {near} : datum.label"
    ticks = {"tickCount": 6} if values is None else {"values": list(values)}
    return alt.Axis(grid=grid, format="~s", labelFlush=False, labelExpr=label, **ticks)


def rows_of(values: Sequence[Mapping[str, object]]) -> alt.InlineData:
    """Return plain records as the data of a chart."""
    return alt.InlineData(values=list(values))


def layered(layers: Sequence[alt.Chart], width: int = WIDTH, height: int = HEIGHT) -> alt.LayerChart:
    """Combine layers into one chart without the theme, so that a notebook can concatenate it with others."""
    chart: alt.LayerChart = alt.LayerChart(layer=list(layers)).properties(width=width, height=height)
    return chart


def dressed(chart: alt.TopLevelMixin) -> alt.TopLevelMixin:
    """Apply the common theme to the chart; names are never truncated."""
    axis = {
        "labelColor": INK,
        "titleColor": INK,
        "domainColor": INK,
        "tickColor": FAINT,
        "gridColor": FAINT,
        "labelLimit": 0,
        "titleFontWeight": "normal",
        "labelFontSize": 12,
        "titleFontSize": 12,
        "titlePadding": 14,
    }
    legend = {
        "labelColor": INK,
        "labelLimit": 0,
        "title": None,
        "orient": "top",
        "columns": 2,
        "labelFontSize": 12,
        "columnPadding": 24,
    }
    legend |= {"symbolType": "stroke", "symbolOpacity": 1, "symbolStrokeWidth": 2.5, "symbolSize": 300}
    clothed: alt.TopLevelMixin = chart.configure(
        background="transparent",
        # Text is measured in Liberation Sans, whose metrics equal Arial's.
        font="Arial, Helvetica, Liberation Sans, sans-serif",
        padding={"left": 20, "right": 26, "top": 5, "bottom": 5},
        axis=axis,
        legend=legend,
        view={"stroke": None},
    )
    return clothed
