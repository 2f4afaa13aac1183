"""The league with k0 further attributes, regret against k0, and how often to solve."""

from collections.abc import Sequence

import numpy as np

from ...figures import Curve, curves
from ..finding import Finding
from ..reading import band_at_end, by, written
from ..tracing import Part, Trace


def judge(results: "Sequence[tuple[Part, Trace]]") -> Finding:
    """One line per learner, one column per k0."""
    groups = by(results, "algorithm", "k0")
    extras = sorted({int(str(key[1])) for key in groups})
    names = list(dict.fromkeys(str(key[0]) for key in groups))
    ends = {name: [band_at_end(groups[name, k0], "regret") for k0 in extras] for name in names}
    lines = [
        Curve(
            name,
            np.array([b.middle for b in bands]),
            np.array([b.low for b in bands]),
            np.array([b.high for b in bands]),
        )
        for name, bands in ends.items()
    ]
    T = results[0][1]["t"][-1]
    figure = curves(f"Regret at T = {T:g} against k0", np.array(extras, dtype=np.float64), lines, "k0", "regret")
    rows = [[name, *(written(b) for b in bands)] for name, bands in ends.items()]
    middle = {name: bands[len(bands) // 2].middle for name, bands in ends.items()}
    order = sorted(middle, key=lambda name: middle[name])
    every, powers = middle["ds-poslrc[solve=every]"], middle["ds-poslrc[solve=powers]"]
    ours = min(v for name, v in middle.items() if name.startswith("ds-poslrc"))
    before = {n: middle[n] for n in ("ito2017-1", "kale2017-dantzig", "foster2016") if n in middle}
    beaten = [name for name, value in before.items() if ours < value]
    falls = all(bands[-1].middle < bands[0].middle for name, bands in ends.items() if name.startswith("ds-poslrc"))
    verdict = (
        f"At k0 = {extras[len(extras) // 2]} the least regret has {order[0]}, then {order[1]}; DS-POSLRC has less than "
        f"{', '.join(beaten) or 'none'} of the three it is compared with in Table 2. Solving at powers of two costs "
        f"{powers / every:.2f} times the regret of solving every round. More extras "
        f"{'lower' if falls else 'do not always lower'} DS-POSLRC's regret."
    )
    head = ["algorithm", *(f"regret, k0 = {k0}" for k0 in extras)]
    return Finding(verdict, len(beaten) == len(before), head, rows, [figure])
