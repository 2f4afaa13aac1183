"""State as a plain value: what a learner is made of can be listed, saved, and put back - if it is sound."""

from collections.abc import Mapping
from typing import ClassVar, TypeAlias

import numpy as np
import numpy.typing as npt

from .errors import StateError
from .rules import Rule, usual

__all__ = ["Stateful", "Value"]

Array: TypeAlias = npt.NDArray[np.generic]
Value: TypeAlias = "Array | int | float | bool | str"


class Stateful:
    """A thing whose whole changing state is the attributes named in `_fields`.

    A field is an array, a number, a string, or another `Stateful`; `get_state` flattens the tree into one
    dictionary with dotted keys, `set_state` puts it back bit for bit. What never changes (d, k, the tuning) is not
    state: it is rebuilt from the configuration.

    A state may come from a file that somebody made up, and kernels trust it. So `set_state` takes a value only if it
    has the type and the shape that the field of the fresh object has, and keeps its rule: the one that `_rules` has for
    it, or the usual one (numbers are finite, whole numbers are counts). `_check_state` says what fields owe each other.
    """

    _fields: ClassVar[tuple[str, ...]] = ()
    _grows: ClassVar[tuple[str, ...]] = ()
    """Those of the fields that are arrays whose length changes; every other array keeps its shape."""
    _rules: ClassVar[Mapping[str, Rule]] = {}
    """What the values of a field may be, by its name; a dotted name is a field of a part."""
    _added: ClassVar[tuple[str, ...]] = ()
    """Those of the fields that files of earlier versions lack: there they are as in a fresh object."""

    def get_state(self) -> dict[str, Value]:
        """A copy of the state: `{"s": 3, "newton.w": array, ...}`."""
        flat: dict[str, Value] = {}
        for field in self._fields:
            value = getattr(self, field)
            if isinstance(value, Stateful):
                flat.update({f"{field}.{key}": part for key, part in value.get_state().items()})
            else:
                flat[field] = value.copy() if isinstance(value, np.ndarray) else value
        return flat

    def set_state(self, flat: dict[str, Value]) -> None:
        """Take over a state that `get_state` gave; one that such a thing cannot have is a `StateError`."""
        rules = {
            name: rule for cls in reversed(type(self).__mro__) for name, rule in vars(cls).get("_rules", {}).items()
        }
        for field in self._fields:
            value = getattr(self, field)
            if isinstance(value, Stateful):
                prefix = f"{field}."
                value.set_state({k.removeprefix(prefix): v for k, v in flat.items() if k.startswith(prefix)})
            elif field in flat or field not in self._added:
                new = _alike(field, value, flat, field in self._grows)
                (rules.get(field) or usual(new)).check(field, new, self)
                setattr(self, field, new)
        for field, rule in rules.items():
            if "." in field:
                rule.check(field, flat.get(field), self)
        self._check_state()

    def _check_state(self) -> None:
        """A `StateError` where the fields just taken over contradict each other."""


def _alike(field: str, present: Value, flat: dict[str, Value], grows: bool) -> Value:
    """The new value of a field, if it is of the kind the field has now."""
    if field not in flat:
        raise StateError(f"the state lacks '{field}'; the file was not written by this version of keyhole")
    new = flat[field]
    if isinstance(present, np.ndarray):
        if not isinstance(new, np.ndarray) or new.dtype != present.dtype or new.ndim != present.ndim:
            raise StateError(f"'{field}' in the state is not a {present.ndim}-dimensional array of {present.dtype}")
        if new.shape != present.shape and not grows:
            raise StateError(f"'{field}' in the state has shape {new.shape}, not {present.shape}")
        return new.copy()
    if isinstance(present, float) and isinstance(new, int) and not isinstance(new, bool):
        new = float(new)
    if type(new) is not type(present):
        raise StateError(f"'{field}' in the state is {type(new).__name__}, not {type(present).__name__}")
    return new
