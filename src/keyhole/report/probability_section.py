"""The section of a report on the quality of predicted probabilities, for yes/no labels."""

from collections.abc import Mapping, Sequence

import numpy as np

from .._internal.formatting import digits
from ..figures import Curve, Figure, curves
from ..simulation.scoring import ProbabilityScores
from .page import Section

__all__ = ["probability_cells", "probability_section", "reliability_figure"]

_HOW = (
    "Calibrated probabilities lie on the diagonal: of the rows with a predicted probability of about 0.3, 30 % have "
    "the label 1. The band is two standard errors either side."
)


def reliability_figure(found: Mapping[str, Sequence[float]]) -> Figure:
    """Return a chart of the observed share of ones against the predicted probability."""
    p, share = np.array(found["predicted"]), np.array(found["observed"])
    error = 2.0 * np.array(found["standard_error"])
    lines = [Curve("observed", share, share - error, share + error), Curve("calibrated", p)]
    return curves("Reliability", p, lines, "predicted probability", "observed share of ones", cumulative=True)


def probability_cells(found: ProbabilityScores | None) -> list[str]:
    """Return AUC, Brier score and log loss as table cells."""
    return ["-"] * 3 if found is None else [digits(found["auc"]), digits(found["brier"]), digits(found["log_loss"])]


def probability_section(found: ProbabilityScores | None, title: str = "Probabilities") -> list[Section]:
    """Return the section as a list, empty if the labels are not yes or no."""
    if not found:
        return []
    words = [
        f"AUC {digits(found['auc'])}, Brier score {digits(found['brier'])}, log loss {digits(found['log_loss'])}, "
        "each of predictions that were made without knowing their label."
    ]
    return [Section(title, texts=words, figures=[reliability_figure(found["reliability"])], notes=[_HOW])]
