"""summary.json: what came out of a run, in numbers that are the same whenever and however it was run."""

import json
from pathlib import Path

import numpy as np
import pyarrow.compute as pc
import pyarrow.parquet as pq

from .._types import Floats
from ..files import write_atomically
from ..protocol import Learner, Plain
from .running import Run
from .settings import Settings
from .tally import Tally

__all__ = ["write_summary"]


def write_summary(run: Run, settings: Settings) -> None:
    """Write `summary.json` into the run's folder."""
    totals = _totals(run.folder.path / "rounds.parquet", run.tally.rows)
    facts: dict[str, object] = {
        "title": settings.title,
        "file": Path(settings.file).name,
        "target": run.view.schema.target,
        "algorithm": settings.learner["name"],
        "learner": settings.learner,
        "k": run.learner.k,
        "k0": run.learner.k0,
        "d": run.learner.d,
        "spend": settings.spend,
        "abandoned": run.tally.abandoned,
        "attributes_per_row": float(run.tally.bought.sum()) / max(run.tally.rows, 1),
        "price_per_row": run.tally.spent / max(run.tally.rows, 1),
        "spent": run.tally.spent,
        "attributes": _attributes(run.tally, run.learner),
        "support": [run.learner.names[i] for i in run.learner.support],
        "references": {name: line._asdict() for name, line in run.references.lines().items()},
        "warnings": _warnings(run.tally, settings.clip),
        "constant": run.tally.constant,
        "command": settings.command,
    }
    write_atomically(run.folder.file("summary.json"), (json.dumps(totals | facts, indent=1) + "\n").encode())


def _totals(rounds: Path, rows: int) -> dict[str, object]:
    """Means over what was written down, one row group at a time."""
    total, labelled, explored, last, last_labelled = 0.0, 0, 0, 0.0, 0
    with pq.ParquetFile(rounds) as file:
        for group in range(file.num_row_groups):
            table = file.read_row_group(group, columns=["row", "explored", "loss"])
            losses, row = np.asarray(table["loss"]), np.asarray(table["row"])
            late = losses[row > 0.9 * rows]
            total, labelled = total + float(np.nansum(losses)), labelled + _count(losses)
            last, last_labelled = last + float(np.nansum(late)), last_labelled + _count(late)
            explored += int(pc.sum(table["explored"]).as_py() or 0)
    mse, mse_last = total / max(labelled, 1), last / max(last_labelled, 1)
    return {"rows": rows, "labelled": labelled, "explored": explored, "mse": mse, "mse_last_tenth": mse_last}


def _count(losses: Floats) -> int:
    return int((~np.isnan(losses)).sum())


def _attributes(tally: Tally, learner: Learner) -> dict[str, Plain]:
    """What became of each attribute, the most bought first."""
    order = np.argsort(-tally.bought, kind="stable")
    clipped, weights = tally.clips.outside, learner.weights
    return {
        tally.names[i]: {
            "bought": int(tally.bought[i]),
            "unobserved": int(tally.unobserved[i]),
            "clipped": int(clipped[i]),
            "price": float(tally.prices[i]),
            "spent": float(tally.bought[i] * tally.prices[i]),
            "weight": float(weights[i]),
        }
        for i in order
    }


def _warnings(tally: Tally, clip: bool) -> list[str]:
    """Everything a reader should know, each a sentence."""
    found = tally.messages.splitlines() + tally.missing + (tally.clips.report() if clip else [])
    if tally.constant:
        found.append(f"constant so far: {', '.join(tally.constant)}")
    if tally.abandoned:
        found.append(f"{tally.abandoned} of {tally.rows} rows had no label: abandoned, in no mean")
    return found
