"""What pydantic finds wrong, in our words: the table, the key, and what it should be."""

from collections.abc import Callable, Mapping, Sequence
from datetime import date
from difflib import get_close_matches
from typing import Any

from .._internal.renamed_options import renamed_option
from ..errors import ConfigError
from .columns import Attribute, Panel, Range, repeated

__all__ = ["check_consistency", "no_source", "sentence"]


def check_consistency(
    label: Range, attributes: Sequence[Attribute], ignored: Sequence[str], panels: Sequence[Panel]
) -> None:
    """`ConfigError` where a column has two places, or two things to order have one name."""
    twice = repeated((label.name, *(a.name for a in attributes), *ignored))
    if twice is not None:
        raise ConfigError(f"{_places(twice, label, attributes, ignored)}: '{twice}' occurs twice; keep one of the two")
    if not attributes:
        raise ConfigError("[attributes]: there is none; list at least one")
    _check_panels(attributes, panels)
    names = [e.name for a in attributes if a.is_complete for e in a.encoded()]
    if (twice := repeated(names)) is not None:
        raise ConfigError(f"[attributes]: two are called '{twice}'; rename a column, or a category's value")


def _places(name: str, label: Range, attributes: Sequence[Attribute], ignored: Sequence[str]) -> str:
    """Where a file has the name."""
    found = ["[label]"] if name == label.name else []
    found += [f"[attributes.{name}]"] if any(a.name == name for a in attributes) else []
    return " and ".join(found + (["ignored"] if name in ignored else []))


def _check_panels(attributes: Sequence[Attribute], panels: Sequence[Panel]) -> None:
    """Every column in one panel at most, known and priced columns in none, and no name that means two sources."""
    if (twice := repeated(p.name for p in panels)) is not None:
        raise ConfigError(f"[sources.{twice}] is there twice; keep one")
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
            raise ConfigError(f"[attributes.{a.name}]: it is known, so [sources.{home[a.name]}] cannot sell it")
        if a.name in home and a.price is not None:
            raise ConfigError(f"[attributes.{a.name}]: its price is that of [sources.{home[a.name]}]; leave price away")
        if a.name not in home and a.name in names:
            raise ConfigError(f"[sources.{a.name}]: a column has that name and is not in it; rename the source")


def no_source(name: str, attributes: Sequence[Attribute], panels: Sequence[Panel]) -> str:
    """Why a name cannot have a price."""
    for panel in panels:
        if name in panel.columns:
            return f"the prices name '{name}', which comes with the source '{panel.name}'; price that instead"
    if any(a.name == name for a in attributes):
        return f"the prices name '{name}', which is known and costs nothing; remove it"
    return f"the prices name '{name}', which is no attribute and no source; remove it or correct the name"


Place = tuple[str | int, ...]

# Tables whose keys are the user's own names.
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
# What pydantic lists first where nothing may be said, too.
_EMPTY = "'', "


def sentence(fault: Mapping[str, Any], fields: Callable[[Place], list[str]]) -> str:
    """`, [attributes.age]: low must be a number, not 'old'`: what follows the file's name."""
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
    """The table as a file has it, and the key in it."""
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
