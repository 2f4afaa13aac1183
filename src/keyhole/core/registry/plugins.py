"""Algorithms of other packages: classes named "module:Class", and classes that installed packages register.

A package registers its learners as entry points of the group "keyhole.algorithms":

    [project.entry-points."keyhole.algorithms"]
    my-learner = "mypackage.learners:MyLearner"

A name of the form "module:Class" is looked up among the modules already imported. `import_algorithm` imports the module
first; it is called only for names that a user typed, never for names from a file or a request.
"""

import importlib
import inspect
import sys
import warnings
from functools import lru_cache
from importlib.metadata import entry_points
from pathlib import Path

from ...errors import ConfigError, KeyholeWarning
from ..learner import Learner
from .algorithm import Algorithm, AlgorithmInfo, options_of_class

__all__ = ["GROUP", "entry_of_class", "import_algorithm", "import_object", "imported", "installed"]

GROUP = "keyhole.algorithms"
"""The entry point group under which packages register their learners."""


def import_object(path: str) -> object:
    """Import and return the object named "module:name"; the current folder is searched too.

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
    """Import the module of an algorithm written as "module:Class"; do nothing for other names."""
    if ":" in name:
        import_object(name)


def imported(path: str) -> type[Learner]:
    """Return the learner class written as "module:Class", whose module must already be imported."""
    module, _, name = path.partition(":")
    if module not in sys.modules:
        raise ConfigError(
            f"there is no algorithm '{path[:60]}': import {module[:60]} first, or name it with --algorithm"
        )
    found: object = sys.modules[module]
    for part in name.split("."):
        found = getattr(found, part, None)
    return _learner(path, found)


@lru_cache(maxsize=1)
def installed() -> dict[str, str]:
    """Return the algorithms registered by installed packages, by name; invalid ones are omitted with a warning."""
    found = {}
    for point in entry_points(group=GROUP):
        try:
            _learner(point.value, point.load())
            found[point.name] = point.value
        except (ImportError, AttributeError, ConfigError) as fault:
            text = f"the algorithm '{point.name}' of an installed package is omitted: {str(fault)[:200]}"
            warnings.warn(text, KeyholeWarning, stacklevel=2)
    return found


def entry_of_class(name: str, path: str, cls: type[Learner]) -> Algorithm:
    """Return the entry of a learner's class; a class without `info` gets one from its docstring."""
    info = getattr(cls, "info", None) or AlgorithmInfo(
        setting=(inspect.getdoc(cls) or "").partition("\n")[0],
        bound="not stated",
        cost="not stated",
        reference=path,
        status="of another package",
        takes_k0=True,
    )
    return Algorithm(name=name, path=path, options=options_of_class(cls), **vars(info))


def _learner(path: str, cls: object) -> type[Learner]:
    """Return the class after checking that it can be used as a learner."""
    if not (isinstance(cls, type) and issubclass(cls, Learner)):
        raise ConfigError(f"'{path}' must be a class that derives from keyhole.Learner")
    if inspect.isabstract(cls):
        missing = ", ".join(sorted(cls.__abstractmethods__))
        raise ConfigError(f"'{path}' does not define {missing}")
    if not isinstance(getattr(cls, "name", None), str):
        raise ConfigError(f"'{path}' needs a name: write name = \"my-learner\" in its class")
    return cls
