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
from .algorithm import AlgorithmInfo

__all__ = ["GROUP", "import_algorithm", "import_object", "imported_class", "installed", "learner_class"]

GROUP = "keyhole.algorithms"
"""The group of entry points under which packages announce their learners."""


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


def imported_class(path: str) -> type[Learner]:
    """The learner written "module:Class", whose module is imported already."""
    module, _, name = path.partition(":")
    if module not in sys.modules:
        raise ConfigError(
            f"there is no algorithm '{path[:60]}': import {module[:60]} first, or name it with --algorithm"
        )
    found: object = sys.modules[module]
    for part in name.split("."):
        found = getattr(found, part, None)
    return learner_class(found, path)


@lru_cache(maxsize=1)
def installed() -> dict[str, str]:
    """The algorithms that installed packages announce, "module:Class" by name; a broken one is left out."""
    return {point.name: point.value for point in entry_points(group=GROUP) if _works(point)}


def _works(point: EntryPoint) -> bool:
    """Whether the class can be imported and is a learner; a warning says why not."""
    try:
        learner_class(point.load(), point.value)
    except (ImportError, AttributeError, ConfigError) as fault:
        text = f"the algorithm '{point.name}' of an installed package is left out: {str(fault)[:200]}"
        warnings.warn(text, KeyholeWarning, stacklevel=2)
        return False
    return True


def learner_class(cls: object, path: str) -> type[Learner]:
    """A class that can be made, with an `info` where its author wrote none."""
    if not (isinstance(cls, type) and issubclass(cls, Learner)):
        raise ConfigError(f"'{path}' must be a class that derives from keyhole.Learner")
    if inspect.isabstract(cls):
        raise ConfigError(f"'{path}' does not define {', '.join(sorted(cls.__abstractmethods__))}")
    if not isinstance(getattr(cls, "name", None), str):
        raise ConfigError(f"'{path}' needs a name: write name = \"my-learner\" in its class")
    if not isinstance(getattr(cls, "info", None), AlgorithmInfo):
        cls.info = AlgorithmInfo(
            setting=(inspect.getdoc(cls) or "").partition("\n")[0],
            bound="not stated",
            cost="not stated",
            reference=path,
            status="of another package",
            takes_k0=True,
        )
    return cls
