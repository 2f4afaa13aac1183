"""The league with k0 further attributes, regret against k0, and how often to solve."""

from collections.abc import Mapping, Sequence

import numpy as np

from ...figures import Curve, curves
from ..finding import Agreement, Finding
from ..trace_job import Part, Trace
from ..traces import Group, Ratio, band_at_end, by, label, paired, written

_OURS, _POWERS = "ds-poslrc[solve=every]", "ds-poslrc[solve=powers]"
# Whose bounds stand beside that of DS-POSLRC in the paper's Table 2.
_TABLE = ("ito2017-1", "kale2017-dantzig", "foster2016")


def judge(results: "Sequence[tuple[Part, Trace]]") -> Finding:
    """One line per learner, one column per k0; who is ahead is asked seed by seed."""
    groups = {(str(name), int(str(k0))): group for (name, k0), group in by(results, "algorithm", "k0").items()}
    extras = sorted({k0 for _, k0 in groups})
    names = list(dict.fromkeys(name for name, _ in groups))
    ends = {name: [band_at_end(groups[name, k0], "regret") for k0 in extras] for name in names}
    lines = [Curve(label(name), *(np.array([b[i] for b in bands]) for i in range(3))) for name, bands in ends.items()]
    T = results[0][1]["t"][-1]
    x = np.array(extras, dtype=np.float64)
    figure = curves(f"Regret at T = {T:g} against k0", x, lines, "k0", "regret", log=True)
    rows = [[label(name), *(written(b) for b in bands)] for name, bands in ends.items()]
    rivals = {
        (n, k0): paired(groups[n, k0], groups[_OURS, k0], "regret") for n in _TABLE if n in names for k0 in extras
    }
    least = [min(names, key=lambda name: ends[name][i].middle) for i in range(len(extras))]
    powers = Ratio.of([r for k0 in extras for r in paired(groups[_POWERS, k0], groups[_OURS, k0], "regret").each])
    verdict = (
        f"The least regret has {_listed(least, extras)}. {_against(rivals)} Solving at powers of two has "
        f"{powers.band.middle:.2f} times the regret of solving every round (median over k0 and seeds, for 95 % sure "
        f"between {powers.low:.2f} and {powers.high:.2f}). {_with_extras(groups, extras)}"
    )
    head = ["algorithm", *(f"regret, k0 = {k0}" for k0 in extras)]
    return Finding(verdict, _agreement(rivals), head, rows, [figure])


def _agreement(rivals: "Mapping[tuple[str, int], Ratio]") -> Agreement:
    """Table 2 puts DS-POSLRC below all three: seen where it surely is, for every k0; one sure exception is enough."""
    called = {ratio.called() for ratio in rivals.values()}
    if "less" in called:
        return Agreement.NOT_SEEN
    return Agreement.SEEN if called == {"more"} else Agreement.UNDECIDED


def _against(rivals: "Mapping[tuple[str, int], Ratio]") -> str:
    """Less than whom, more than whom, and where the seeds do not decide."""
    words = {"more": "less regret than", "less": "more regret than", "open": "neither for sure beside"}
    said = []
    for call, word in words.items():
        where: dict[str, list[str]] = {}
        for (name, k0), ratio in rivals.items():
            if ratio.called() == call:
                where.setdefault(name, []).append(str(k0))
        if where:
            said.append(f"{word} " + ", ".join(f"{name} (k0 = {', '.join(at)})" for name, at in where.items()))
    return f"DS-POSLRC, solving every round, has {'; '.join(said)}."


def _with_extras(groups: "Mapping[tuple[str, int], Group]", extras: Sequence[int]) -> str:
    falls = paired(groups[_OURS, extras[-1]], groups[_OURS, extras[0]], "regret")
    how = {"less": "lower", "more": "raise"}.get(falls.called(), "may or may not lower")
    return f"More extras {how} its regret: {falls.band.middle:.2g} times at k0 = {extras[-1]} that at {extras[0]}."


def _listed(least: Sequence[str], extras: Sequence[int]) -> str:
    if len(set(least)) == 1:
        return f"{least[0]} at every k0"
    return ", ".join(f"{name} at k0 = {k0}" for name, k0 in zip(least, extras, strict=True))
