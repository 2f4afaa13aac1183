"""The state of a learner: which fields it has, and which values each may hold in a file that comes from outside.

| check              | a field that passes                                                              |
|--------------------|----------------------------------------------------------------------------------|
| `NumberCheck`      | finite numbers within bounds                                                     |
| `CountCheck`       | whole numbers >= 0 within bounds                                                 |
| `IndexCheck`       | attributes (or positions in another list): 0 <= i < below, each at most once     |
| `ProbabilityCheck` | probabilities that sum to one                                                    |
| `GramCheck`        | a sum of x x': symmetric, positive semidefinite                                  |
| `InverseGramCheck` | A^-1 of an A that started at eps I and grew: symmetric, 0 <= A^-1 <= I / eps     |
| `RecordCheck`      | records of such numbers                                                          |
| `NoCheck`          | whatever its type allows                                                         |
| `Growing(check)`   | an array whose length changes, and that passes the check                         |
| `Part(...)`        | another object with a state of its own                                           |

A bound is a number, or the name of what the owner of the field was configured with: `IndexCheck("d")`.
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
"""More than sums of products of what the protocol lets through come to; its square is still a number."""
_COUNTLESS = 1 << 53

Bound: TypeAlias = float | int | str


class Check(Protocol):
    """A statement about the values of a field."""

    def check(self, field: str, value: object, owner: object) -> None:
        """Raise a `StateError` for a value that the field cannot have."""


StateSchema: TypeAlias = Mapping[str, Check]
"""The fields of a state, each with its check."""


def _limit(bound: Bound, owner: object) -> float:
    """The bound as a number."""
    return float(getattr(owner, bound)) if isinstance(bound, str) else bound


def _refuse(field: str, what: str) -> None:
    raise StateError(f"'{field}' in the state is not what it can be: {what}; the file is damaged or forged")


@dataclass(frozen=True)
class NoCheck:
    """No check: the type says it all (text, truth values), or `_check_state` covers it."""

    def check(self, field: str, value: object, owner: object) -> None:
        """Nothing to refuse."""


@dataclass(frozen=True)
class NumberCheck:
    """Finite numbers in [least, most]; without `least`, no larger in size than `most`."""

    least: Bound | None = None
    most: Bound = LARGEST

    def check(self, field: str, value: object, owner: object) -> None:
        """Every entry."""
        x, most = np.asarray(value), _limit(self.most, owner)
        least = -most if self.least is None else _limit(self.least, owner)
        if x.dtype.kind not in "fi" or not ((x >= least) & (x <= most)).all():  # a NaN is neither
            _refuse(field, f"finite numbers between {least:g} and {most:g}")


@dataclass(frozen=True)
class CountCheck:
    """Whole numbers in [least, most]; in an array of floats too."""

    least: Bound = 0
    most: Bound = _COUNTLESS

    def check(self, field: str, value: object, owner: object) -> None:
        """Every entry."""
        NumberCheck(self.least, self.most).check(field, value, owner)
        x = np.asarray(value)
        if not (x == np.floor(x)).all():
            _refuse(field, "whole numbers")


@dataclass(frozen=True)
class IndexCheck:
    """Indices below a bound, each at most once in a row of the array; with `gaps`, -1 stands for none."""

    below: Bound
    ascending: bool = False
    gaps: bool = False

    def check(self, field: str, value: object, owner: object) -> None:
        """Every row."""
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
        """Every entry, and their sum."""
        NumberCheck(0.0, 1.0 + 1e-9).check(field, value, owner)
        if abs(float(np.sum(value)) - 1.0) > 1e-6:  # type: ignore[call-overload]
            _refuse(field, "probabilities that sum to one")


@dataclass(frozen=True)
class GramCheck:
    """A symmetric positive semidefinite matrix, up to rounding; a stack of them too.

    Rounding is relative to `size`, or to the largest entry.
    """

    size: float | None = None

    def check(self, field: str, value: object, owner: object) -> None:
        """Its entries, its symmetry, and a Cholesky factor once rounding is made up for."""
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
    """Symmetric matrices with 0 <= A^-1 <= I / eps, up to rounding; a stack of them too."""

    eps: Bound

    def check(self, field: str, value: object, owner: object) -> None:
        """Every matrix."""
        most = (1.0 + 1e-6) / _limit(self.eps, owner)
        NumberCheck(most=most).check(field, value, owner)
        GramCheck(most).check(field, value, owner)  # what is left of I / eps has its rounding errors


@dataclass(frozen=True)
class RecordCheck:
    """An array of records: numbers are finite, whole numbers counts or -1 for none."""

    def check(self, field: str, value: object, owner: object) -> None:
        """Field by field."""
        records = np.asarray(value)
        checks: dict[str, Check] = {"f": NumberCheck(), "i": CountCheck(least=-1), "V": RecordCheck()}
        for name in records.dtype.names or ():
            check = checks.get(records.dtype[name].kind, NoCheck())
            check.check(f"{field}.{name}", records[name], owner)


@dataclass(frozen=True)
class Growing:
    """An array whose length changes; every other array keeps its shape."""

    values: Check

    def check(self, field: str, value: object, owner: object) -> None:
        """Its values."""
        self.values.check(field, value, owner)


class Part:
    """Another `Stateful`, which has its own schema; `checks` are those of its fields that its owner alone can make.

    >>> part = Part(S=IndexCheck("d", ascending=True))  # the part does not know d
    """

    def __init__(self, **checks: Check) -> None:
        self.checks = checks

    def check(self, field: str, value: object, owner: object) -> None:
        """The owner's checks of the part's fields."""
        for name, check in self.checks.items():
            check.check(f"{field}.{name}", getattr(value, name), owner)


Array: TypeAlias = npt.NDArray[np.generic]
Value: TypeAlias = "Array | int | float | bool | str"


class Stateful:
    """An object whose whole changing state is the attributes named in `_state`.

    `_state` names each field with its check; a subclass names only the fields it adds. A field is an array, a number, a
    string, or another `Stateful`; `get_state` flattens the tree into one dictionary with dotted keys, `set_state` puts
    it back bit for bit. What never changes (d, k, the tuning) is not state: it is rebuilt from the configuration.

    A state may come from a file that somebody made up, and compiled code trusts it. So `set_state` takes a value only
    if it has the type and the shape that the field of the fresh object has, and passes its check; then `_check_state`
    compares the fields with each other.
    """

    _state: ClassVar[StateSchema] = {}

    @classmethod
    def state_schema(cls) -> dict[str, Check]:
        """All fields with their checks, those of the base classes first."""
        return {name: check for base in reversed(cls.__mro__) for name, check in vars(base).get("_state", {}).items()}

    def get_state(self) -> dict[str, Value]:
        """A copy of the state: `{"s": 3, "newton.w": array, ...}`."""
        flat: dict[str, Value] = {}
        for field in self.state_schema():
            value = getattr(self, field)
            if isinstance(value, Stateful):
                flat.update({f"{field}.{key}": part for key, part in value.get_state().items()})
            else:
                flat[field] = value.copy() if isinstance(value, np.ndarray) else value
        return flat

    def set_state(self, flat: dict[str, Value]) -> None:
        """Take over a state that `get_state` gave; one that such an object cannot have is a `StateError`."""
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
        """Raise a `StateError` if the fields just taken over contradict each other."""


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
