"""Comparison of support-bandit and thrifty where the paper's algorithms do not apply."""

from collections.abc import Iterable, Sequence

import numpy as np

from ...figures import Curve, curves
from ..study import Agreement, Finding
from ..trace_job import Part, Trace
from ..traces import band_at_end, by, label, paired, written


def judge(results: "Sequence[tuple[Part, Trace]]") -> Finding:
    """Return the finding on the regret at T for each k."""
    groups = by(results, "algorithm", "k")
    sizes = sorted({int(str(key[1])) for key in groups})
    names = list(dict.fromkeys(str(key[0]) for key in groups))
    ends = {name: [band_at_end(groups[name, k], "regret") for k in sizes] for name in names}
    lines = [Curve(label(name), *(np.array([b[i] for b in bands]) for i in range(3))) for name, bands in ends.items()]
    T, d = results[0][1]["t"][-1], results[0][0].d
    x = np.array(sizes, dtype=np.float64)
    figure = curves(f"Regret at T = {T:g}, d = {d}", x, lines, "k", "regret", log=True)
    ratios = {k: paired(groups["support-bandit", k], groups["thrifty", k], "regret") for k in sizes}
    said = ", ".join(f"{ratio.band.middle:.3g} (k = {k})" for k, ratio in ratios.items())
    better = _at(k for k, ratio in ratios.items() if ratio.called() == "less") or "at no k here"
    undecided = _at(k for k, ratio in ratios.items() if ratio.called() == "open")
    verdict = (
        f"The bandit over supports has {said} times the regret of thrifty after {T:g} rounds. It is the better choice "
        f"{better}{f'; {undecided} the seeds do not decide' if undecided else ''}."
    )
    head = ["algorithm", *(f"regret, k = {k}" for k in sizes)]
    rows = [[label(name), *(written(b) for b in bands)] for name, bands in ends.items()]
    return Finding(verdict, {"": Agreement.NOTHING}, head, rows, [figure])


def _at(sizes: Iterable[int]) -> str:
    listed = ", ".join(map(str, sizes))
    return f"at k = {listed}" if listed else ""
