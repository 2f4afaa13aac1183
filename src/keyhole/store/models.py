"""The values that a store returns. The HTTP client uses them too, so nothing here needs a database."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, overload

import numpy as np

from .._internal.typing import Floats
from ..core.round import Round
from ..errors import ConfigError, ProtocolError, StateError

__all__ = [
    "Conflict",
    "History",
    "LabelEvent",
    "NoSuchLearner",
    "NoSuchRound",
    "Outcome",
    "PredictionEvent",
    "Purchase",
    "RoundRow",
    "StoreUnavailable",
    "StoredRound",
    "Taken",
    "Totals",
]

STATUSES = ("open", "told", "abandoned")


class Conflict(ProtocolError):
    """The call contradicts what was recorded before; nothing was changed."""


class NoSuchRound(ProtocolError):
    """The learner has no round of that index or key."""


class Taken(ConfigError):
    """The name belongs to a learner with another configuration."""


class StoreUnavailable(StateError):
    """The database does not answer (no connection, locked, disk full); nothing was changed, and a retry may succeed."""


class NoSuchLearner(KeyError):
    """The store has no learner of that name."""

    def __str__(self) -> str:
        return str(self.args[0])


class RoundRow(NamedTuple):
    """A row of the table of rounds: the state of one round after all its events."""

    round: int
    key: str | None
    status: str
    ask_event: int
    """The number of the event, as are `prediction_event` and `end_event`."""
    asked_at: float
    price: float
    deadline: float | None = None
    prediction_event: int | None = None
    prediction: float | None = None
    end_event: int | None = None
    """Of the label, or of the abandonment."""
    told_at: float | None = None
    label: float | None = None
    n_scored: int | None = None
    """The totals just after this label, so that a curve needs no sum over the history."""
    loss: float | None = None
    baseline_loss: float | None = None


@dataclass(frozen=True)
class PredictionEvent:
    """A prediction as it was recorded, with its interval where the learner has one."""

    prediction: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class StoredRound:
    """One round of a stored learner."""

    id: str
    """Unique in the store: "icu:17"."""
    index: int
    key: str | None
    status: str
    """"open", "told" or "abandoned"; an abandoned round still takes its label."""
    round: Round
    sources: tuple[str, ...]
    """What to order, by name."""
    price: float
    asked_at: float
    """Seconds since 1970, UTC."""
    deadline: float | None = None
    """For display only: a label that comes later is accepted."""
    last_prediction: PredictionEvent | None = None
    values: dict[str, float] | None = None
    """The values of the last prediction; NaN where one was not observed."""
    told_at: float | None = None
    label: float | None = None


@dataclass(frozen=True)
class LabelEvent:
    """One label, with the prediction that was recorded before it."""

    index: int
    key: str | None
    told_at: float
    label: float
    prediction: float | None
    """None where no prediction was made."""
    loss: float | None
    price: float


@dataclass(frozen=True)
class Purchase:
    """One source that was ordered for one round; index 0: past rows, which cost nothing."""

    index: int
    key: str | None
    at: float
    name: str
    price: float


@dataclass(frozen=True)
class Outcome:
    """The outcome of one label of `tell_many`."""

    key: str
    status: str
    """"told", "known already" or "refused"."""
    message: str = ""


class Totals(NamedTuple):
    """The running sums of a stored learner."""

    n_asked: int = 0
    n_labels: int = 0
    n_abandoned: int = 0
    """Rounds that were abandoned and have no label since."""
    n_scored: int = 0
    """Labels of rounds with a recorded prediction."""
    loss: float = 0.0
    """Sum of their squared errors."""
    baseline_loss: float = 0.0
    """The same sum for a baseline that buys nothing and predicts the mean of the labels before."""
    label_sum: float = 0.0
    spent: float = 0.0

    @property
    def n_open(self) -> int:
        """Rounds that wait for their label."""
        return self.n_asked - self.n_labels - self.n_abandoned

    @property
    def mean_loss(self) -> float | None:
        """Mean squared error of the recorded predictions; None before the first."""
        return self.loss / self.n_scored if self.n_scored else None

    @property
    def mean_baseline_loss(self) -> float | None:
        """Mean squared error of the baseline on the same rounds; None before the first."""
        return self.baseline_loss / self.n_scored if self.n_scored else None


@dataclass(frozen=True)
class History(Sequence[LabelEvent]):
    """The labels in the order they came; also as arrays."""

    events: tuple[LabelEvent, ...] = field(default=())

    @overload
    def __getitem__(self, i: int) -> LabelEvent: ...
    @overload
    def __getitem__(self, i: slice) -> "History": ...
    def __getitem__(self, i: "int | slice") -> "LabelEvent | History":
        return self.events[i] if isinstance(i, int) else History(self.events[i])

    def __len__(self) -> int:
        return len(self.events)

    def __iter__(self) -> Iterator[LabelEvent]:
        return iter(self.events)

    @property
    def labels(self) -> Floats:
        """(n,)"""
        return np.array([t.label for t in self.events], dtype=np.float64)

    @property
    def predictions(self) -> Floats:
        """(n,) NaN where no prediction was made."""
        return np.array([np.nan if t.prediction is None else t.prediction for t in self.events], dtype=np.float64)

    @property
    def losses(self) -> Floats:
        """(n,) squared errors."""
        return (self.predictions - self.labels) ** 2
