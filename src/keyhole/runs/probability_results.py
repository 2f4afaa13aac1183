"""What a run with yes/no labels says of its probabilities: ranking, Brier score, log loss, reliability."""

from pathlib import Path

import numpy as np
import pyarrow.parquet as pq

from ..simulation import scoring as scores

__all__ = ["probability_results"]

_BINS = 10


def probability_results(rounds: Path) -> dict[str, object]:
    """AUC, Brier score, log loss and bins of the predictions in a run's rounds.parquet."""
    table = pq.read_table(rounds, columns=["prediction", "label"])
    label = table["label"].to_numpy().astype(np.float64)
    y, p = scores.require_binary(label, table["prediction"].to_numpy().astype(np.float64))
    bins = scores.reliability(y, p, _BINS)
    return {
        "auc": scores.auc(y, p),
        "brier": float(((y - p) ** 2).mean()) if y.size else float("nan"),
        "log_loss": scores.log_loss(y, p),
        "reliability": {name: getattr(bins, name).tolist() for name in bins._fields},
    }
