"""The error with uniform sampling over that with the paper's, seed by seed."""

from collections.abc import Sequence

import numpy as np

from ...figures import bars
from ..finding import Finding
from ..reading import at_end, band_at_end, by, written
from ..summing import Band
from ..tracing import Part, Trace


def judge(results: "Sequence[tuple[Part, Trace]]") -> Finding:
    """Ratios above one: the paper's sampling is better."""
    groups, rows, ratios = by(results, "algorithm", "d"), [], {}
    for (algorithm, d), group in groups.items():
        if "paper" not in str(algorithm):
            continue
        other = groups[str(algorithm).replace("paper", "uniform"), d]
        ratio = Band.of((at_end(other, "error") / at_end(group, "error")).tolist())
        name = f"{str(algorithm).partition('[')[0]}, d = {d}"
        ratios[name] = ratio
        errors = [written(band_at_end(g, "error")) for g in (group, other)]
        rows.append([name, *errors, written(ratio)])
    best = {learner: _median(ratios, learner) for learner in ("ds-oslrc", "ds-poslrc")}
    verdict = (
        f"With the paper's sampling the error of DS-OSLRC is {best['ds-oslrc']:.2f} times smaller than with uniform "
        f"sampling (median over d and seeds) and that of DS-POSLRC {best['ds-poslrc']:.2f} times"
        + (
            ": there w_hat is mostly 0 outside its support, and the first draw is then uniform anyway."
            if abs(best["ds-poslrc"] - 1) < 0.1
            else "."
        )
    )
    values = np.array([b.middle for b in ratios.values()])
    low, high = np.array([b.low for b in ratios.values()]), np.array([b.high for b in ratios.values()])
    figure = bars("Error with uniform over error with the paper's sampling", list(ratios), values, "ratio", low, high)
    head = ["", "error, paper's", "error, uniform", "ratio"]
    return Finding(verdict, best["ds-oslrc"] > 1, head, rows, [figure])


def _median(ratios: dict[str, Band], learner: str) -> float:
    return float(np.median([band.middle for name, band in ratios.items() if name.startswith(learner)]))
