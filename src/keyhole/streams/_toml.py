"""Schema and price files: TOML in and out, with messages that name the file, the column and the fix."""

import json
import tomllib
from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypedDict

from ..errors import ConfigError

if TYPE_CHECKING:
    from .schema import Range, Schema

__all__ = ["Content", "format_schema", "number", "parse", "parse_schema", "read_text"]

_HEAD = """\
# What `keyhole run` may know of the table beforehand. Edit freely: a column moved to `ignored` is never read;
# values beyond low..high are clipped and counted; center is what scales to 0 (left out: halfway).
"""


class Fields(TypedDict, total=False):
    """What may be said of the label, checked to be of its types."""

    name: str
    low: float
    high: float
    center: float | None


class PricedFields(Fields, total=False):
    """What may be said of an attribute."""

    price: float


class Content(NamedTuple):
    """A schema file in parts."""

    label: Fields
    attributes: list[PricedFields]
    ignored: tuple[str, ...]


def read_text(path: "str | PathLike[str]") -> str:
    """The text of a small file."""
    try:
        return Path(path).read_text(encoding="utf-8")
    except FileNotFoundError:
        raise ConfigError(f"{path}: no such file") from None
    except (OSError, UnicodeDecodeError) as fault:
        raise ConfigError(f"{path} cannot be read as text: {fault}") from None


def parse(text: str, where: str) -> dict[str, object]:
    """The TOML in a text."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as fault:
        raise ConfigError(f"{where} is not TOML: {fault}") from None


def number(value: object, what: str) -> float:
    """A TOML value as a float, if it is a number."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ConfigError(f"{what} must be a number, not {value!r}")
    return float(value)


def parse_schema(text: str, where: str) -> Content:
    """The parts of a schema file; what is not known is refused, so that a misspelt word does not go unnoticed."""
    content = parse(text, where)
    _refuse_unknown(content, ("label", "attributes", "ignored"), where)
    label, attributes, ignored = content.get("label"), content.get("attributes"), content.get("ignored", [])
    if not isinstance(label, dict) or not isinstance(label.get("name"), str):
        raise ConfigError(f"{where}: it needs a table [label] with the name of the target column")
    if not isinstance(attributes, dict):
        raise ConfigError(f'{where}: it needs a table [attributes] with lines such as "age" = {{low = 0, high = 100}}')
    if not isinstance(ignored, list) or not all(isinstance(name, str) for name in ignored):
        raise ConfigError(f"{where}: ignored must be a list of column names")
    columns = [_fields(name, fields, ("low", "high", "center", "price"), where) for name, fields in attributes.items()]
    numbers = {key: value for key, value in label.items() if key != "name"}
    return Content(_fields(label["name"], numbers, ("low", "high", "center"), where), columns, tuple(ignored))


def format_schema(schema: "Schema") -> str:
    """The schema as TOML, one line per attribute."""
    ignored = ", ".join(map(_quoted, schema.ignored))
    lines = [_HEAD, f"ignored = [{ignored}]", "", "[label]", f"name = {_quoted(schema.target)}"]
    lines += [f"{key} = {value!r}" for key, value in _numbers(schema.label).items()]
    lines += ["", "[attributes]"]
    for a in schema.attributes:
        inside = ", ".join(f"{key} = {value!r}" for key, value in (_numbers(a) | {"price": float(a.price)}).items())
        lines.append(f"{_quoted(a.name)} = {{{inside}}}")
    return "\n".join(lines) + "\n"


def _fields(name: str, fields: object, known: tuple[str, ...], where: str) -> PricedFields:
    if not isinstance(fields, dict):
        raise ConfigError(f"{where}: '{name}' must be a table such as {{low = 0, high = 100}}, not {fields!r}")
    _refuse_unknown(fields, known, f"{where}, column '{name}'")
    checked = PricedFields(name=name)
    for key, value in fields.items():
        checked[key] = number(value, f"{where}, column '{name}': {key}")  # type: ignore[literal-required]
    return checked


def _numbers(column: "Range") -> dict[str, float]:
    fixed = {"low": float(column.low), "high": float(column.high)}
    return fixed if column.center is None else fixed | {"center": float(column.center)}


def _refuse_unknown(given: Mapping[str, object], known: tuple[str, ...], where: str) -> None:
    for key in given:
        if key not in known:
            raise ConfigError(f"{where}: '{key}' is not known here; there can be {', '.join(known)}")


def _quoted(text: str) -> str:
    """A TOML basic string: JSON's escapes are valid there, and DEL must be escaped too."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
