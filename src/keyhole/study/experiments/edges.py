"""support-bandit against thrifty where the paper's algorithms do not apply."""

from collections.abc import Sequence

import numpy as np

from ...figures import Curve, curves
from ..finding import Finding
from ..reading import band_at_end, by, written
from ..tracing import Part, Trace


def judge(results: "Sequence[tuple[Part, Trace]]") -> Finding:
    """Regret at T for each k."""
    groups = by(results, "algorithm", "k")
    sizes = sorted({int(str(key[1])) for key in groups})
    names = list(dict.fromkeys(str(key[0]) for key in groups))
    ends = {name: [band_at_end(groups[name, k], "regret") for k in sizes] for name in names}
    lines = [Curve(name, *(np.array([b[i] for b in bands]) for i in range(3))) for name, bands in ends.items()]
    T, d = results[0][1]["t"][-1], results[0][0].d
    figure = curves(f"Regret at T = {T:g}, d = {d}", np.array(sizes, dtype=np.float64), lines, "k", "regret")
    ratios = [b.middle / t.middle for b, t in zip(ends["support-bandit"], ends["thrifty"], strict=True)]
    better = [k for k, ratio in zip(sizes, ratios, strict=True) if ratio < 1]
    said = ", ".join(f"{ratio:.3g} (k = {k})" for k, ratio in zip(sizes, ratios, strict=True))
    verdict = f"The bandit over supports has {said} times the regret of thrifty after {T:g} rounds: it " + (
        f"is the better choice at k = {', '.join(map(str, better))}."
        if better
        else "is the better choice at no k here."
    )
    head = ["algorithm", *(f"regret, k = {k}" for k in sizes)]
    return Finding(
        verdict, None, head, [[name, *(written(b) for b in bands)] for name, bands in ends.items()], [figure]
    )
