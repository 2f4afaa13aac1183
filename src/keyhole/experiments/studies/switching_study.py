"""Regret when the distribution of the rows changes: which learner has the smallest, and from which T."""

from collections.abc import Sequence

import numpy as np

from ...figures import Curve, curves
from ..study import Agreement, Finding
from ..trace_job import Part, Trace
from ..traces import band_at_end, by, curve_of, enumeration, label, written


def judge(results: "Sequence[tuple[Part, Trace]]") -> Finding:
    """Return the finding on the regret by learner and distribution; the figure shows the fastest switching."""
    groups = by(results, "algorithm", "design")
    designs = list(dict.fromkeys(str(key[1]) for key in groups))
    names = list(dict.fromkeys(str(key[0]) for key in groups))
    rows = [
        [label(name), *(written(band_at_end(groups[name, design], "regret")) for design in designs)] for name in names
    ]
    figures = []
    won: dict[str, list[str]] = {}
    for design in designs:
        lines = {name: curve_of(groups[name, design], "regret") for name in names}
        x = next(iter(lines.values())).x
        drawn = [Curve(label(name), c.y, c.low, c.high) for name, c in lines.items()]
        figures.append(curves(f"Regret, {design}", x, drawn, "T", "regret"))
        rivals = [name for name in names if name != "oracle-support"]
        winner = min(rivals, key=lambda name: lines[name].y[-1])
        ahead = np.min([lines[name].y - lines[winner].y for name in rivals if name != winner], axis=0) > 0
        since = x[-1] if not ahead[-1] else x[len(ahead) - int(np.argmin(ahead[::-1])) if not ahead.all() else 0]
        won.setdefault(winner, []).append(f"{design} (from T = {since:g} on)")
    said = "; ".join(f"{winner} has the least regret on {enumeration(where)}" for winner, where in won.items())
    verdict = f"At T = {x[-1]:g}, apart from the oracle, {said}."
    return Finding(verdict, {"": Agreement.NOTHING}, ["algorithm", *designs], rows, figures)
