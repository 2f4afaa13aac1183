"""Regret over time for every learner that buys k of d, and what of it DS-OSLRC's exploration is."""

from collections.abc import Sequence

import numpy as np

from ...figures import Curve, Figure, curves
from ..finding import Agreement, Finding
from ..reading import Group, at_end, band_at_end, by, curve_of, paired, slope, written
from ..tracing import Part, Trace

_DECADE = 10.0
# A bound of order sqrt(T) is called seen where the fitted exponent is at most this much larger.
_TOLERANCE = 0.1
# Less regret than this is not drawn on an axis in logarithms.
_DRAWN = 0.1


def judge(results: "Sequence[tuple[Part, Trace]]") -> Finding:
    """The league at T, slopes over the last decade, and the share of exploration."""
    groups = {str(key[0]): group for key, group in by(results, "algorithm").items()}
    order = sorted(groups, key=lambda name: band_at_end(groups[name], "regret").middle)
    rows, lines, x = [], [], None
    for name in order:
        group = groups[name]
        T = group[0][1]["t"][-1]
        share = at_end(group, "exploring").sum() / max(at_end(group, "regret").sum(), 1e-12)
        found = f"{100 * at_end(group, 'found').mean():.0f} %"
        growth = written(slope(group, "regret", "t", T / _DECADE, T), 2)
        rows.append([name, written(band_at_end(group, "regret")), growth, f"{100 * share:.0f} %", found])
        c = curve_of(group, "regret")
        x = c.x
        lines.append(Curve(name, c.y, c.low, c.high))
    figures = [curves("Regret against T", x, lines, "T", "regret")]  # type: ignore[arg-type]
    squares = groups["ds-oslrc"]
    T = squares[0][1]["t"][-1]
    explored = slope(squares, "exploring", "t", T / _DECADE, T)
    rate = next(name for name in groups if name.startswith("ds-oslrc[explore"))
    ratio = band_at_end(groups[rate], "regret").middle / band_at_end(squares, "regret").middle
    grows = slope(squares, "regret", "t", T / _DECADE, T)
    root = abs(explored.middle - 0.5) < _TOLERANCE
    silent = (
        max(at_end(groups["ds-oslrc[tuning=theory]"], "size")) == 0 if "ds-oslrc[tuning=theory]" in groups else False
    )
    verdict = (
        f"After {T:g} rounds {_least(groups, order)}. The exploring rounds of DS-OSLRC cost "
        f"T^{explored.middle:.2f} ({'' if root else 'not '}the sqrt(T) of its bound), and all of its regret "
        f"{_growth(grows.middle, at_end(squares, 'found').mean())}; exploring "
        f"at {rate.partition('=')[2].rstrip(']')} instead of on squares changes its regret by a factor {ratio:.2g}"
        + (", and with the paper's own gamma its estimate stays 0 throughout." if silent else ".")
    )
    head = ["algorithm", "regret at T", "T-exponent, last decade", "from exploring rounds", "support found"]
    agrees = Agreement.where(root and grows.middle < 0.5 + _TOLERANCE)
    return Finding(verdict, agrees, head, rows, [*figures, _split({"on squares": squares, "at a rate": groups[rate]})])


def _growth(exponent: float, found: float) -> str:
    late = f", not yet like sqrt(T): at T it has {100 * found:.0f} % of the support"
    return f"grows like T^{exponent:.2f}" + ("" if exponent < 0.5 + _TOLERANCE else late)


def _split(learners: "dict[str, Group]") -> Figure:
    """What DS-OSLRC's regret is made of: the rounds that explore, and the others; and sqrt(T) through the end of the
    former."""
    lines, x = [], np.empty(0)
    for how, group in learners.items():
        whole, explored = curve_of(group, "regret"), curve_of(group, "exploring")
        x = whole.x
        for name, y in (("exploring rounds", explored.y), ("the others", whole.y - explored.y)):
            lines.append(Curve(f"{how}: {name}", np.where(y > _DRAWN, y, np.nan)))
    end = float(np.nanmax(lines[0].y[-1:]))
    lines.append(Curve("sqrt(T)", end * np.sqrt(x / x[-1])))
    return curves("What the regret of DS-OSLRC is made of", x, lines, "T", "regret")


def _least(groups: "dict[str, Group]", order: Sequence[str]) -> str:
    """Who has the least regret of those that are not told the support; two, where the seeds do not decide."""
    first, second = [name for name in order if name != "oracle-support"][:2]
    if paired(groups[second], groups[first], "regret").called() == "more":
        return f"{first} has the least regret"
    return f"{first} and {second} have the least regret (which of them less is undecided with so many seeds)"
