"""TOML in and out: a schema as text, a user's own file kept where it is rewritten."""

import json
import re
import tomllib
from collections.abc import Mapping
from datetime import date
from math import isfinite
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from ..errors import ConfigError
from .columns import Panel

if TYPE_CHECKING:
    from .columns import Range
    from .schema import Schema

__all__ = ["content", "format_schema", "parse", "quoted", "read_text", "rewrite"]

Content: TypeAlias = "dict[str, object]"

_HEAD = """\
# What `keyhole run` may know of the table beforehand. Edit freely: a column moved to `ignored` is never read;
# values beyond low..high are clipped and counted (left out: nothing is clipped); center is what scales to 0, and what
# is predicted before the first label. `estimated = true`: these ends were computed from the rows of the file itself; a
# comparison does not use them. Write your own numbers and remove the mark where you know better.
"""

_WORDS = ("missing", "below", "above")

# A key of a hundred parts and more, a.b.c...: a reader's work grows with the square of their number.
_DEEP = re.compile(r"""(?<![\w"'-])(?:(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+){100}""")


def read_text(path: "str | PathLike[str]") -> str:
    """The text of a small file."""
    try:
        return Path(path).read_text(encoding="utf-8")
    except FileNotFoundError:
        raise ConfigError(f"{path}: no such file; check the name and the folder") from None
    except (OSError, UnicodeDecodeError) as fault:
        why = getattr(fault, "strerror", None) or "it is not UTF-8"
        raise ConfigError(f"{path} cannot be read as text ({why}); give a TOML file") from None


def parse(text: str, where: str) -> Content:
    """The TOML in a text."""
    try:
        if _DEEP.search(text):
            raise RecursionError
        return tomllib.loads(text)
    except RecursionError:
        raise ConfigError(f"{where} is not TOML that can be read: it is nested too deeply") from None
    except ValueError as fault:  # also a number of thousands of digits
        raise ConfigError(f"{where} is not TOML: {fault}") from None


def content(schema: "Schema") -> Content:
    """The schema as plain values, by the tables and keys of its file; what was not said is left out."""
    found: Content = {"ignored": list(schema.ignored)}
    if schema.encoding:
        found["file"] = {"encoding": schema.encoding}
    said = _said(schema.label, ("unit", "numbers", *_WORDS, "type", "positive", "negative", "transform"))
    found["label"] = {"name": schema.target, **said}
    if schema.currency:
        found["money"] = {"currency": schema.currency}
    if schema.panels:
        found["sources"] = {p.name: _said(p, ("price", "columns")) for p in schema.panels}
    keys = ("price", "free", "unit", "type", "numbers", *_WORDS, "values", "origin", "transform")
    found["attributes"] = {a.name: _said(a, keys) for a in schema.attributes}
    return found


def format_schema(schema: "Schema") -> str:
    """The schema as TOML, one line per attribute."""
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
    """A user's text with this schema's values in it: what did not change stays to the letter, comments too."""
    # Only here: tomlkit keeps comments and takes its time (its documents grow quadratically).
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
    """Make a document say `now` where it said `before`, and touch nothing else."""
    for key in [key for key in before if key not in now]:
        del document[key]  # type: ignore[attr-defined]
    for key, value in now.items():
        old = before.get(key)
        if isinstance(value, Mapping) and isinstance(old, Mapping):
            _merge(document[key], old, value)  # type: ignore[arg-type]
        elif value != old or isinstance(value, bool) != isinstance(old, bool):
            document[key] = value  # type: ignore[index]


def _said(column: "Range | Panel", keys: tuple[str, ...]) -> Content:
    """The fields that differ from what is meant where nothing is said."""
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
    """A TOML basic string: JSON's escapes are valid there, and DEL must be escaped too."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
