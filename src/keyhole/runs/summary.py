"""The results of a run in summary.json, reproducible whenever and however it was run."""

from collections.abc import Mapping
from math import isfinite, nan
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow.parquet as pq

from .._internal.atomic_io import write_json
from ..core.learner import Learner, Plain
from ..simulation.scoring import ProbabilityScores, score
from .baselines import Line
from .results import RunData
from .run_config import Settings
from .runner import Run
from .totals import Totals

__all__ = ["sources_of", "write_summary"]

_KEPT = ("adds", "fair_price", "probability", "reason")


def sources_of(totals: Totals, learner: Learner) -> dict[str, Plain]:
    """Return the spending on each source, in descending order, with the learner's explanation of it."""
    catalog, support = totals.catalog, set(learner.support.tolist())
    explain = getattr(learner, "explain", None)
    said: Mapping[str, dict[str, Plain]] = {e.name: _kept(e) for e in explain()} if explain else {}
    facts: dict[str, Plain] = {}
    spent = np.array([totals.bought[m[0]] * p for m, p in zip(catalog.members, catalog.prices, strict=True)])
    for s in np.argsort(-spent, kind="stable"):
        name, brings = catalog.sources[s], catalog.members[s]
        facts[name] = {
            "attributes": [catalog.names[j] for j in brings],
            "bought": int(totals.bought[brings[0]]),
            "price": float(catalog.prices[s]),
            "spent": float(spent[s]),
            "in_support": bool(support.intersection(brings.tolist())),
            **said.get(name, {}),
        }
    return facts


def _kept(said: object) -> dict[str, Plain]:
    """Return the fields of an explanation that JSON can hold; missing and non-finite values are omitted."""
    found = {key: getattr(said, key, nan) for key in _KEPT}
    return {key: value for key, value in found.items() if not isinstance(value, float) or isfinite(value)}


def write_summary(run: Run, settings: Settings, data: RunData) -> None:
    """Write `summary.json` into the run folder, and store it in the data."""
    lines = run.baselines.lines(run.totals.ordered / max(run.totals.rows, 1))
    warned = _warnings(run.totals, settings.clip)
    facts: dict[str, object] = {
        "title": settings.title,
        "file": Path(settings.file).name,
        "target": run.scaling.schema.target,
        "algorithm": settings.learner["name"],
        "learner": settings.learner,
        "k": run.learner.k,
        "k0": run.learner.k0,
        "d": run.learner.d,
        "budget_per_row": settings.budget_per_row,
        "error_cost": settings.error_cost,
        "currency": run.scaling.schema.currency,
        "unit": run.scaling.schema.unit,
        "free": list(run.scaling.schema.free),
        "panels": not run.totals.catalog.plain,
        "past_rows": run.learner.n_past_rows,
        "abandoned": run.totals.abandoned,
        "attributes_per_row": float(run.totals.bought.sum()) / max(run.totals.rows, 1),
        "sources_per_row": run.totals.ordered / max(run.totals.rows, 1),
        "price_per_row": run.totals.spent / max(run.totals.rows, 1),
        "spent": run.totals.spent,
        "attributes": _attributes(run.totals, run.learner),
        "sources": sources_of(run.totals, run.learner),
        "basket": data.bought_now(run.totals.catalog, run.learner.support.tolist()),
        "support": [run.learner.names[i] for i in run.learner.support],
        "baselines": {name: _known(line) for name, line in lines.items()},
        "first_row": "counts" if run.totals.center is not None or run.totals.informed else "left out",
        "label_variance": None if data.moments is None else data.moments.variance,
        "hindsight": _in_hindsight(run, data),
        "coverage": run.totals.coverage.shares,
        "alarms": run.totals.coverage.alarms,
        "warnings": [warning.text for warning in warned],
        "warned": [{"kind": warning.kind, "name": warning.name} for warning in warned],
        "constant": list(run.totals.clips.constant),
        "command": settings.command,
    }
    if run.learner.binary:
        facts["probabilities"] = _probabilities(run.folder.path / "rounds.parquet")
    data.summary = _means(data) | facts
    data.summary["verdict"] = data.advice.sentence
    write_json(run.folder.file("summary.json"), data.summary)


def _probabilities(rounds: Path) -> ProbabilityScores:
    """Return the scores of the probabilities in a run's rounds.parquet."""
    table = pq.read_table(rounds, columns=["prediction", "label"])
    y, p = (table[name].to_numpy().astype(np.float64) for name in ("label", "prediction"))
    return score(y, p)


def _means(data: RunData) -> dict[str, object]:
    """Return means over the recorded rows."""
    return {
        "rows": data.rows,
        "labelled": data.labelled,
        "explored": data.explored,
        "scored": data.scored,
        "mse": data.total_loss / max(data.scored, 1),
        "mse_last_tenth": data.late_loss / max(data.late_scored, 1),
    }


def _known(line: Line) -> dict[str, float | None]:
    """Return a baseline for JSON, with None instead of NaN."""
    return {key: None if np.isnan(value) else value for key, value in line._asdict().items()}


def _in_hindsight(run: Run, data: RunData) -> float | None:
    """Return the final prediction error of the learner's final purchases and the free attributes."""
    if data.moments is None:
        return None
    catalog = run.totals.catalog
    bought = [catalog.sources.index(s) for s in data.bought_now(catalog, run.learner.support.tolist())]
    return data.moments.final_prediction_error(catalog.attributes(bought))


def _attributes(totals: Totals, learner: Learner) -> dict[str, Plain]:
    """Return the statistics of each attribute, the most frequently bought first."""
    order = np.argsort(-totals.bought, kind="stable")
    clipped, weights = totals.clips.outside, learner.weights
    return {
        totals.names[i]: {
            "source": totals.catalog.sources[totals.catalog.of[i]] if totals.catalog.of[i] >= 0 else "",
            "bought": int(totals.bought[i]),
            "unobserved": int(totals.unobserved[i]),
            "clipped": int(clipped[i]),
            "price": float(totals.prices[i]),
            "spent": float(totals.bought[i] * totals.prices[i]),
            "weight": float(weights[i]),
        }
        for i in order
    }


class _Warning(NamedTuple):
    """A sentence for a reader, with its kind and its column for programs; "" if there is none."""

    text: str
    kind: str = ""
    name: str = ""


def _warnings(totals: Totals, clip: bool) -> list[_Warning]:
    """Return all warnings for the reader."""
    by_name = {"missing": totals.missing, "clipped": totals.clips.report() if clip else {}}
    by_name["other"] = totals.unseen.report()
    found = [_Warning(text) for text in totals.messages.splitlines()]
    found += [_Warning(text, kind, name) for kind, texts in by_name.items() for name, text in texts.items()]
    if totals.clips.constant:
        found.append(_Warning(f"constant so far: {', '.join(totals.clips.constant)}", "constant"))
    if totals.abandoned:
        text = f"{totals.abandoned} of {totals.rows} rows had no label: abandoned, in no mean"
        found.append(_Warning(text, "unlabelled"))
    return found
