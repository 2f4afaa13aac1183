"""What goes over the wire."""

import math
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from ..store.models import PredictionEvent, StoredRound, Totals

__all__ = ["Ask", "AskedRound", "Label", "Made", "NewLearner", "Open", "RoundStatus", "Said_", "Values", "finite"]

Number = Annotated[float, Field(strict=True, allow_inf_nan=False)]
Name = Annotated[str, Field(min_length=1, max_length=200)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")


class NewLearner(BaseModel):
    """The arguments of `kh.make`; further ones (`prices`, `budget_per_row`, `half_life`, ...) stand beside these."""

    model_config = ConfigDict(
        extra="allow",
        protected_namespaces=(),
        json_schema_extra={"examples": [{"name": "icu", "algorithm": "thrifty", "names": ["age", "ldl"], "k": 1}]},
    )

    name: str = Field(max_length=64, description="1 to 64 letters, digits, spaces and . - _")
    algorithm: str = Field("thrifty", max_length=64)
    names: list[Name] | None = Field(None, max_length=2000, description="What can be bought.")
    table: str | None = Field(None, alias="schema", max_length=1_000_000, description="Or: a schema file, as text.")
    d: int | None = Field(None, ge=1, le=2000, description="Or: how many attributes.")
    k: int | None = Field(None, ge=1, le=2000)
    k0: int = Field(0, ge=0, le=2000)
    seed: int | None = Field(None, ge=0, le=2**63 - 1)
    note: dict[Annotated[str, Field(max_length=40)], Annotated[str, Field(max_length=200)]] = Field(
        default_factory=dict, description="For people: label, unit, currency."
    )


class Made(BaseModel):
    """A learner, as it is now."""

    name: str
    algorithm: str
    d: int
    k: int | None
    rounds: int
    open: int
    told: int
    abandoned: int
    mean_loss: float | None = Field(description="Mean squared error of what was said before the labels.")
    idle_loss: float | None = Field(description="The same for who buys nothing and predicts the mean so far.")
    spent: float | None
    support: list[str]
    weights: dict[str, float]
    warnings: list[str]
    note: dict[str, str]
    last_event: int


class Open(BaseModel):
    """A learner in the list of all."""

    name: str
    algorithm: str
    rounds: int
    open: int
    told: int
    mean_loss: float | None
    idle_loss: float | None
    spent: float | None


class Ask(_Strict):
    """Open a round, or find the one of this key again."""

    key: str | None = Field(None, min_length=1, max_length=200, description="Names one round of the learner for ever.")
    available: list[Name] | None = Field(None, max_length=2000, description="What can be bought this time.")
    deadline: Number | None = Field(None, description="Seconds since 1970; for display only.")
    prices: dict[Name, Number] | None = Field(
        None,
        max_length=2000,
        description="What sources cost in this row, by name; the others have their usual price.",
    )


class Said_(BaseModel):
    """What was predicted."""

    prediction: float
    low: float | None
    high: float | None


class AskedRound(BaseModel):
    """What to order."""

    id: str
    key: str | None
    index: int
    status: str
    sources: list[str]
    attributes: list[str] = Field(description="The names of the values to hand over.")
    extra: list[str] = Field(description="To be bought after the label (k0 > 0).")
    price: float
    asked_at: float
    deadline: float | None
    said: Said_ | None
    values: dict[str, float | None] | None
    told_at: float | None
    label: float | None
    round: str = Field(description="The round itself, as `kh.Round.from_json` reads it.")


class Values(_Strict):
    """The results, by name; null for one that was bought but not observed."""

    values: dict[Name, Number | None] = Field(max_length=2000)


class Label(_Strict):
    """The label, however late."""

    y: Number
    values: dict[Name, Number | None] | None = Field(None, max_length=2000)
    extra: dict[Name, Number | None] | None = Field(None, max_length=2000, description="What was bought after it.")


class RoundStatus(BaseModel):
    """What became of a label or an abandonment."""

    id: str
    status: str
    new: bool = Field(description="False where exactly this was known already.")


def finite(x: float | None) -> float | None:
    """A number that JSON can hold."""
    return x if x is not None and math.isfinite(x) else None


def losses(totals: Totals) -> dict[str, float | None]:
    """The two mean losses and the money."""
    n = totals.scored
    idle = totals.idle / n if n else None
    return {"mean_loss": finite(totals.mean_loss), "idle_loss": finite(idle), "spent": finite(totals.spent)}


def asked(entry: StoredRound, extra: list[str]) -> AskedRound:
    """A round for the wire."""
    values = None if entry.values is None else {name: finite(x) for name, x in entry.values.items()}
    return AskedRound(
        id=entry.id,
        key=entry.key,
        index=entry.index,
        status=entry.status,
        sources=list(entry.sources),
        attributes=list(entry.round.names),
        extra=extra,
        price=entry.price,
        asked_at=entry.asked_at,
        deadline=entry.deadline,
        said=None if entry.said is None else said(entry.said),
        values=values,
        told_at=entry.told_at,
        label=entry.label,
        round=entry.round.to_json(),
    )


def said(s: PredictionEvent) -> Said_:
    """A prediction for the wire."""
    return Said_(prediction=s.prediction, low=s.low, high=s.high)


def numbers(values: dict[str, float | None]) -> dict[str, float]:
    """Values from the wire, with NaN for null."""
    return {name: math.nan if x is None else x for name, x in values.items()}
