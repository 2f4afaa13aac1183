"""The ratio of the error with uniform sampling to that with the paper's sampling, seed by seed."""

from collections.abc import Sequence

import numpy as np

from ...figures import bars
from ..study import Agreement, Finding
from ..trace_job import Part, Trace
from ..traces import Ratio, band_at_end, by, label, paired, written

# Ratios that are surely closer to one than this count as equal.
_CLOSE = 0.05
_CALLED = {
    "more": "a gain",
    "less": "a loss",
    "same": "no better and no worse",
    "open": "undecided with these seeds",
}


def judge(results: "Sequence[tuple[Part, Trace]]") -> Finding:
    """Return the finding on the ratios of the errors; if a ratio is above one, the paper's sampling is better."""
    groups, rows, ratios = by(results, "algorithm", "d"), [], {}
    for (algorithm, d), group in groups.items():
        if "paper" not in str(algorithm):
            continue
        other = groups[str(algorithm).replace("paper", "uniform"), d]
        name = f"{label(str(algorithm).partition('[')[0])}, d = {d}"
        ratio = ratios[name] = paired(other, group, "error")
        errors = [written(band_at_end(g, "error")) for g in (group, other)]
        rows.append([name, *errors, written(ratio.band), _CALLED[ratio.called(_CLOSE)]])
    oslr, poslr = (_together(ratios, learner) for learner in ("ds-oslrc[", "ds-poslrc["))
    verdict = (
        f"With uniform sampling, DS-OSLRC's error is {oslr.band.middle:.2f} times as large as with the paper's "
        f"sampling (95 % confidence interval {oslr.low:.2f} to {oslr.high:.2f}): {_said(oslr)}. DS-POSLRC's error is "
        f"{poslr.band.middle:.2f} times as large (95 % confidence interval {poslr.low:.2f} to {poslr.high:.2f}): "
        f"{_said(poslr)}. Both numbers are medians over d and seeds."
    )
    bands = [ratio.band for ratio in ratios.values()]
    middle, low, high = (np.array([band[i] for band in bands]) for i in range(3))
    figure = bars("Error with uniform over error with the paper's sampling", list(ratios), middle, "ratio", low, high)
    head = ["", "error, paper's", "error, uniform", "ratio", "the paper's sampling is"]
    agrees = {"for DS-OSLRC": _agreement(oslr), "for DS-POSLRC": _agreement(poslr)}
    return Finding(verdict, agrees, head, rows, [figure])


def _together(ratios: dict[str, Ratio], learner: str) -> Ratio:
    """Return the ratios of a learner over all d; the ends of the interval are those printed, so that a verdict needs
    the printed interval to exclude one.
    """
    found = Ratio.of([r for name, ratio in ratios.items() if name.startswith(learner) for r in ratio.each])
    return found._replace(low=round(found.low, 2), high=round(found.high, 2))


def _agreement(ratio: Ratio) -> Agreement:
    called = ratio.called(_CLOSE)
    return Agreement.where(None if called == "open" else called == "more")


def _said(ratio: Ratio) -> str:
    called = ratio.called(_CLOSE)
    return _CALLED[called] if called == "open" else f"the paper's sampling is {_CALLED[called]}"
