"""What may come in through the protocol: every check happens before anything changes."""

from collections.abc import Mapping, Sequence

import numpy as np

from ._types import Bools, Floats, Ints
from .errors import ProtocolError

# Beyond this no measurement lives, and its square would overflow inside a learner and destroy it.
LARGEST = 1e100


def label(y: float) -> float:
    """The label as a float, if it is a finite number."""
    try:
        value = float(y)
    except (TypeError, ValueError):
        raise ProtocolError(f"the label must be a number, not {y!r}") from None
    if np.isnan(value):
        raise ProtocolError("the label is NaN; close a round without a label with learner.abandon(r)")
    if abs(value) > LARGEST:
        raise ProtocolError(f"the label is {value}; it must be finite (and at most {LARGEST:g} in size)")
    return value


def values(given: "Sequence[float] | Floats | Mapping[str, float]", names: Sequence[str]) -> Floats:
    """The bought values in the order of `names`, given in that order or by name; NaN means bought but unobserved."""
    if isinstance(given, Mapping):
        given = _by_name(given, names)
    try:
        x = np.array(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise ProtocolError(f"the values must be numbers, one each for {_list(names)}") from None
    if x.shape != (len(names),):
        raise ProtocolError(
            f"expected {len(names)} values, one each for {_list(names)}; got an array of shape {x.shape}"
        )
    large = np.abs(x) > LARGEST
    if large.any():
        i = int(np.flatnonzero(large)[0])
        raise ProtocolError(f"the value of '{names[i]}' is {x[i]}; pass NaN for one that was not observed")
    return x


def _by_name(given: Mapping[str, float], names: Sequence[str]) -> list[float]:
    """Values by name, if there is exactly one for each name asked for."""
    missing, foreign = [n for n in names if n not in given], [n for n in given if n not in set(names)]
    if missing:
        raise ProtocolError(f"no value for {_list(missing)}; pass NaN for one that was bought but not observed")
    if foreign:
        raise ProtocolError(f"{_list(foreign)} was not asked for in this round; a learner takes only what it bought")
    return [given[n] for n in names]


def available(given: "Bools | Sequence[bool] | Sequence[str] | None", index: Mapping[str, int], d: int) -> Bools | None:
    """The mask of what can be bought this time (None: everything), given as a mask or as names."""
    if given is None:
        return None
    array = np.asarray(given if isinstance(given, np.ndarray) else list(given))
    if array.dtype == np.bool_ and array.shape == (d,):
        return array.copy()
    if array.dtype.kind == "U" or array.size == 0:
        mask = np.zeros(d, dtype=np.bool_)
        for name in array.tolist():
            if name not in index:
                raise ProtocolError(f"available names '{name}', which is not an attribute of this learner")
            mask[index[name]] = True
        return mask
    raise ProtocolError(
        f"available must be a boolean mask of length {d} or a list of names, not {array.dtype} {array.shape}"
    )


def extras(given: "Sequence[int] | Ints | None", extra: Ints) -> None:
    """The extra attributes handed back with the label are those the round drew."""
    if given is None:
        raise ProtocolError(f"this round buys {extra.size} more attributes; pass extra_attributes=learner.ask_more(r)")
    if not np.array_equal(np.asarray(given), extra):
        raise ProtocolError(f"extra_attributes must be learner.ask_more(r), which is {extra.tolist()}")


def _list(names: Sequence[str]) -> str:
    shown = ", ".join(f"'{n}'" for n in names[:6])
    return f"{shown}, ... ({len(names)} in all)" if len(names) > 6 else shown or "no attribute"
