"""Comparison with k0 further attributes: regret by k0, and the effect of how often the estimate is solved."""

from collections.abc import Mapping, Sequence

import numpy as np

from ...figures import Curve, curves
from ..study import Agreement, Finding
from ..trace_job import Part, Trace
from ..traces import Group, Ratio, band_at_end, by, compared, exponent, label, microseconds, paired, slope, written

_OURS, _POWERS = "ds-poslrc[solve=every]", "ds-poslrc[solve=powers]"
_DECADE = 10.0
_PROVED = {
    "ds-poslrc": "(d/k0) (d/k0 + ln T) ln(dT)",
    "ito2017-1": "(d/k0) sqrt(T)",
    "kale2017-dantzig": "(d/k0)^3 ln(T) ln(dT)",
    "foster2016": "(d/k0)^2 sqrt(T)",
}
# The algorithms whose bounds the paper's Table 2 lists beside that of DS-POSLRC.
_TABLE = ("ito2017-1", "kale2017-dantzig", "foster2016")


def judge(results: "Sequence[tuple[Part, Trace]]") -> Finding:
    """Return the finding on Table 2: the regret by learner and k0, with differences tested seed by seed."""
    d = _crossing(results)
    usual = [pair for pair in results if pair[0].d == d]
    groups = {(str(name), int(str(k0))): group for (name, k0), group in by(usual, "algorithm", "k0").items()}
    extras = sorted({k0 for _, k0 in groups})
    shared = extras[len(extras) // 2]
    names = list(dict.fromkeys(name for name, _ in groups))
    ends = {name: [band_at_end(groups[name, k0], "regret") for k0 in extras] for name in names}
    lines = [Curve(label(name), *(np.array([b[i] for b in bands]) for i in range(3))) for name, bands in ends.items()]
    T = usual[0][1]["t"][-1]
    x = np.array(extras, dtype=np.float64)
    figure = curves(f"Regret at T = {T:g} against k0", x, lines, "k0", "regret", log=True)
    rows = []
    for name, bands in ends.items():
        mine = [pair for pair in results if pair[0].algorithm == name]
        along_d = [pair for pair in mine if pair[0].k0 == shared]
        grows = (
            slope(groups[name, shared], "regret", "t", T / _DECADE, T),
            exponent(along_d, "d"),
            exponent([pair for pair in mine if pair[0].d == d], "k0"),
        )
        time = [written(microseconds(groups[name, shared])), written(exponent(along_d, "d", "seconds"), 2)]
        proved = _PROVED.get(name.partition("[")[0], "-")
        rows.append([label(name), *(written(b) for b in bands), *(written(b, 2) for b in grows), proved, *time])
    rivals = {
        (n, k0): paired(groups[n, k0], groups[_OURS, k0], "regret") for n in _TABLE if n in names for k0 in extras
    }
    least = [min(names, key=lambda name: ends[name][i].middle) for i in range(len(extras))]
    powers = Ratio.of([r for k0 in extras for r in paired(groups[_POWERS, k0], groups[_OURS, k0], "regret").each])
    verdict = (
        f"{_listed(least, extras)}. {_against(rivals)} Solving only at powers of two gives "
        f"{powers.band.middle:.2f} times the regret of solving every round (median over k0 and seeds; 95 % confidence "
        f"interval {powers.low:.2f} to {powers.high:.2f}). {_with_extras(groups, extras)}"
    )
    head = [
        *("algorithm", *(f"regret, k0 = {k0}" for k0 in extras)),
        *("T-exponent, last decade", "d-exponent", "k0-exponent", "proved", "us a round", "its d-exponent"),
    ]
    return Finding(verdict, _agreements(rivals), head, rows, [figure])


def _crossing(results: "Sequence[tuple[Part, Trace]]") -> int:
    """Return the d at which k0 takes the most values."""
    values: dict[int, set[int]] = {}
    for part, _ in results:
        values.setdefault(part.d, set()).add(part.k0)
    return max(values, key=lambda d: len(values[d]))


def _agreements(rivals: "Mapping[tuple[str, int], Ratio]") -> dict[str, Agreement]:
    """Return whether Table 2 is confirmed against each learner: yes if DS-POSLRC surely has less regret for every k0,
    no if there is a sure exception.
    """
    called: dict[str, set[str]] = {}
    for (name, _), ratio in rivals.items():
        called.setdefault(name, set()).add(ratio.called())
    return {
        f"against {name}": Agreement.where(False if "less" in found else True if found == {"more"} else None)
        for name, found in called.items()
    }


def _against(rivals: "Mapping[tuple[str, int], Ratio]") -> str:
    """Describe the other learners: those with larger regret, with smaller regret, and those for which the seeds do not
    decide.
    """
    where: dict[tuple[str, str], list[str]] = {}
    for (name, k0), ratio in rivals.items():
        where.setdefault((name, ratio.called()), []).append(str(k0))
    calls = {f"{name} (k0 = {', '.join(at)})": call for (name, call), at in where.items()}
    return f"DS-POSLRC, solving every round, {compared(calls)}."


def _with_extras(groups: "Mapping[tuple[str, int], Group]", extras: Sequence[int]) -> str:
    falls = paired(groups[_OURS, extras[-1]], groups[_OURS, extras[0]], "regret")
    how = {"less": "lower", "more": "raise"}.get(falls.called(), "may or may not lower")
    return (
        f"More extras {how} its regret: at k0 = {extras[-1]} it is {falls.band.middle:.2g} times that at "
        f"k0 = {extras[0]}."
    )


def _listed(least: Sequence[str], extras: Sequence[int]) -> str:
    if len(set(least)) == 1:
        return f"{least[0]} has the least regret at every k0"
    at = ", ".join(f"{name} at k0 = {k0}" for name, k0 in zip(least, extras, strict=True))
    return f"The least regret: {at}"
