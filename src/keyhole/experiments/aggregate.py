"""Aggregation of the outcomes of many seeds: medians with 10-90 % bands."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from .._internal.typing import Floats
from ..figures import Curve, Figure, curves
from ..simulation.scoring import ProbabilityScores, pooled
from .job import Job, Outcome

__all__ = ["CURVES", "Band", "Row", "figure_of", "notes_of", "one_run", "summarise"]

Pairs = Sequence[tuple[Job, Outcome]]


class Band(NamedTuple):
    """Median, 10 % and 90 % quantile."""

    middle: float
    low: float
    high: float

    @classmethod
    def of(cls, values: Sequence[float]) -> "Band":
        """Return the band of values over seeds; NaN if there is none."""
        finite = [v for v in values if np.isfinite(v)]
        if not finite:
            return cls(np.nan, np.nan, np.nan)
        low, middle, high = np.quantile(finite, [0.1, 0.5, 0.9])
        return cls(float(middle), float(low), float(high))


class Row(NamedTuple):
    """The aggregated results of one algorithm on one stream."""

    stream: str
    algorithm: str
    seeds: int
    budget: str
    """The limits of a row, in words; only learners with the same limits are ranked against each other."""
    reference: bool
    """Whether it sees everything or is given the true support: it is shown below the others and never ranked."""
    regret: Band
    typical_error: Band
    """The root of the mean squared error over the scored rows."""
    loss_last_tenth: Band
    found: float
    """The mean share of the true support that was found; NaN if the truth is unknown."""
    attributes_per_row: float
    price_per_row: float
    seconds_per_row: float
    """The median over seeds."""
    rows: Floats
    curve: Floats
    """Regret over time (3, points): median, 10 %, 90 %."""
    losses: Floats
    """Loss over time (3, points): median, 10 %, 90 %."""
    probabilities: ProbabilityScores | None
    """For yes/no labels: means over seeds, and the bins of all seeds combined."""


def summarise(pairs: Pairs) -> list[Row]:
    """Return one row per stream and algorithm, in the given order."""
    return [_row(stream, algorithm, outcomes) for (stream, algorithm), outcomes in _groups(pairs).items()]


CURVES: "dict[str, tuple[str, Callable[[Row], Floats]]]" = {
    "regret": ("regret", lambda row: row.curve),
    "loss": ("typical error", lambda row: np.sqrt(row.losses)),
}
"""The quantities that can be drawn over time: the axis title, and the curve of a row."""


def figure_of(rows: Sequence[Row], what: str) -> Figure:
    """Return a chart of one of `CURVES` for the rows of a stream, each line labelled at its end."""
    title, curve_of = CURVES[what]
    plain = [row.algorithm.partition("[")[0] for row in rows]
    # Options are in the table; a line shows them only if two algorithms differ in nothing else.
    names = [name if plain.count(name) == 1 else row.algorithm for name, row in zip(plain, rows, strict=True)]
    lines = [Curve(name, *curve_of(row), reference=row.reference) for name, row in zip(names, rows, strict=True)]
    return curves(f"{title.capitalize()} over time", rows[0].rows, lines, "row", title, end_names=True)


def notes_of(pairs: Pairs) -> list[str]:
    """Return notes for readers of the table: estimates that stayed zero, and other warnings of the learners."""
    notes = []
    for (_, algorithm), outcomes in _groups(pairs).items():
        silent = [o["silent"] for o in outcomes if o["silent"]]
        if silent:
            where = "" if len(silent) == len(outcomes) else f" in {len(silent)} of {len(outcomes)} seeds"
            first = silent[0]
            zero = f"the Dantzig estimate was zero in all {first['explorations']} explorations"
            widths = f"gamma {first['gamma']:.3g} >= gamma_max {first['gamma_max']:.3g}"
            notes.append(f"{algorithm}: {zero} ({widths}){where}: its support is arbitrary")
        others = {text for o in outcomes if not o["silent"] for text in o["notes"]}
        notes += [f"{algorithm}: {text}" for text in sorted(others)[:3]]
    return notes


def one_run(pairs: Pairs) -> list[str]:
    """Return a sentence for each algorithm whose seeds all gave the same numbers, which means that it is deterministic
    on these rows.
    """
    found = []
    for (stream, algorithm), outcomes in _groups(pairs).items():
        if len(outcomes) > 1 and len({(o["regret"], o["loss"], *o["curve"]) for o in outcomes}) == 1:
            found.append(f"{algorithm} draws nothing: its {len(outcomes)} seeds on {stream} are one run")
    return found


def _groups(pairs: Pairs) -> dict[tuple[str, str], list[Outcome]]:
    groups: dict[tuple[str, str], list[Outcome]] = {}
    for job, outcome in pairs:
        groups.setdefault((job.stream.name, job.algorithm), []).append(outcome)
    return groups


def _row(stream: str, algorithm: str, outcomes: list[Outcome]) -> Row:
    found = [o["found"] for o in outcomes]
    scores = [o["probabilities"] for o in outcomes if o["probabilities"] is not None]
    return Row(
        stream=stream,
        algorithm=algorithm,
        seeds=len(outcomes),
        budget=outcomes[0]["budget"],
        reference=outcomes[0]["reference"],
        regret=Band.of([o["regret"] for o in outcomes]),
        typical_error=Band.of([max(o["loss"], 0.0) ** 0.5 for o in outcomes]),
        loss_last_tenth=Band.of([o["loss_last_tenth"] for o in outcomes]),
        found=float(np.mean(found)),
        attributes_per_row=float(np.mean([o["attributes_per_row"] for o in outcomes])),
        price_per_row=float(np.mean([o["price_per_row"] for o in outcomes])),
        seconds_per_row=float(np.median([o["seconds"] / max(o["rows"][-1], 1) for o in outcomes])),
        rows=np.array(outcomes[0]["rows"], dtype=np.float64),
        curve=_bands([o["curve"] for o in outcomes]),
        losses=_bands([o["losses"] for o in outcomes]),
        probabilities=pooled(scores) if scores else None,
    )


def _bands(curves: list[list[float]]) -> Floats:
    numbers = np.array(curves, dtype=np.float64)
    bands: Floats = np.quantile(numbers, [0.5, 0.1, 0.9], axis=0)
    return bands
