"""Reading and writing schema and price files as TOML, with one-sentence errors."""

import json
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from difflib import get_close_matches
from math import isfinite
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from .._internal.formatting import join_names, repeated
from .._internal.renamed_options import renamed_option
from ..errors import ConfigError
from . import schema_toml
from .columns import Attribute, Panel, Range

if TYPE_CHECKING:
    from .columns import Attribute, Panel, Range
    from .schema import Schema

__all__ = [
    "check_consistency",
    "content",
    "format_schema",
    "no_source",
    "parse",
    "quoted",
    "read_prices",
    "read_text",
    "rewrite",
    "sentence",
    "unpriced",
]


def check_consistency(
    label: Range, attributes: Sequence[Attribute], ignored: Sequence[str], panels: Sequence[Panel]
) -> None:
    """Raise a `ConfigError` if a column is declared twice, or if two sources have the same name."""
    twice = repeated((label.name, *(a.name for a in attributes), *ignored))
    if twice is not None:
        raise ConfigError(f"{_places(twice, label, attributes, ignored)}: '{twice}' occurs twice; keep one of the two")
    if not attributes:
        raise ConfigError("[attributes]: there are no attributes; declare at least one")
    _check_panels(attributes, panels)
    _check_price_columns(label, attributes, ignored, panels)
    names = [e.name for a in attributes if a.is_complete for e in a.encoded()]
    prices = sorted(({p.price_column for p in panels} | {a.price_column for a in attributes}) - {""})
    if (twice := repeated([*names, *prices])) is not None:
        raise ConfigError(f"[attributes]: two are called '{twice}'; rename a column, or a category's value")


def _places(name: str, label: Range, attributes: Sequence[Attribute], ignored: Sequence[str]) -> str:
    """Return where the file declares the name."""
    found = ["[label]"] if name == label.name else []
    found += [f"[attributes.{name}]"] if any(a.name == name for a in attributes) else []
    return " and ".join(found + (["ignored"] if name in ignored else []))


def _check_panels(attributes: Sequence[Attribute], panels: Sequence[Panel]) -> None:
    """Check that a column is in at most one panel, a free or priced one in none, and that source names are unique."""
    if (twice := repeated(p.name for p in panels)) is not None:
        raise ConfigError(f"[sources.{twice}] occurs twice; keep one")
    home: dict[str, str] = {}
    for panel in panels:
        for column in panel.columns:
            if column in home:
                one, other = home[column], panel.name
                raise ConfigError(
                    f"[sources.{other}]: '{column}' is in [sources.{one}] already; keep it in one of them"
                )
            home[column] = panel.name
    names = {p.name for p in panels}
    for a in attributes:
        if a.name in home and a.free:
            raise ConfigError(f"[attributes.{a.name}]: it is free, so it cannot belong to [sources.{home[a.name]}]")
        if a.name in home and a.price is not None:
            raise ConfigError(f"[attributes.{a.name}]: its price is that of [sources.{home[a.name]}]; remove price")
        if a.name in home and a.price_column:
            raise ConfigError(
                f"[attributes.{a.name}]: its price is that of [sources.{home[a.name]}]; remove price_column"
            )
        if a.name not in home and a.name in names:
            raise ConfigError(f"[sources.{a.name}]: a column has that name and is not in it; rename the source")


def _check_price_columns(
    label: Range, attributes: Sequence[Attribute], ignored: Sequence[str], panels: Sequence[Panel]
) -> None:
    """Check that a column of prices is nothing else; several sources may share one."""
    home = {column: panel.name for panel in panels for column in panel.columns}
    sources = [(f"[sources.{p.name}]", p.price_column) for p in panels if p.price_column]
    sources += [(f"[attributes.{a.name}]", a.price_column) for a in attributes if a.price_column]
    for place, column in sources:
        other = f"[sources.{home[column]}]" if column in home else _places(column, label, attributes, ignored)
        if other:
            raise ConfigError(
                f"{place}: its price_column '{column}' is in {other} too; a column of prices is nothing else: remove "
                "it from one of the two"
            )


def no_source(name: str, attributes: Sequence[Attribute], panels: Sequence[Panel]) -> str:
    """Return why a name cannot have a price."""
    for panel in panels:
        if name in panel.columns:
            return f"the prices name '{name}', which comes with the source '{panel.name}'; price that instead"
    if any(a.name == name for a in attributes):
        return f"the prices name '{name}', which is known and costs nothing; remove it"
    return f"the prices name '{name}', which is neither an attribute nor a source; remove it or correct the name"


Place = tuple[str | int, ...]

# Tables whose keys are chosen by the user.
_OPEN = ("attributes", "sources")
_SHOULD = {
    "bool_type": "true or false",
    "date_type": "a date such as 2024-01-31",
    "date_from_datetime_inexact": "a date such as 2024-01-31",
    "dict_type": "a table",
    "float_type": "a number",
    "greater_than_equal": "a finite number >= 0",
    "finite_number": "a finite number",
    "list_type": "a list",
    "tuple_type": "a list",
    "string_type": "text in quotes",
    "value_error": "a date such as 2024-01-31",
}
_EXAMPLES = {
    "label": 'a table with the name of the target column: [label], name = "cost"',
    "attributes": 'a table with lines such as "age" = {low = 0, high = 100}',
    "sources": 'a table such as [sources.lipids], columns = ["ldl", "hdl"]',
    "ignored": "a list of column names",
}
_EXAMPLES_INSIDE = {
    "attributes": "a table such as {low = 0, high = 100}",
    "sources": 'a table such as {price = 12, columns = ["ldl", "hdl"]}',
    "money": 'a table such as {currency = "EUR"}',
    "file": 'a table such as {encoding = "latin-1"}',
}
# The empty choice, which pydantic lists first for an optional key.
_EMPTY = "'', "


def sentence(fault: Mapping[str, Any], fields: Callable[[Place], list[str]]) -> str:
    """Return the part of a message after the file name: `, [attributes.age]: low must be a number, not 'old'`."""
    place: Place = fault["loc"]
    kind, value = str(fault["type"]), fault.get("input")
    table, key = _split(place)
    head = f", {table}: " if table else ": "
    if kind == "missing":
        return f"{head}it needs {_EXAMPLES.get(key, key)}"
    if kind == "extra_forbidden":
        if renamed := renamed_option(str(key)):
            return f"{head}{renamed}"
        return f"{head}'{key}' is not known here; {_suggestion(key, fields(place[:-1]))}"
    if kind == "model_type":
        example = _EXAMPLES.get(key) or _EXAMPLES_INSIDE[str(place[0])]
        return f"{head}{key} must be {example}, not {_shown(value)}"
    if kind == "literal_error":
        return f"{head}{key} must be one of {fault['ctx']['expected'].removeprefix(_EMPTY)}, not {_shown(value)}"
    return f"{head}{key} must be {_should(kind, key)}, not {_shown(value)}"


def _should(kind: str, key: str) -> str:
    if key == "price":
        return "a finite number >= 0"
    return _EXAMPLES.get(key) or _SHOULD.get(kind, "something else")


def _split(place: Place) -> tuple[str, str]:
    """Return the table as written in the file, and the key in it."""
    words = [str(p) for p in place if not isinstance(p, int)]
    numbers = [p for p in place if isinstance(p, int)]
    depth = 2 if words and words[0] in _OPEN and len(words) > 2 else min(len(words) - 1, 1)
    table, key = ".".join(words[:depth]), " ".join(words[depth:])
    if numbers:
        key = f"entry {numbers[0] + 1} of {key}"
    return (f"[{table}]" if table else ""), key


def _suggestion(key: str, known: list[str]) -> str:
    near = get_close_matches(key, known, 1)
    return f"did you mean {near[0]}?" if near else f"there can be {', '.join(known)}"


def _shown(value: object) -> str:
    text = str(value) if isinstance(value, date) else repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


Content: TypeAlias = "dict[str, object]"

_HEAD = """\
# What `keyhole run` may know of the table beforehand. Edit freely: a column moved to `ignored` is never read;
# values beyond low..high are clipped and counted (left out: nothing is clipped); center is what scales to 0, and, if it
# is not estimated, what is predicted before the first label. `estimated = true`: these numbers were computed from the
# rows of the file itself; a comparison does not use them. Write your own numbers and remove the mark where you know
# better.
"""

_WORDS = ("missing", "below", "above")

# Far more than the schema of 100 000 columns; a device would not end.
_MOST_LETTERS = 100_000_000
# A dotted key of a hundred parts or more: the parser takes time quadratic in their number.
_DEEP = re.compile(r"""(?<![\w"'-])(?:(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+){100}""")


def read_text(path: "str | PathLike[str]") -> str:
    """Return the text of a small file."""
    try:
        with Path(path).open(encoding="utf-8") as file:
            text = file.read(_MOST_LETTERS + 1)
    except FileNotFoundError:
        raise ConfigError(f"{path}: no such file; check the name and the folder") from None
    except (OSError, UnicodeDecodeError) as fault:
        why = getattr(fault, "strerror", None) or "it is not UTF-8"
        raise ConfigError(f"{path} cannot be read as text ({why}); give a TOML file") from None
    if len(text) > _MOST_LETTERS:
        raise ConfigError(f"{path} is larger than {_MOST_LETTERS // 10**6} MB; give a TOML file")
    return text


def parse(text: str, where: str) -> Content:
    """Parse TOML text."""
    try:
        if _DEEP.search(text):
            raise RecursionError
        return tomllib.loads(text)
    except RecursionError:
        raise ConfigError(f"{where} cannot be read as TOML: it is nested too deeply") from None
    except ValueError as fault:  # also raised for a number with thousands of digits
        raise ConfigError(f"{where} is not TOML: {fault}") from None


def content(schema: "Schema") -> Content:
    """Return the schema as plain values by the tables and keys of its file; defaults are omitted."""
    found: Content = {"ignored": list(schema.ignored)}
    if schema.encoding:
        found["file"] = {"encoding": schema.encoding}
    said = _said(schema.label, ("unit", "numbers", *_WORDS, "type", "positive", "negative", "transform"))
    found["label"] = {"name": schema.target, **said}
    money = {"currency": schema.currency, "numbers": schema.price_numbers, "missing": list(schema.price_missing)}
    if any(money.values()):
        found["money"] = {key: value for key, value in money.items() if value}
    if schema.panels:
        found["sources"] = {p.name: _said(p, ("price", "price_column", "columns")) for p in schema.panels}
    keys = ("price", "price_column", "free", "unit", "type", "numbers", *_WORDS, "values", "origin", "transform")
    found["attributes"] = {a.name: _said(a, keys) for a in schema.attributes}
    return found


def format_schema(schema: "Schema") -> str:
    """Return the schema as TOML, one line per attribute."""
    lines = [_HEAD]
    for key, value in content(schema).items():
        if key == "ignored":
            lines.append(f"ignored = {_value(value)}")
        elif isinstance(value, Mapping) and key in ("attributes", "sources"):
            lines += ["", f"[{key}]", *(f"{quoted(name)} = {_inline(part)}" for name, part in value.items())]
        elif isinstance(value, Mapping):
            lines += ["", f"[{key}]", *(f"{name} = {_value(item)}" for name, item in value.items())]
    return "\n".join(lines) + "\n"


def rewrite(text: str, schema: "Schema", where: str) -> str:
    """Return a user's text updated to this schema; unchanged parts and comments are preserved exactly."""
    # Imported only here: tomlkit preserves comments but is slow (quadratic in the size of a document).
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    before = parse(text, where)
    try:
        document = tomlkit.parse(text)
    except (TOMLKitError, RecursionError) as fault:
        raise ConfigError(f"{where} is not TOML: {fault}") from None
    _merge(document, before, content(schema))
    return document.as_string()


def _merge(document: "Mapping[str, object]", before: Mapping[str, object], now: Mapping[str, object]) -> None:
    """Update a document from `before` to `now` without touching anything else."""
    for key in [key for key in before if key not in now]:
        del document[key]  # type: ignore[attr-defined]
    for key, value in now.items():
        old = before.get(key)
        if isinstance(value, Mapping) and isinstance(old, Mapping):
            _merge(document[key], old, value)  # type: ignore[arg-type]
        elif value != old or isinstance(value, bool) != isinstance(old, bool):
            document[key] = value  # type: ignore[index]


def _said(column: "Range | Panel", keys: tuple[str, ...]) -> Content:
    """Return the fields of a column or panel that differ from their defaults."""
    found = {} if isinstance(column, Panel) else _ends(column)
    for key in keys:
        value = getattr(column, key)
        if key in ("below", "above") and value:
            found[key] = dict(value)
        elif value not in ("", None, False, "number", ()) or (value == 0.0 and key == "price"):
            found[key] = list(value) if isinstance(value, tuple) else value
    return found


def _ends(column: "Range") -> Content:
    ends = {"low": column.low, "high": column.high, "center": column.center}
    found: Content = {key: float(end) for key, end in ends.items() if end is not None and isfinite(end)}
    return found | ({"estimated": True} if column.estimated else {})


def _inline(part: object) -> str:
    if not isinstance(part, Mapping):
        raise ConfigError(f"expected a table of a schema, found {str(part)[:60]!r}")
    return "{" + ", ".join(f"{key} = {_value(value)}" for key, value in part.items()) + "}"


def _value(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{quoted(str(key))} = {_value(part)}" for key, part in value.items()) + "}"
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, date):
        return value.isoformat()
    return quoted(value) if isinstance(value, str) else repr(float(value))  # type: ignore[arg-type]


def quoted(text: str) -> str:
    """Return a TOML basic string: JSON's escapes are valid in TOML, and DEL must be escaped too."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def read_prices(path: "str | PathLike[str]") -> dict[str, float]:
    """Read the prices in a file, by source (a column outside panels is a source); a price is a finite number >= 0."""
    from .schema_models import PricesFile, checked

    return dict(checked(PricesFile, schema_toml.parse(schema_toml.read_text(path), str(path)), str(path)).root)


def unpriced(schema: "Schema") -> list[str]:
    """Return a sentence about the sources without a price if other sources have one, else an empty list."""
    together = {c for panel in schema.panels for c in panel.columns}
    said: list[Panel | Attribute] = [
        *schema.panels,
        *(a for a in schema.attributes if not a.free and a.name not in together),
    ]
    names = [source.name for source in said if source.price is None]
    if not schema.priced or not names:
        return []
    what = "no price is given for"
    return [
        f"{what} {join_names(names, 4)}: 1 is taken; put it into the schema or the prices, or what it costs is wrong"
    ]
