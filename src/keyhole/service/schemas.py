"""The HTTP schemas: bodies of requests and answers."""

import math
from typing import Annotated

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

from .._internal.formatting import to_iso
from ..core.round import Round
from ..store.models import Totals

__all__ = [
    "Ask",
    "FootprintResponse",
    "Label",
    "LabelColumns",
    "LearnerState",
    "LearnerSummary",
    "NewLearner",
    "PastRows",
    "PastRowsResponse",
    "RoundResponse",
    "Values",
    "finite",
]

Number = Annotated[float, Field(strict=True, allow_inf_nan=False)]
Name = Annotated[str, Field(min_length=1, max_length=200)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")


class NewLearner(BaseModel):
    """The arguments of `kh.make`; more of them (`prices`, `budget_per_row`, `half_life`, ...) may be added."""

    model_config = ConfigDict(
        extra="allow",
        protected_namespaces=(),
        json_schema_extra={"examples": [{"name": "icu", "algorithm": "thrifty", "names": ["age", "ldl"], "k": 1}]},
    )

    name: str = Field(max_length=64, description="1 to 64 letters, digits, spaces and . - _")
    algorithm: str = Field("thrifty", max_length=64)
    names: list[Name] | None = Field(None, max_length=100_000, description="What can be bought.")
    table: str | None = Field(None, alias="schema", max_length=200_000, description="Or: a schema file, as text.")
    d: int | None = Field(None, ge=1, le=100_000, description="Or: how many attributes.")
    k: int | None = Field(None, ge=1, le=100_000)
    k0: int = Field(0, ge=0, le=100_000)
    seed: int | None = Field(None, ge=0, le=2**63 - 1)
    note: dict[Annotated[str, Field(max_length=40)], Annotated[str, Field(max_length=200)]] = Field(
        default_factory=dict, description="For people: label, unit, currency."
    )


class LearnerState(BaseModel):
    """The current state of a learner."""

    name: str
    algorithm: str
    d: int
    k: int | None
    n_rounds: int
    n_open: int
    n_labels: int
    n_abandoned: int
    mean_loss: float | None = Field(description="Mean squared error of the predictions, without the first label.")
    mean_baseline_loss: float | None = Field(description="The same for buying nothing and predicting the mean so far.")
    spent: float | None
    support: list[str]
    weights: dict[str, float]
    warnings: list[str]
    note: dict[str, str]
    last_event: int


class LearnerSummary(BaseModel):
    """A learner in the list of all learners."""

    name: str
    algorithm: str
    n_rounds: int
    n_open: int
    n_labels: int
    mean_loss: float | None
    mean_baseline_loss: float | None
    spent: float | None


class FootprintResponse(BaseModel):
    """An estimate of what a learner takes, before it is built; null where it is beyond any machine."""

    memory: float | None = Field(description="Bytes, once the whole state is in use.")
    build_seconds: float | None
    round_seconds: float | None = Field(description="Seconds of a slow round.")
    allowed: bool = Field(description="Whether this server creates a learner of this size.")


class Ask(_Strict):
    """Open a round, or return the existing round of this key."""

    key: str | None = Field(None, min_length=1, max_length=200, description="Identifies one round of the learner.")
    available: list[Name] | None = Field(None, max_length=100_000, description="What can be bought this time.")
    deadline: AwareDatetime | None = Field(None, description="ISO 8601 with a time zone; for display only.")
    prices: dict[Name, Number] | None = Field(
        None, max_length=100_000, description="What sources cost in this row, by name; the others: their usual price."
    )


class PastRows(_Strict):
    """Past rows; null stands for a value that was not observed, or for a missing label."""

    names: list[Name] | None = Field(
        None, max_length=2000, description="The columns of `rows`; else the learner's own."
    )
    rows: list[list[Number | None]] = Field(max_length=1_000_000)
    labels: list[Number | None] = Field(max_length=1_000_000)


class PastRowsResponse(BaseModel):
    """The outcome of learning from past rows."""

    new: bool = Field(description="False where exactly these rows were learnt before.")
    n_past_rows: int = Field(description="The past rows that the learner knows, free.")


class RoundResponse(BaseModel):
    """A round: what to order, and what was recorded since."""

    id: str
    key: str | None
    index: int
    status: str = Field(description="open, labelled or abandoned")
    new: bool = Field(description="Whether this call recorded anything; false if it only read or repeated it.")
    sources: list[str] = Field(description="What to order.")
    attributes: list[str] = Field(description="The names of the values to hand over.")
    extra: list[str] = Field(description="To be bought after the label (k0 > 0).")
    price: float
    asked_at: str = Field(description="ISO 8601, UTC.")
    deadline: str | None
    values: dict[str, float | None] | None
    prediction: float | None = Field(description="The last prediction.")
    low: float | None
    high: float | None
    labelled_at: str | None
    label: float | None
    extra_values: dict[str, float | None] | None
    kind: str = Field(description="explore or exploit")
    learner: str = Field(description="The configuration of the learner, as a digest.")
    attribute_indices: list[int] = Field(description="The positions of `attributes` among the learner's names.")
    extra_indices: list[int]
    prices: list[float] = Field(description="The price of each source in this row, if it is not the usual one.")
    memo: list[float] = Field(description="Private data of the learner.")


class LabelColumns(BaseModel):
    """The labels of a learner in order of arrival: one entry per label in each column."""

    rounds: list[int] = Field(description="The indices of the rounds.")
    keys: list[str | None]
    labelled_at: list[str]
    labels: list[float]
    predictions: list[float | None] = Field(description="The last prediction before the label.")
    price: list[float]


class Values(_Strict):
    """The results by name; null for a value that was bought but not observed."""

    values: dict[Name, Number | None] = Field(max_length=100_000)


class Label(_Strict):
    """The label, however late."""

    y: Number
    values: dict[Name, Number | None] | None = Field(None, max_length=100_000)
    extra: dict[Name, Number | None] | None = Field(None, max_length=100_000, description="What was bought after it.")


def finite(x: float | None) -> float | None:
    """Return a number that JSON can represent, or None."""
    return x if x is not None and math.isfinite(x) else None


def iso_or_none(at: float | None) -> str | None:
    """Format a time as ISO 8601; return None for None and for times outside the calendar."""
    try:
        return None if at is None else to_iso(at)
    except (ValueError, OverflowError, OSError):
        return None


def losses(totals: Totals) -> dict[str, float | None]:
    """Return the two mean losses and the money spent."""
    names = ("mean_loss", "mean_baseline_loss", "spent")
    return {name: finite(getattr(totals, name)) for name in names}


def round_response(r: Round, new: bool = False) -> RoundResponse:
    """Return the answer about a round; `new` says whether the call recorded anything."""
    fields = r.plain()
    indices = {"attribute_indices": fields["attributes"], "extra_indices": fields["extra"]}
    names = {"attributes": fields["names"], "extra": fields["extra_names"]}
    times = {name: iso_or_none(getattr(r, name)) for name in ("asked_at", "deadline", "labelled_at")}
    return RoundResponse.model_validate({**fields, **indices, **names, **times, "new": new})


def numbers(values: dict[str, float | None]) -> dict[str, float]:
    """Convert the values of a request: null becomes NaN."""
    return {name: math.nan if x is None else x for name, x in values.items()}
