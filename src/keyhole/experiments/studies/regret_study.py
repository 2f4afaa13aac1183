"""Regret over time of every learner that buys k of d attributes, and the share of DS-OSLRC's exploration."""

from collections.abc import Sequence

import numpy as np

from ...figures import Curve, Figure, curves
from ..aggregate import Band
from ..study import Agreement, Finding
from ..trace_job import Part, Trace
from ..traces import Group, at_end, band_at_end, by, curve_of, curve_on, label, paired, slope, value_at, written

_DECADE = 10.0
# A bound of order sqrt(T) is confirmed if the fitted exponent is at most this much larger.
_TOLERANCE = 0.1
# Smaller regret is not drawn on a logarithmic axis.
_DRAWN = 0.1


def judge(results: "Sequence[tuple[Part, Trace]]") -> Finding:
    """Return the finding on regret over time: the ranking at the common T, the slope over each learner's last decade,
    and the share of exploration.
    """
    groups = {str(key[0]): group for key, group in by(results, "algorithm").items()}
    ends = {name: group[0][1]["t"][-1] for name, group in groups.items()}
    common, T = min(ends.values()), max(ends.values())
    regret = {name: Band.of([value_at(found, "regret", common) for _, found in groups[name]]) for name in groups}
    order = sorted(groups, key=lambda name: regret[name].middle)
    rows = [_row(name, groups[name], regret[name] if common < T else None) for name in order]
    x = np.array(next(found["t"] for _, found in results if found["t"][-1] == T), dtype=np.float64)
    lines = [Curve(label(name), c.y, c.low, c.high) for name in order if (c := curve_on(groups[name], "regret", x))]
    squares, rate = groups["ds-oslrc"], next(name for name in groups if name.startswith("ds-oslrc[explore"))
    explored, grows = (slope(squares, y, "t", T / _DECADE, T) for y in ("exploring", "regret"))
    ratio = paired(groups[rate], squares, "regret").band.middle
    root = abs(explored.middle - 0.5) < _TOLERANCE
    silent = "ds-oslrc[tuning=theory]" in groups and max(at_end(groups["ds-oslrc[tuning=theory]"], "size")) == 0
    verdict = (
        f"Apart from the oracle, {_least(groups, order, common)} after {common:g} rounds. Up to T = {T:g}, DS-OSLRC's "
        f"regret from exploring rounds grows like T^{explored.middle:.2f} ({'as' if root else 'not as'} the sqrt(T) of "
        f"its bound). {_growth(grows, at_end(squares, 'found').mean())} Exploring at the rate "
        f"{rate.partition('=')[2].rstrip(']')} instead of in the rounds 1, 4, 9, ... multiplies its regret by "
        f"{ratio:.2g}." + (" With the paper's own gamma (`theory`) its estimate stays 0 throughout." if silent else "")
    )
    shared = [f"regret at {common:g}"] if common < T else []
    head = [
        "algorithm",
        *shared,
        "T",
        "regret at T",
        "T-exponent, last decade",
        "from exploring rounds",
        "support found",
    ]
    figures = [
        curves("Regret against T", x, lines, "T", "regret"),
        _split({"on squares": squares, "at a rate": groups[rate]}),
    ]
    return Finding(verdict, {"for DS-OSLRC": _agreement(root, grows)}, head, rows, figures)


def _row(name: str, group: Group, shared: Band | None) -> list[str]:
    T = group[0][1]["t"][-1]
    share = at_end(group, "exploring").sum() / max(at_end(group, "regret").sum(), 1e-12)
    growth = written(slope(group, "regret", "t", T / _DECADE, T), 2)
    end = [f"{T:g}", written(band_at_end(group, "regret")), growth]
    found = f"{100 * at_end(group, 'found').mean():.0f} %"
    return [label(name), *([written(shared)] if shared else []), *end, f"{100 * share:.0f} %", found]


def _growth(exponent: Band, found: float) -> str:
    """Describe the growth of the regret, and whether some or all seeds exceed sqrt(T)."""
    said = f"Its total regret grows like T^{exponent.middle:.2f}"
    if exponent.high < 0.5 + _TOLERANCE:
        return f"{said}."
    some = exponent.middle < 0.5 + _TOLERANCE
    how = ", but for some seeds faster than sqrt(T)" if some else ", faster than sqrt(T)"
    return f"{said}{how}; at T it has found {100 * found:.0f} % of the support."


def _agreement(root: bool, exponent: Band) -> Agreement:
    """Return whether the order sqrt(T) is confirmed: in the cost of exploration and in the regret of all seeds."""
    if root and exponent.middle < 0.5 + _TOLERANCE < exponent.high:
        return Agreement.UNDECIDED
    return Agreement.where(root and exponent.middle < 0.5 + _TOLERANCE)


def _split(learners: "dict[str, Group]") -> Figure:
    """Draw the regret of DS-OSLRC in exploring and in other rounds, with a line of order sqrt(T) through the end of the
    former.
    """
    lines, x = [], np.empty(0)
    for how, group in learners.items():
        whole, explored = curve_of(group, "regret"), curve_of(group, "exploring")
        x = whole.x
        for name, y in (("exploring rounds", explored.y), ("the others", whole.y - explored.y)):
            lines.append(Curve(f"{how}: {name}", np.where(y > _DRAWN, y, np.nan)))
    end = float(np.nanmax(lines[0].y[-1:]))
    lines.append(Curve("sqrt(T)", end * np.sqrt(x / x[-1])))
    return curves("What the regret of DS-OSLRC is made of", x, lines, "T", "regret")


def _least(groups: "dict[str, Group]", order: Sequence[str], T: float) -> str:
    """Name the learner with the least regret, except the oracle; two if the seeds do not decide."""
    first, second = [name for name in order if name != "oracle-support"][:2]
    if paired(groups[second], groups[first], "regret", T).called() == "more":
        return f"{first} has the least regret"
    return f"{first} and {second} have the least regret (which of them has less is undecided with these seeds)"
