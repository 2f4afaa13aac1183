"""All charts: reports, comparisons, studies, notebooks and the live page use these.

Figure(title, chart, head, rows)        a chart and the table with the same numbers
curves, steps, heat, bars, scatter,      the functions that draw one
frontier
to_svg, standalone, STYLE               a chart as SVG that follows the page's colours, light and dark
"""

from .curves import Curve, curves, steps
from .figure import STYLE, Figure, number, standalone, to_svg
from .frontier_chart import Stop, frontier
from .marks import bars, heat, scatter

__all__ = [
    "STYLE",
    "Curve",
    "Figure",
    "Stop",
    "bars",
    "curves",
    "frontier",
    "heat",
    "number",
    "scatter",
    "standalone",
    "steps",
    "to_svg",
]
