"""One error cost, played with one seed. The same job gives the same outcome wherever it runs."""

import hashlib
import json
from dataclasses import asdict, dataclass
from typing import Any, TypedDict

import numpy as np

from ... import __version__
from ...core.registry.spec import Budget, Spec
from ...simulation import play, scored, with_center
from ...simulation.probability_scores import ProbabilityScores, score
from ..stream_spec import StreamSpec

__all__ = ["Play", "Played", "play_level"]


@dataclass(frozen=True)
class Play:
    """What decides an outcome."""

    stream: StreamSpec
    error_cost: float
    seed: int
    rounds: int
    k: int | None = None

    @property
    def key(self) -> str:
        """A name for the job's file: equal for equal jobs of the same version."""
        text = json.dumps({"version": __version__, "frontier": 4, **asdict(self)}, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:24]


class Played(TypedDict):
    """What is kept of it."""

    mse: float
    price: float
    bought: dict[str, float]
    """In which share of the rows each source was bought that was."""
    basket: list[str]
    """What is in the support at the end."""
    probabilities: ProbabilityScores | None
    """For yes/no labels; there `mse` is the Brier score."""


def play_level(job: Play) -> Played:
    """Play the job; which rows count in the error is the rule of all pages (`scored`)."""
    rows = job.stream.rows(job.seed, job.rounds)
    seed = int(np.random.SeedSequence([job.seed, 1]).generate_state(1)[0])  # not the stream's own numbers again
    learner = Spec.parse("thrifty").learner(rows.schema, Budget(job.k, error_cost=job.error_cost), seed)
    history = play(learner, rows.X, rows.y, keep=False)
    catalog, T = learner.catalog, max(rows.y.size, 1)
    counts: dict[str, Any] = {
        s: int(history.bought[m[0]]) for s, m in zip(catalog.sources, catalog.members, strict=True)
    }
    center = rows.schema.label.stated_center
    losses = (with_center(history.predictions, rows.y, center) - rows.y) ** 2
    return Played(
        mse=float(losses[scored(rows.y, center)].mean()),
        price=float(history.price.mean()),
        bought={s: n / T for s, n in counts.items() if n},
        basket=list(catalog.ordered(learner.support)),
        probabilities=score(history.labels, history.predictions) if learner.binary else None,
    )
