"""State as a plain value: what a learner is made of can be listed, saved, and put back."""

from typing import ClassVar, TypeAlias

import numpy as np
import numpy.typing as npt

from .errors import StateError

__all__ = ["Stateful", "Value"]

Array: TypeAlias = npt.NDArray[np.generic]
Value: TypeAlias = "Array | int | float | bool | str"


class Stateful:
    """A thing whose whole changing state is the attributes named in `_fields`.

    A field is an array, a number, a string, or another `Stateful`; `get_state` flattens the tree into one
    dictionary with dotted keys, `set_state` puts it back bit for bit. What never changes (d, k, the tuning) is not
    state: it is rebuilt from the configuration.
    """

    _fields: ClassVar[tuple[str, ...]] = ()
    _grows: ClassVar[tuple[str, ...]] = ()
    """Those of the fields that are arrays whose length changes; every other array keeps its shape."""

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
        """Take over a state that `get_state` gave; a value of another type than the present one is refused."""
        for field in self._fields:
            value = getattr(self, field)
            if isinstance(value, Stateful):
                prefix = f"{field}."
                value.set_state({k.removeprefix(prefix): v for k, v in flat.items() if k.startswith(prefix)})
            else:
                setattr(self, field, _checked(field, value, flat, field in self._grows))


def _checked(field: str, present: Value, flat: dict[str, Value], grows: bool) -> Value:
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
