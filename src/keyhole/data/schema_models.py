"""Pydantic models of schema and price files; every error is one sentence with the file, table and key."""

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
    """Return a category value as text; integers may be written without quotes."""
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _day(value: object) -> object:
    """Return a day written as a TOML date or in quotes."""
    if isinstance(value, str):
        return datetime.fromisoformat(value).date()
    return value.date() if isinstance(value, datetime) else value


class Part(BaseModel):
    """A table of a file; unknown keys and type conversions are refused, so that mistakes are noticed."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class RangePart(Part):
    """The keys of a column of numbers."""

    low: Finite | None = None
    high: Finite | None = None
    center: Finite | None = None
    estimated: bool = False
    numbers: Numbers = ""
    missing: tuple[str, ...] = Field((), strict=False)
    below: dict[str, Finite] = {}
    above: dict[str, Finite] = {}

    def ends(self) -> dict[str, Any]:
        """Return the arguments of a `Range`."""
        low, high = (-inf if self.low is None else self.low), (inf if self.high is None else self.high)
        ends = {"low": low, "high": high, "center": self.center}
        words = {"missing": self.missing, "below": tuple(self.below.items()), "above": tuple(self.above.items())}
        return {**ends, "estimated": self.estimated, "numbers": self.numbers, **words}


class LabelPart(RangePart):
    """The table `[label]`."""

    name: str
    unit: str = ""
    type: Literal["number", "yes/no"] = "number"
    positive: Annotated[str, BeforeValidator(_word)] = ""
    negative: Annotated[str, BeforeValidator(_word)] = ""
    transform: TransformName = ""


class AttributePart(RangePart):
    """The table `[attributes.x]`."""

    type: Type = "number"
    unit: str = ""
    free: bool = False
    price: Price | None = None
    price_column: str = ""
    values: tuple[Annotated[str, BeforeValidator(_word)], ...] | None = Field(None, strict=False)
    origin: Annotated[date | None, BeforeValidator(_day)] = None
    transform: TransformName = ""


class SourcePart(Part):
    """The table `[sources.x]`."""

    price: Price | None = None
    price_column: str = ""
    columns: tuple[str, ...] = Field(strict=False)


class MoneyPart(Part):
    """The table `[money]`."""

    currency: str = ""
    numbers: Numbers = ""
    missing: tuple[str, ...] = Field(default=(), strict=False)


class FilePart(Part):
    """The table `[file]`."""

    encoding: str = ""


class SchemaFile(Part):
    """A schema file as `keyhole diagnose` writes it."""

    ignored: tuple[str, ...] = Field((), strict=False)
    file: FilePart = FilePart()
    label: LabelPart
    money: MoneyPart = MoneyPart()
    sources: dict[str, SourcePart] = {}
    attributes: dict[str, AttributePart] = {}

    def parts(self) -> dict[str, Any]:
        """Return the arguments of a `Schema`."""
        said = {name: getattr(self.label, name) for name in ("unit", "type", "positive", "negative", "transform")}
        label = Label(self.label.name, **self.label.ends(), **said)
        return {
            "label": label,
            "attributes": tuple(_attribute(name, part) for name, part in self.attributes.items()),
            "ignored": self.ignored,
            "panels": tuple(
                Panel(name, part.columns, part.price, part.price_column) for name, part in self.sources.items()
            ),
            "currency": self.money.currency,
            "price_numbers": self.money.numbers,
            "price_missing": self.money.missing,
            "encoding": self.file.encoding,
        }


class PricesFile(RootModel[dict[str, Price]]):
    """The price of each source; a column outside panels is a source."""

    model_config = ConfigDict(strict=True, frozen=True)


M = TypeVar("M", bound=BaseModel)


def checked(model: type[M], content: Mapping[str, object], where: str) -> M:
    """Validate the content as a model; the first error is raised as a `ConfigError` of one sentence."""
    try:
        return model.model_validate(dict(content))
    except ValidationError as fault:
        # Report an invalid key before a missing one: a misspelt key causes both.
        first = min(fault.errors(include_url=False), key=lambda found: found["type"] == "missing")
        if issubclass(model, PricesFile):
            name, value = first["loc"][0], first["input"]
            if name == "prices" and isinstance(value, dict):
                raise ConfigError(
                    f"{where}: a file of prices has no table headers such as [prices]: write glucose = 2.0"
                ) from None
            raise ConfigError(f"{where}: the price of '{name}' must be a finite number >= 0, not {value!r}") from None
        raise ConfigError(f"{where}{sentence(first, fields)}") from None


def fields(place: tuple[str | int, ...]) -> list[str]:
    """Return the keys that a table may have.

    >>> fields(("money",))
    ['currency', 'numbers', 'missing']
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
    keys = ("price", "price_column", "free", "unit", "type", "values", "origin", "transform")
    return Attribute(name, **part.ends(), **{key: getattr(part, key) for key in keys})
