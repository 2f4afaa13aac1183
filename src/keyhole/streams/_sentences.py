"""What pydantic finds wrong, in our words: the table, the key, and what it should be."""

from collections.abc import Callable, Mapping
from datetime import date
from difflib import get_close_matches
from typing import Any

__all__ = ["sentence"]

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
