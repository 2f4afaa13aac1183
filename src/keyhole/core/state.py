"""The state of a learner: its fields, and the values each field may hold in an untrusted file.

| check              | a field that passes                                                              |
|--------------------|----------------------------------------------------------------------------------|
| `NumberCheck`      | finite numbers within bounds                                                     |
| `CountCheck`       | integers >= 0 within bounds                                                      |
| `IndexCheck`       | attributes (or positions in another list): 0 <= i < below, no duplicates         |
| `ProbabilityCheck` | probabilities that sum to one                                                    |
| `GramCheck`        | a sum of x x': symmetric, positive semidefinite                                  |
| `InverseGramCheck` | A^-1 of an A that started at eps I and grew: symmetric, 0 <= A^-1 <= I / eps     |
| `RecordCheck`      | records of such numbers                                                          |
| `NoCheck`          | any value of the right type                                                      |
| `Growing(check)`   | an array of variable length that passes the check                                |
| `Part(...)`        | a nested object with its own state                                               |

A bound is a number, or the name of an attribute of the field's owner: `IndexCheck("d")`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from ..errors import StateError

__all__ = [
    "LARGEST",
    "Check",
    "CountCheck",
    "GramCheck",
    "Growing",
    "IndexCheck",
    "InverseGramCheck",
    "NoCheck",
    "NumberCheck",
    "Part",
    "ProbabilityCheck",
    "RecordCheck",
    "StateSchema",
    "Stateful",
    "Value",
]


LARGEST = 1e150
"""Larger than any sum of products of valid inputs; its square is still finite."""
_COUNTLESS = 1 << 53

Bound: TypeAlias = float | int | str


class Check(Protocol):
    """A constraint on the values of a field."""

    def check(self, field: str, value: object, owner: object) -> None:
        """Raise a `StateError` if the field cannot have this value."""


StateSchema: TypeAlias = Mapping[str, Check]
"""The fields of a state, each with its check."""


def _limit(bound: Bound, owner: object) -> float:
    """Return the bound as a number."""
    return float(getattr(owner, bound)) if isinstance(bound, str) else bound


def _refuse(field: str, what: str) -> None:
    raise StateError(f"'{field}' in the state is invalid: {what}; the file is damaged or forged")


@dataclass(frozen=True)
class NoCheck:
    """No constraint, because the type suffices (text, booleans) or `_check_state` checks the field."""

    def check(self, field: str, value: object, owner: object) -> None:
        """Accept every value."""


@dataclass(frozen=True)
class NumberCheck:
    """Finite numbers in [least, most]; without `least`, in [-most, most]."""

    least: Bound | None = None
    most: Bound = LARGEST

    def check(self, field: str, value: object, owner: object) -> None:
        """Check every entry."""
        x, most = np.asarray(value), _limit(self.most, owner)
        least = -most if self.least is None else _limit(self.least, owner)
        if x.dtype.kind not in "fi" or not ((x >= least) & (x <= most)).all():  # also false for NaN
            _refuse(field, f"finite numbers between {least:g} and {most:g}")


@dataclass(frozen=True)
class CountCheck:
    """Integers in [least, most], possibly stored as floats."""

    least: Bound = 0
    most: Bound = _COUNTLESS

    def check(self, field: str, value: object, owner: object) -> None:
        """Check every entry."""
        NumberCheck(self.least, self.most).check(field, value, owner)
        x = np.asarray(value)
        if not (x == np.floor(x)).all():
            _refuse(field, "whole numbers")


@dataclass(frozen=True)
class IndexCheck:
    """Indices below a bound without duplicates in a row of the array; with `gaps`, -1 marks an empty place."""

    below: Bound
    ascending: bool = False
    gaps: bool = False

    def check(self, field: str, value: object, owner: object) -> None:
        """Check every row."""
        n, x = _limit(self.below, owner), np.atleast_2d(np.asarray(value))
        if x.dtype.kind != "i" or not ((x >= -self.gaps) & (x < n)).all():
            _refuse(field, f"indices from 0 to {n - 1:g}")
        rows = np.sort(x, axis=-1)
        if ((np.diff(rows, axis=-1) == 0) & (rows[..., 1:] >= 0)).any():
            _refuse(field, "indices, each at most once")
        if self.ascending and not np.array_equal(rows, x):
            _refuse(field, "indices in ascending order")


@dataclass(frozen=True)
class ProbabilityCheck:
    """Probabilities that sum to one."""

    def check(self, field: str, value: object, owner: object) -> None:
        """Check every entry and the sum."""
        NumberCheck(0.0, 1.0 + 1e-9).check(field, value, owner)
        if abs(float(np.sum(value)) - 1.0) > 1e-6:  # type: ignore[call-overload]
            _refuse(field, "probabilities that sum to one")


@dataclass(frozen=True)
class GramCheck:
    """A symmetric positive semidefinite matrix, or a stack of them, up to rounding.

    The tolerance is relative to `size`, or to the largest entry.
    """

    size: float | None = None

    def check(self, field: str, value: object, owner: object) -> None:
        """Check the entries, the symmetry, and that a Cholesky factor exists after a shift by the tolerance."""
        NumberCheck().check(field, value, owner)
        A = np.asarray(value)
        most = self.size or np.abs(A).max(axis=(-1, -2), keepdims=True, initial=1e-300)
        if (np.abs(A - np.swapaxes(A, -1, -2)) > 1e-9 * most).any():
            _refuse(field, "symmetric")
        try:
            np.linalg.cholesky(A / most + 1e-6 * np.eye(A.shape[-1]))
        except np.linalg.LinAlgError:
            _refuse(field, "positive semidefinite")


@dataclass(frozen=True)
class InverseGramCheck:
    """A symmetric matrix with 0 <= A^-1 <= I / eps, or a stack of them, up to rounding."""

    eps: Bound

    def check(self, field: str, value: object, owner: object) -> None:
        """Check every matrix."""
        most = (1.0 + 1e-6) / _limit(self.eps, owner)
        NumberCheck(most=most).check(field, value, owner)
        GramCheck(most).check(field, value, owner)  # the remainder of I / eps carries its rounding errors


@dataclass(frozen=True)
class RecordCheck:
    """An array of records: floats are finite, integers are counts or -1 for none."""

    def check(self, field: str, value: object, owner: object) -> None:
        """Check every field."""
        records = np.asarray(value)
        checks: dict[str, Check] = {"f": NumberCheck(), "i": CountCheck(least=-1), "V": RecordCheck()}
        for name in records.dtype.names or ():
            check = checks.get(records.dtype[name].kind, NoCheck())
            check.check(f"{field}.{name}", records[name], owner)


@dataclass(frozen=True)
class Growing:
    """An array of variable length; all other arrays have a fixed shape."""

    values: Check

    def check(self, field: str, value: object, owner: object) -> None:
        """Check the values."""
        self.values.check(field, value, owner)


class Part:
    """A nested `Stateful` with its own schema; `checks` are constraints on its fields that only the owner can verify.

    >>> part = Part(S=IndexCheck("d", ascending=True))  # the part does not know d
    """

    def __init__(self, **checks: Check) -> None:
        self.checks = checks

    def check(self, field: str, value: object, owner: object) -> None:
        """Apply the owner's checks to the fields of the part."""
        for name, check in self.checks.items():
            check.check(f"{field}.{name}", getattr(value, name), owner)


Array: TypeAlias = npt.NDArray[np.generic]
Value: TypeAlias = "Array | int | float | bool | str"


class Stateful:
    """An object whose mutable state consists of the attributes listed in `_state`.

    `_state` maps each field to its check; a subclass lists only the fields it adds. A field is an array, a number, a
    string, or another `Stateful`. `get_state` flattens the tree into one dictionary with dotted keys, and `set_state`
    restores it bit for bit. Constants (d, k, the tuning) are not state: they are rebuilt from the configuration.

    A state may come from a forged file, and compiled code trusts it. Therefore `set_state` accepts a value only if it
    has the type and shape of the field of a new object and passes the field's check; then `_check_state` checks the
    fields for consistency.
    """

    _state: ClassVar[StateSchema] = {}

    @classmethod
    def state_schema(cls) -> dict[str, Check]:
        """Return all fields with their checks, those of the base classes first."""
        return {name: check for base in reversed(cls.__mro__) for name, check in vars(base).get("_state", {}).items()}

    def get_state(self) -> dict[str, Value]:
        """Return a copy of the state: `{"s": 3, "newton.w": array, ...}`."""
        flat: dict[str, Value] = {}
        for field in self.state_schema():
            value = getattr(self, field)
            if isinstance(value, Stateful):
                flat.update({f"{field}.{key}": part for key, part in value.get_state().items()})
            else:
                flat[field] = value.copy() if isinstance(value, np.ndarray) else value
        return flat

    def set_state(self, flat: dict[str, Value]) -> None:
        """Restore a state returned by `get_state`; a state that such an object cannot have raises `StateError`."""
        for field, check in self.state_schema().items():
            value = getattr(self, field)
            if isinstance(value, Stateful):
                prefix = f"{field}."
                value.set_state({k.removeprefix(prefix): v for k, v in flat.items() if k.startswith(prefix)})
                check.check(field, value, self)
            else:
                new = _alike(field, value, flat, isinstance(check, Growing))
                check.check(field, new, self)
                setattr(self, field, new)
        self._check_state()

    def _check_state(self) -> None:
        """Raise a `StateError` if the restored fields contradict each other."""


def _alike(field: str, present: Value, flat: dict[str, Value], grows: bool) -> Value:
    """Return the new value of a field after checking that its type and shape match the present value."""
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
