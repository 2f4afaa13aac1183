"""What comes out of a store, as values; the client in the core uses them too, so nothing here needs a database."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, overload

import numpy as np

from .._internal.typing import Floats
from ..core.round import Round
from ..errors import ConfigError, ProtocolError

__all__ = [
    "Conflict",
    "History",
    "LabelEvent",
    "NoSuchLearner",
    "NoSuchRound",
    "Outcome",
    "PredictionEvent",
    "Purchase",
    "StoredRound",
    "Taken",
    "Totals",
]

STATUSES = ("open", "told", "abandoned")


class Conflict(ProtocolError):
    """The call makes sense, but something that contradicts it was written down before; nothing was changed."""


class NoSuchRound(ProtocolError):
    """The learner never asked such a round."""


class Taken(ConfigError):
    """The name belongs to a learner of another configuration."""


class NoSuchLearner(KeyError):
    """There is no learner of that name in the store."""

    def __str__(self) -> str:
        return str(self.args[0])


@dataclass(frozen=True)
class PredictionEvent:
    """A prediction as it was written down."""

    prediction: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class StoredRound:
    """One round of a stored learner as it stands."""

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
    """For display only: a label that comes later is taken."""
    said: PredictionEvent | None = None
    """The last prediction."""
    values: dict[str, float] | None = None
    """What the last prediction was made from; NaN where nothing was observed."""
    told_at: float | None = None
    label: float | None = None


@dataclass(frozen=True)
class LabelEvent:
    """One label that came in."""

    index: int
    key: str | None
    told_at: float
    label: float
    prediction: float | None
    """What was said before; None where nothing was."""
    loss: float | None
    price: float


@dataclass(frozen=True)
class Purchase:
    """One thing that was ordered for one round."""

    index: int
    key: str | None
    at: float
    name: str
    price: float


@dataclass(frozen=True)
class Outcome:
    """What became of one of many labels."""

    key: str
    status: str
    """"told", "known already" or "refused"."""
    message: str = ""


class Totals(NamedTuple):
    """The running sums of a stored learner."""

    asked: int = 0
    told: int = 0
    abandoned: int = 0
    """Abandoned and not told since."""
    scored: int = 0
    """Told rounds for which a prediction had been written down."""
    loss: float = 0.0
    """Sum of their squared errors."""
    idle: float = 0.0
    """The same sum for who buys nothing and predicts the mean of the labels told before."""
    labels: float = 0.0
    """Sum of all labels."""
    spent: float = 0.0

    @property
    def open(self) -> int:
        """Rounds that wait for a label."""
        return self.asked - self.told - self.abandoned

    @property
    def mean_loss(self) -> float | None:
        """Mean squared error of what was said; None before the first."""
        return self.loss / self.scored if self.scored else None


@dataclass(frozen=True)
class History(Sequence[LabelEvent]):
    """The labels in the order they came, with the numbers as arrays beside them."""

    told: tuple[LabelEvent, ...] = field(default=())

    @overload
    def __getitem__(self, i: int) -> LabelEvent: ...
    @overload
    def __getitem__(self, i: slice) -> "History": ...
    def __getitem__(self, i: "int | slice") -> "LabelEvent | History":
        return self.told[i] if isinstance(i, int) else History(self.told[i])

    def __len__(self) -> int:
        return len(self.told)

    def __iter__(self) -> Iterator[LabelEvent]:
        return iter(self.told)

    @property
    def labels(self) -> Floats:
        """(n,)"""
        return np.array([t.label for t in self.told], dtype=np.float64)

    @property
    def predictions(self) -> Floats:
        """(n,) NaN where nothing was said."""
        said = [np.nan if t.prediction is None else t.prediction for t in self.told]
        return np.array(said, dtype=np.float64)

    @property
    def losses(self) -> Floats:
        """(n,) squared errors."""
        return (self.predictions - self.labels) ** 2
