"""Growth of the regret of the bandit over supports with T and with N = C(d, k)."""

from collections.abc import Sequence
from math import comb

import numpy as np

from ...figures import Curve, curves
from ..aggregate import Band
from ..study import Agreement, Finding
from ..trace_job import Part, Trace
from ..traces import Group, band_at_end, by, curve_of, microseconds, slope, written

_DECADE = 10.0
# A power is confirmed if the fitted exponent is at most this much larger.
_TOLERANCE = 0.1
_LINEAR = 0.9
_NAMES = {"hedged-ftrl": "hedged FTRL", "batched-exp3": "batched Exp3"}
_PROVED = {"hedged-ftrl": (0.5, 0.5), "batched-exp3": (1 / 3, 2 / 3)}


def judge(results: "Sequence[tuple[Part, Trace]]") -> Finding:
    """Return the finding on how the regret of the bandit grows: the exponents in N at the end and in T over the last
    decade, beside the proved ones.
    """
    rows, lines, found, x = [], [], {}, np.empty(0)
    widest = max(part.d for part, _ in results)
    for (algorithm,), group in by(results, "algorithm").items():
        last = [p for p in group if p[0].d == widest]
        T = last[0][1]["t"][-1]
        in_T, in_N = slope(last, "regret", "t", T / _DECADE, T), _in_N(group)
        master = next((name for name in _PROVED if name in str(algorithm)), None)
        if master:
            found[master] = (in_N, in_T)
        proved = "N^{:.2g} T^{:.2g}".format(*_PROVED[master]) if master else "-"
        rows.append(
            [
                str(algorithm),
                written(band_at_end(last, "regret")),
                written(in_N, 2),
                written(in_T, 2),
                proved,
                written(microseconds(last)),
            ]
        )
        c = curve_of(last, "regret")
        x = c.x
        lines.append(Curve(str(algorithm), c.y, c.low, c.high))
    N = comb(widest, results[0][0].k)
    head = ["algorithm", f"regret at T, N = {N}", "N-exponent", "T-exponent, last decade", "proved", "us a round"]
    holds = {name: _within(found[name][1], _PROVED[name][1]) for name in found}
    said = ", and ".join(
        f"like N^{in_N.middle:.2f} T^{in_T.middle:.2f} with {_NAMES[name]}, "
        f"{'no faster than' if holds[name] else 'faster than'} the proved T^{_PROVED[name][1]:.2g}"
        for name, (in_N, in_T) in found.items()
    )
    verdict = f"At these T the regret grows {said}."
    if any(in_T.middle > _LINEAR for _, in_T in found.values()):
        verdict += " A T-exponent near 1 means that the bandit still plays nearly all supports equally often."
    figure = curves(f"Regret of the bandit, N = {N}", x, lines, "T", "regret")
    agrees = {f"for {_NAMES[name]}": Agreement.where(found) for name, found in holds.items()}
    return Finding(verdict, agrees, head, rows, [figure])


def _within(exponent: Band, proved: float) -> bool:
    return bool(exponent.middle <= proved + _TOLERANCE)


def _in_N(group: Group) -> Band:
    """Return d ln regret / d ln N at the end, per seed."""
    ends: dict[int, dict[float, float]] = {}
    for part, found in group:
        ends.setdefault(part.seed, {})[float(comb(part.d, part.k))] = found["regret"][-1]
    fitted = [
        float(np.polyfit(np.log(list(cells)), np.log(list(cells.values())), 1)[0])
        for cells in ends.values()
        if len(cells) > 1 and min(cells.values()) > 0
    ]
    return Band.of(fitted)
