"""Algorithms of other packages: classes named "module:Class", and those that installed packages announce.

A package announces its learners as entry points of the group "keyhole.algorithms":

    [project.entry-points."keyhole.algorithms"]
    my-learner = "mypackage.learners:MyLearner"

A name of the form "module:Class" is looked up among the modules that are imported already. `import_algorithm` imports
the module first; it is called for what a person typed, and never for a name that came with a file or a request.
"""

import importlib
import inspect
import sys
import warnings
from functools import lru_cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path

from ...errors import ConfigError, KeyholeWarning
from ..learner import Learner
from .algorithm import Algorithm, Option

__all__ = ["GROUP", "import_algorithm", "import_object", "installed", "record_of_class", "record_of_path"]

GROUP = "keyhole.algorithms"
"""The group of entry points under which packages announce their learners."""
_TYPES: dict[type, str] = {bool: "yes or no", int: "whole number", float: "number", str: "word", list: "list"}


def import_object(path: str) -> object:
    """What "module:name" stands for; the module is imported, from the current folder too.

    Raises:
        ConfigError: If there is no such module, or nothing of that name in it.
    """
    module, _, name = path.partition(":")
    here = str(Path.cwd())
    added = here not in sys.path
    if added:
        sys.path.insert(0, here)
    try:
        found: object = importlib.import_module(module)
    except ImportError as fault:
        raise ConfigError(f"'{path}' cannot be imported: {fault}") from None
    finally:
        if added:
            sys.path.remove(here)
    for part in name.split("."):
        found = getattr(found, part, None)
    if found is None:
        raise ConfigError(f"there is no '{name}' in the module '{module}'")
    return found


def import_algorithm(name: str) -> None:
    """Import the module of an algorithm that is written "module:Class"; other names need nothing."""
    if ":" in name:
        import_object(name)


def record_of_path(path: str) -> Algorithm:
    """The record of a learner written "module:Class", whose module is imported already."""
    module, _, name = path.partition(":")
    if module not in sys.modules:
        raise ConfigError(
            f"there is no algorithm '{path[:60]}': import {module[:60]} first, or name it with --algorithm"
        )
    found: object = sys.modules[module]
    for part in name.split("."):
        found = getattr(found, part, None)
    return record_of_class(path, path, found)


@lru_cache(maxsize=1)
def installed() -> tuple[Algorithm, ...]:
    """The algorithms that installed packages announce; one that cannot be imported is left out with a warning."""
    return tuple(filter(None, map(_announced, entry_points(group=GROUP))))


def _announced(point: EntryPoint) -> Algorithm | None:
    try:
        return record_of_class(point.name, point.value, point.load())
    except (ImportError, AttributeError, ConfigError) as fault:
        text = f"the algorithm '{point.name}' of an installed package is left out: {str(fault)[:200]}"
        warnings.warn(text, KeyholeWarning, stacklevel=2)
        return None


def record_of_class(name: str, path: str, cls: object) -> Algorithm:
    """What can be told of a learner's class without a record of our own."""
    if not (isinstance(cls, type) and issubclass(cls, Learner)):
        raise ConfigError(f"'{path}' must be a class that derives from keyhole.Learner")
    if inspect.isabstract(cls):
        missing = ", ".join(sorted(cls.__abstractmethods__))
        raise ConfigError(f"'{path}' does not define {missing}")
    if not isinstance(getattr(cls, "name", None), str):
        raise ConfigError(f"'{path}' needs a name: write name = \"my-learner\" in its class")
    parameters = [p for p in inspect.signature(cls).parameters.values() if p.name not in ("names", "k", "k0", "seed")]
    return Algorithm(
        name=name,
        setting=(inspect.getdoc(cls) or "").partition("\n")[0],
        bound="not stated",
        cost="not stated",
        reference=path,
        status="of another package",
        path=path,
        buys_all=cls.buys_all,
        extras=True,
        raw_columns=bool(getattr(cls, "raw_columns", False)),
        options=tuple(filter(None, map(_option, parameters))),
    )


def _option(parameter: inspect.Parameter) -> Option | None:
    """What a parameter may be, by its default; one without a default, or with None, is left to the class."""
    default = parameter.default
    kind = _TYPES.get(type(default))
    return Option(parameter.name, kind, None if kind == "list" else default, "see the class") if kind else None
