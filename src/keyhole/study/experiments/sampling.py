"""The error with uniform sampling over that with the paper's, seed by seed."""

from collections.abc import Sequence

import numpy as np

from ...figures import bars
from ..finding import Finding
from ..reading import at_end, band_at_end, by, written
from ..summing import Band
from ..tracing import Part, Trace

# Ratios nearer to one than this are called the same.
_CLOSE = 0.05


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
        f"With uniform sampling the error of DS-OSLRC is {best['ds-oslrc']:.2f} times that with the paper's sampling "
        f"(median over d and seeds), which is {_called(best['ds-oslrc'])}, and that of DS-POSLRC "
        f"{best['ds-poslrc']:.2f} times"
        + (
            ": there w_hat is mostly 0 outside its support, and the first draw is then uniform anyway."
            if abs(best["ds-poslrc"] - 1) <= _CLOSE
            else "."
        )
    )
    values = np.array([b.middle for b in ratios.values()])
    low, high = np.array([b.low for b in ratios.values()]), np.array([b.high for b in ratios.values()])
    figure = bars("Error with uniform over error with the paper's sampling", list(ratios), values, "ratio", low, high)
    head = ["", "error, paper's", "error, uniform", "ratio"]
    return Finding(verdict, best["ds-oslrc"] > 1 + _CLOSE, head, rows, [figure])


def _called(ratio: float) -> str:
    return "a gain" if ratio > 1 + _CLOSE else "a loss" if ratio < 1 - _CLOSE else "no difference to speak of"


def _median(ratios: dict[str, Band], learner: str) -> float:
    return float(np.median([band.middle for name, band in ratios.items() if name.startswith(learner)]))
