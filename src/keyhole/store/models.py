"""The values that a store returns. The HTTP client uses them too, so this module needs no database."""

from dataclasses import dataclass
from typing import NamedTuple

from .._internal.typing import Floats, Ints
from ..errors import ConfigError, ProtocolError, StateError

__all__ = [
    "Conflict",
    "DamagedStore",
    "LabelHistory",
    "NoSuchLearner",
    "NoSuchRound",
    "Outcome",
    "Purchase",
    "StoreUnavailable",
    "Taken",
    "Totals",
]


class Conflict(ProtocolError):
    """The call contradicts an earlier event; nothing was changed."""


class NoSuchRound(ProtocolError):
    """The learner has no round with this index or key."""


class Taken(ConfigError):
    """The name belongs to a learner with another configuration."""


class StoreUnavailable(StateError):
    """The database is unavailable (no connection, locked, disk full), and a retry may succeed.

    Nothing was changed, unless the message says that a commit was not confirmed.
    """


class DamagedStore(StateError):
    """The database contains something that keyhole did not write there.

    The transaction in which it is raised adds the address of the store and what to do.
    """


class NoSuchLearner(KeyError):
    """The store has no learner with this name."""

    def __str__(self) -> str:
        return str(self.args[0])


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
    """"labelled", "known already" or "refused"."""
    message: str = ""


class Totals(NamedTuple):
    """The running sums of a stored learner."""

    n_asked: int = 0
    n_labels: int = 0
    n_abandoned: int = 0
    """Abandoned rounds that have received no label since."""
    n_scored: int = 0
    """Labels of rounds with a recorded prediction, without the first label of the learner."""
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


@dataclass(frozen=True, eq=False)
class LabelHistory:
    """The labels in order of arrival, each with the last prediction before it: one entry per label in each column."""

    rounds: Ints
    """The indices of the rounds."""
    keys: tuple[str | None, ...]
    labelled_at: Floats
    labels: Floats
    predictions: Floats
    """NaN if no prediction was made."""
    price: Floats

    def __len__(self) -> int:
        return self.labels.size

    def __repr__(self) -> str:
        return f"<history of {len(self)} labels>"

    @property
    def losses(self) -> Floats:
        """The squared errors; NaN if no prediction was made."""
        return (self.predictions - self.labels) ** 2
