"""Schema and price files as pydantic models; every fault is one sentence with its file, table and key."""

from collections.abc import Mapping
from datetime import date, datetime
from math import inf
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, RootModel, ValidationError

from ..errors import ConfigError
from .columns import Attribute, Label, Panel
from .schema_toml import sentence

__all__ = ["PricesFile", "SchemaFile", "checked"]

Type = Literal["number", "category", "yes/no", "date"]
Numbers = Literal["", "1,234.56", "1.234,56", "1 234,56", "1 234.56", "1'234.56"]
TransformName = Literal["", "log1p", "log", "sqrt"]
Finite = Annotated[float, Field(allow_inf_nan=False)]
Price = Annotated[float, Field(ge=0, allow_inf_nan=False)]


def _word(value: object) -> object:
    """A category's value as text; whole numbers may be written without quotes."""
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _day(value: object) -> object:
    """A day, written as TOML's own date or in quotes."""
    if isinstance(value, str):
        return datetime.fromisoformat(value).date()
    return value.date() if isinstance(value, datetime) else value


class Part(BaseModel):
    """A table of a file: nothing unknown, nothing converted, so that a slip does not go unnoticed."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class RangePart(Part):
    """What a column of numbers may have."""

    low: Finite | None = None
    high: Finite | None = None
    center: Finite | None = None
    estimated: bool = False
    numbers: Numbers = ""
    missing: tuple[str, ...] = Field((), strict=False)
    below: dict[str, Finite] = {}
    above: dict[str, Finite] = {}

    def ends(self) -> dict[str, Any]:
        """The arguments of a `Range`."""
        low, high = (-inf if self.low is None else self.low), (inf if self.high is None else self.high)
        ends = {"low": low, "high": high, "center": self.center}
        words = {"missing": self.missing, "below": tuple(self.below.items()), "above": tuple(self.above.items())}
        return {**ends, "estimated": self.estimated, "numbers": self.numbers, **words}


class LabelPart(RangePart):
    """`[label]`."""

    name: str
    unit: str = ""
    type: Literal["number", "yes/no"] = "number"
    positive: Annotated[str, BeforeValidator(_word)] = ""
    negative: Annotated[str, BeforeValidator(_word)] = ""
    transform: TransformName = ""


class AttributePart(RangePart):
    """`[attributes.x]`."""

    type: Type = "number"
    unit: str = ""
    free: bool = False
    price: Price | None = None
    values: tuple[Annotated[str, BeforeValidator(_word)], ...] | None = Field(None, strict=False)
    origin: Annotated[date | None, BeforeValidator(_day)] = None
    transform: TransformName = ""


class SourcePart(Part):
    """`[sources.x]`."""

    price: Price | None = None
    columns: tuple[str, ...] = Field(strict=False)


class MoneyPart(Part):
    """`[money]`."""

    currency: str = ""


class FilePart(Part):
    """`[file]`."""

    encoding: str = ""


class SchemaFile(Part):
    """A schema as `keyhole diagnose` writes it."""

    ignored: tuple[str, ...] = Field((), strict=False)
    file: FilePart = FilePart()
    label: LabelPart
    money: MoneyPart = MoneyPart()
    sources: dict[str, SourcePart] = {}
    attributes: dict[str, AttributePart] = {}

    def parts(self) -> dict[str, Any]:
        """The arguments of a `Schema`."""
        said = {name: getattr(self.label, name) for name in ("unit", "type", "positive", "negative", "transform")}
        label = Label(self.label.name, **self.label.ends(), **said)
        return {
            "label": label,
            "attributes": tuple(_attribute(name, part) for name, part in self.attributes.items()),
            "ignored": self.ignored,
            "panels": tuple(Panel(name, part.columns, part.price) for name, part in self.sources.items()),
            "currency": self.money.currency,
            "encoding": self.file.encoding,
        }


class PricesFile(RootModel[dict[str, Price]]):
    """A price for each name: a source, or a column that is one of its own."""

    model_config = ConfigDict(strict=True, frozen=True)


M = TypeVar("M", bound=BaseModel)


def checked(model: type[M], content: Mapping[str, object], where: str) -> M:
    """The content as a model; its first fault is a `ConfigError` in one sentence."""
    try:
        return model.model_validate(dict(content))
    except ValidationError as fault:
        # A key that is wrong before one that is missing: a misspelt one is both.
        first = min(fault.errors(include_url=False), key=lambda found: found["type"] == "missing")
        if issubclass(model, PricesFile):
            name, value = first["loc"][0], first["input"]
            raise ConfigError(f"{where}: the price of '{name}' must be a finite number >= 0, not {value!r}") from None
        raise ConfigError(f"{where}{sentence(first, fields)}") from None


def fields(place: tuple[str | int, ...]) -> list[str]:
    """The keys a table may have.

    >>> fields(("money",))
    ['currency']
    """
    parts: dict[str, type[BaseModel]] = {
        "label": LabelPart,
        "attributes": AttributePart,
        "sources": SourcePart,
        "money": MoneyPart,
        "file": FilePart,
    }
    model = parts[str(place[0])] if place else SchemaFile
    return list(model.model_fields)


def _attribute(name: str, part: AttributePart) -> Attribute:
    own = {key: getattr(part, key) for key in ("price", "free", "unit", "type", "values", "origin", "transform")}
    return Attribute(name, **part.ends(), **own)
