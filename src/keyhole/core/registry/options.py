"""The options of a learner, read from its constructor's signature, type annotations and docstring."""

import inspect
import re
from collections.abc import Mapping, Sequence
from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from .algorithm import Option, OptionValue

__all__ = ["COMMON", "options_of_class"]

COMMON = ("names", "k", "k0", "seed")
"""The parameters that every constructor takes first."""


@cache
def options_of_class(cls: type) -> tuple[Option, ...]:
    """Return the options in the order of the constructor's signature."""
    hints, meanings = get_type_hints(cls.__init__, include_extras=True), _meanings(cls)  # type: ignore[misc]
    found = []
    for name, parameter in inspect.signature(cls).parameters.items():
        if name not in COMMON:
            default = None if parameter.default is inspect.Parameter.empty else parameter.default
            kind, choices = _kind(hints.get(name, type(default)))
            found.append(Option(name, kind, default, meanings.get(name, ""), choices))
    return tuple(found)


def _kind(hint: Any) -> tuple[str, tuple[str, ...]]:
    """Return the type of an option as text, and the words it allows."""
    if get_origin(hint) is Annotated:
        return str(hint.__metadata__[0]), ()
    parts = [part for part in _parts(hint) if part is not NoneType]
    words = tuple(str(word) for part in parts if get_origin(part) is Literal for word in get_args(part))
    if words:
        objects = [part for part in parts if isinstance(part, type) and issubclass(part, OptionValue)]
        return "choice", (*words, *(f"{part.__name__.lower()}(c)" for part in objects))
    if bool in parts:
        return "yes or no", ()
    if str in parts:
        return ("schedule" if float in parts else "word"), ()
    if float in parts or int in parts:
        return ("number" if float in parts else "whole number"), ()
    origins = [get_origin(part) for part in parts]
    if Mapping in origins:
        return ("prices" if Sequence in origins else "sources"), ()
    return "list", ()


def _parts(hint: Any) -> tuple[Any, ...]:
    return get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)


def _meanings(cls: type) -> dict[str, str]:
    """Return the text of each parameter in the docstring of the class that defines the constructor."""
    found: dict[str, str] = {}
    for base in reversed(cls.__mro__):
        text = inspect.cleandoc(vars(base).get("__doc__") or "")
        section = re.search(r"Parameters\n-+\n(.*?)(?:\n\n|\Z)", text, re.S)
        for names, meaning in re.findall(r"^(\w[\w, ]*)\n((?:[ ]+.*(?:\n|\Z))+)", section[1] if section else "", re.M):
            found |= dict.fromkeys(re.split(r",\s*", names), " ".join(meaning.split()))
    return found
