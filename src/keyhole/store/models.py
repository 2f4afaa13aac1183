"""The values that a store returns. The HTTP client uses them too, so this module needs no database."""

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
    """The call contradicts an earlier event; nothing was changed."""


class NoSuchRound(ProtocolError):
    """The learner has no round with this index or key."""


class Taken(ConfigError):
    """The name belongs to a learner with another configuration."""


class StoreUnavailable(StateError):
    """The database is unavailable (no connection, locked, disk full); nothing was changed, and a retry may succeed."""


class NoSuchLearner(KeyError):
    """The store has no learner with this name."""

    def __str__(self) -> str:
        return str(self.args[0])


class RoundRow(NamedTuple):
    """A row of the table of rounds: the state of one round after all its events."""

    round: int
    key: str | None
    status: str
    ask_event: int
    """Number of the event that opened the round; `prediction_event` and `end_event` are event numbers too."""
    asked_at: float
    price: float
    deadline: float | None = None
    prediction_event: int | None = None
    prediction: float | None = None
    end_event: int | None = None
    """Number of the event of the label, or of the abandonment."""
    told_at: float | None = None
    label: float | None = None
    n_scored: int | None = None
    """This field and the next two are the totals after this label, so that a curve needs no sum over the history."""
    loss: float | None = None
    baseline_loss: float | None = None


@dataclass(frozen=True)
class PredictionEvent:
    """A recorded prediction, with its interval if the learner provides one."""

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
    """"open", "told" or "abandoned"; an abandoned round still accepts its label."""
    round: Round
    sources: tuple[str, ...]
    """Names of the sources to order."""
    price: float
    asked_at: float
    """Seconds since 1970, UTC."""
    deadline: float | None = None
    """For display only: a later label is still accepted."""
    last_prediction: PredictionEvent | None = None
    values: dict[str, float] | None = None
    """The values of the last prediction; NaN for a value that was not observed."""
    told_at: float | None = None
    label: float | None = None


@dataclass(frozen=True)
class LabelEvent:
    """A label, with the last prediction before it."""

    index: int
    key: str | None
    told_at: float
    label: float
    prediction: float | None
    """None if no prediction was made."""
    loss: float | None
    price: float


@dataclass(frozen=True)
class Purchase:
    """A source that was ordered for a round; index 0 stands for past rows, which cost nothing."""

    index: int
    key: str | None
    at: float
    name: str
    price: float


@dataclass(frozen=True)
class Outcome:
    """The outcome of `tell_many` for one label."""

    key: str
    status: str
    """"told", "known already" or "refused"."""
    message: str = ""


class Totals(NamedTuple):
    """The running sums of a stored learner."""

    n_asked: int = 0
    n_labels: int = 0
    n_abandoned: int = 0
    """Abandoned rounds that have received no label since."""
    n_scored: int = 0
    """Labels of rounds with a recorded prediction."""
    loss: float = 0.0
    """Sum of their squared errors."""
    baseline_loss: float = 0.0
    """The same sum for a baseline that buys nothing and predicts the mean of the previous labels."""
    label_sum: float = 0.0
    spent: float = 0.0

    @property
    def n_open(self) -> int:
        """The number of rounds that wait for their label."""
        return self.n_asked - self.n_labels - self.n_abandoned

    @property
    def mean_loss(self) -> float | None:
        """The mean squared error of the recorded predictions; None before the first."""
        return self.loss / self.n_scored if self.n_scored else None

    @property
    def mean_baseline_loss(self) -> float | None:
        """The mean squared error of the baseline on the same rounds; None before the first."""
        return self.baseline_loss / self.n_scored if self.n_scored else None


@dataclass(frozen=True)
class History(Sequence[LabelEvent]):
    """The labels in order of arrival, as a sequence and as arrays."""

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
        """The labels, (n,)."""
        return np.array([t.label for t in self.events], dtype=np.float64)

    @property
    def predictions(self) -> Floats:
        """The predictions, (n,); NaN if no prediction was made."""
        return np.array([np.nan if t.prediction is None else t.prediction for t in self.events], dtype=np.float64)

    @property
    def losses(self) -> Floats:
        """The squared errors, (n,)."""
        return (self.predictions - self.labels) ** 2
