"""Validation of all protocol inputs; every check happens before any state changes."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

import numpy as np

from .._internal.dataframes import is_frame, is_series, labels_of, matrix_of, row_of
from .._internal.formatting import join_names
from .._internal.typing import Bools, Floats, Ints
from ..errors import ConfigError, ProtocolError
from .round import Round
from .sources import LARGEST_PRICE, SourceCatalog

Values: TypeAlias = "Sequence[float] | Floats | Mapping[str, float]"

LARGEST = 1e100
"""Larger magnitudes are treated as faulty measurements and rejected."""
HIGHEST = 0.999
"""The highest level of an interval; above it there are too few misses to learn from."""
MOST, LEAST = 1e30, 1e-30
"""Magnitudes above MOST are clipped and those below LEAST set to zero, so that fourth powers and ratios are finite."""


def number(what: str, given: float) -> float:
    """Return the value given for `what` as a float; infinite if the number is too large for a float."""
    try:
        if isinstance(given, str | bytes):  # float would parse it
            raise TypeError
        return float(given)
    except (TypeError, ValueError):
        raise ProtocolError(f"{what} must be a number, not {_short(given)}") from None
    except OverflowError:
        return float("inf")


def finite(what: str, given: float) -> float:
    """Return the value given for `what` as a float, which must be finite."""
    value = number(what, given)
    if not np.isfinite(value):
        raise ProtocolError(f"{what} is {value}; it must be finite")
    return value


def label(y: float) -> float:
    """Return the label as a float, which must be finite."""
    value = number("the label", y)
    if np.isnan(value):
        raise ProtocolError("the label is NaN; close a round without a label with learner.abandon(r)")
    if abs(value) > LARGEST:
        raise ProtocolError(f"the label is {value}; it must be finite (and at most {LARGEST:g} in size)")
    return value if LEAST <= abs(value) <= MOST else float(clip_magnitude(np.array([value]))[0])


def binary_label(y: float) -> float:
    """Return the label as 0.0 or 1.0; only 0, 1, False and True are accepted."""
    value = label(y)
    if value not in (0.0, 1.0):
        raise ProtocolError(f'the label is {_short(y)}; with label="binary" it is 0 or 1')
    return value


def binary_labels(labels: Floats) -> None:
    """Raise a `ProtocolError` with the position of the first past label that is neither 0 nor 1."""
    bad = np.flatnonzero((labels != 0.0) & (labels != 1.0))
    if bad.size:
        i = int(bad[0])
        raise ProtocolError(f'the label of labelled row {i + 1} is {labels[i]:g}; with label="binary" it is 0 or 1')


def level(given: float) -> float:
    """Return the level of an interval, which must lie in the range that can be calibrated."""
    if isinstance(given, bool) or not isinstance(given, int | float | np.floating) or not 0.0 < given <= HIGHEST:
        raise ProtocolError(
            f"the level of an interval is above 0 and at most {HIGHEST}, such as 0.9, not {_short(given)}"
        )
    return float(given)


def values(given: Values, names: Sequence[str]) -> Floats:
    """Return the bought values, given in order or by name, in the order of `names`; NaN: bought but unobserved."""
    if not isinstance(given, list | tuple | np.ndarray):
        given = _in_order(given, names)
    try:
        x = np.array(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise ProtocolError(
            f"the values must be numbers, one each for {join_names(names, quoted=True) or 'no attribute'}"
        ) from None
    except OverflowError:
        raise ProtocolError(
            f"a value is too large to be a number; pass NaN for one of {join_names(names, quoted=True)}"
        ) from None
    if x.shape != (len(names),):
        each = join_names(names, quoted=True) or "no attribute"
        raise ProtocolError(f"expected {len(names)} values, one each for {each}; got an array of shape {x.shape}")
    size = np.abs(x)
    if _is_ordinary(size):
        return x
    if (size > LARGEST).any():
        i = int(np.flatnonzero(size > LARGEST)[0])
        raise ProtocolError(f"the value of '{names[i]}' is {x[i]}; pass NaN for one that was not observed")
    return clip_magnitude(x) if ((size > MOST) | (size < LEAST)).any() else x


def _is_ordinary(size: Floats) -> bool:
    """Return whether no magnitude needs attention: the common case; false for a NaN or a zero."""
    return bool(((size <= MOST) & (size >= LEAST)).all())


def clip_magnitude(x: Floats) -> Floats:
    """Return a copy with magnitudes above MOST clipped to MOST and those below LEAST set to zero; NaN is kept."""
    kept: Floats = np.clip(x, -MOST, MOST)
    kept[np.abs(kept) < LEAST] = 0.0
    return kept


def _in_order(given: "Sequence[float] | Mapping[str, float]", names: Sequence[str]) -> "Sequence[float]":
    """Return values that carry names (a mapping, a one-row frame, a pandas series) in the order of `names`."""
    try:
        named = given if isinstance(given, Mapping) else row_of(given)
    except ConfigError as fault:
        raise ProtocolError(str(fault)) from None
    return given if named is None else _by_name(named, names)  # type: ignore[return-value]


def _by_name(given: Mapping[str, float], names: Sequence[str]) -> list[float]:
    """Return the values of a mapping, which must have exactly one value for each name."""
    asked = set(names)
    missing, foreign = [n for n in names if n not in given], [n for n in given if n not in asked]
    if missing:
        raise ProtocolError(
            f"no value for {join_names(missing, quoted=True)}; pass NaN for one that was bought but not observed"
        )
    if foreign:
        raise ProtocolError(
            f"not requested in this round: {join_names(foreign, quoted=True)}; pass only what the learner asked for"
        )
    return [given[n] for n in names]


def available(
    given: "Bools | Sequence[bool] | Sequence[str] | None", places: Mapping[str, Ints], d: int
) -> Bools | None:
    """Return the mask of what can be bought in this round (None: everything), given as a mask, names, or name to bool.

    Names that map to False are excluded. A pandas series is matched by name, not by position.
    """
    if given is None:
        return None
    wanted = f"available must be a boolean mask of length {d} or a list of names"
    if isinstance(given, str | bytes) or not isinstance(given, Iterable) or getattr(given, "ndim", 1) == 0:
        raise ProtocolError(f"{wanted}, not {_short(given)}")
    named = given if isinstance(given, Mapping) else row_of(given) if is_series(given) else None
    if named is not None:
        given = _said_yes(named)
    if isinstance(given, np.ndarray) and given.dtype == np.bool_ and given.shape == (d,):
        return given.copy()
    items = given.tolist() if isinstance(given, np.ndarray) else list(given)
    if items and len(items) == d and all(isinstance(item, bool | np.bool_) for item in items):
        return np.array(items, dtype=np.bool_)
    mask = np.zeros(d, dtype=np.bool_)
    for name in items:
        if not isinstance(name, str):
            raise ProtocolError(f"{wanted}, not {len(items)} of which one is {_short(name)}")
        if name not in places:
            raise ProtocolError(f"available names '{name}', which is neither an attribute nor a source of this learner")
        mask[places[name]] = True
    return mask


def _said_yes(named: Mapping[str, object]) -> list[str]:
    """Return the names that map to True; values other than booleans are rejected."""
    for name, there in named.items():
        if not isinstance(there, bool | np.bool_):
            raise ProtocolError(f"available must map a name to True or False; '{name}' has {_short(there)}")
    return [name for name, there in named.items() if there]


def extras(given: "Sequence[int] | Ints | None", extra: Ints) -> None:
    """Check that the extra attributes given with the label are exactly those the round drew."""
    if given is None:
        if extra.size:
            raise ProtocolError(
                f"this round buys {extra.size} more attributes; pass extra_attributes=learner.ask_more(r)"
            )
        return
    try:
        same = np.array_equal(np.asarray(given), extra)
    except (TypeError, ValueError):
        same = False
    if not same:
        raise ProtocolError(f"extra_attributes must be learner.ask_more(r), which is {extra.tolist()}")


def is_open(r: Round, learner: str, opened: Mapping[int, Round], t: int) -> None:
    """Check that the round belongs to this learner, is open and unchanged; t is the number of rounds asked."""
    if not isinstance(r, Round):
        raise ProtocolError(f"expected the Round that ask() gave, not {type(r).__name__}")
    if r.learner != learner:
        raise ProtocolError(f"round {r.index} belongs to another learner ({r.learner}, this is {learner})")
    if r.index not in opened:
        state = "is already labelled or abandoned" if 1 <= r.index <= t else "was never asked"
        raise ProtocolError(f"round {r.index} {state}; ask() opens a new one")
    if opened[r.index] != r:
        raise ProtocolError(f"round {r.index} is not the one that was asked: its contents were changed")


def row_prices(given: "Mapping[str, float] | None", catalog: SourceCatalog) -> Floats | None:
    """Return the price of every source in one row, with usual prices by default; None if all are the usual ones."""
    if given is None:
        return None
    if not catalog.priced:
        raise ProtocolError("prices of a row need a learner that was created with prices")
    if not isinstance(given, Mapping):
        raise ProtocolError(f"prices must map names of sources to prices, not {_short(given)}")
    prices, place = catalog.prices.copy(), {name: i for i, name in enumerate(catalog.sources)}
    for name, price in given.items():
        if name not in place:
            raise ProtocolError(f"prices names {_short(name)}, which is not a source of this learner")
        if isinstance(price, bool) or not isinstance(price, int | float | np.number):
            raise ProtocolError(f"the price of '{name}' must be a number, not {_short(price)}")
        if not 0.0 <= price <= LARGEST_PRICE:
            raise ProtocolError(f"the price of '{name}' must be from 0 to {LARGEST_PRICE:g}, not {_short(price)}")
        prices[place[name]] = float(price)
    return prices


def may_be_asked(r: Round, names: Sequence[str]) -> bool:
    """Return whether a round from a file has a valid kind and buys existing attributes without duplicates."""
    B = np.concatenate([r.attributes, r.extra])
    there = bool(((B >= 0) & (len(names) > B)).all()) and np.unique(B).size == B.size
    named = there and (*r.names, *r.extra_names) == tuple(names[i] for i in B) and len(r.names) == r.attributes.size
    return named and r.kind in ("explore", "exploit") and bool(np.isfinite(r.memo).all())


def _short(value: object) -> str:
    """Return a value as shown in a message."""
    try:
        text = repr(value)
    except ValueError:  # more digits than Python prints
        text = type(value).__name__
    return text if len(text) <= 60 else f"{text[:57]}..."


def past_table(X: object, y: object, names: Sequence[str]) -> tuple[Floats, Floats]:
    """Return rows and labels as arrays with columns in the order of `names`; shapes are not checked here."""
    plain_X, plain_y = type(X) is np.ndarray, type(y) is np.ndarray  # a subclass check of a frame takes 2 us
    table = matrix_of(X, names) if not plain_X and is_frame(X) else _numbers("X", X)
    return table, _numbers("y", y if plain_y else labels_of(y))


def past_rows(X: object, y: object, names: Sequence[str]) -> tuple[Floats, Floats, int]:
    """Return the labelled rows of a table of past data, (n, d) and (n,), and the number of rows without a label.

    NaN marks an unobserved cell or a missing label. Any other value that is not a finite number raises a
    `ProtocolError` with its position; rows are counted from 1.
    """
    table, labels = past_table(X, y, names)
    if table.ndim != 2 or table.shape[1] != len(names):
        raise ProtocolError(f"X must have {len(names)} columns, one per attribute; it has shape {table.shape}")
    if labels.shape != (len(table),):
        raise ProtocolError(f"y must have one label per row of X, which has {len(table)}; it has shape {labels.shape}")
    size, label_size = np.abs(table), np.abs(labels)
    if _is_ordinary(size) and _is_ordinary(label_size):
        return table, labels, 0
    if (label_size > LARGEST).any():
        _refuse_infinite_label(labels)
    if (size > LARGEST).any():
        _refuse_infinite_cell(table, names)
    if (size > MOST).any() or ((size < LEAST) & (size > 0.0)).any():
        table = clip_magnitude(table)
    if (label_size > MOST).any() or ((label_size < LEAST) & (label_size > 0.0)).any():
        labels = clip_magnitude(labels)
    labelled = ~np.isnan(labels)
    if labelled.all():
        return table, labels, 0
    return np.ascontiguousarray(table[labelled]), labels[labelled], int(labels.size - np.count_nonzero(labelled))


def _numbers(what: str, given: object) -> Floats:
    try:
        return np.array(given, dtype=np.float64, order="C")
    except (TypeError, ValueError, OverflowError) as fault:
        raise ProtocolError(f"{what} must be numbers, with NaN for what is missing: {fault}") from None


def _refuse_infinite_label(labels: Floats) -> None:
    i = int(np.flatnonzero(np.abs(labels) > LARGEST)[0])
    raise ProtocolError(f"the label of row {i + 1} is {labels[i]}; it must be finite, or NaN where it is missing")


def _refuse_infinite_cell(table: Floats, names: Sequence[str]) -> None:
    i, j = map(int, np.argwhere(np.abs(table) > LARGEST)[0])
    raise ProtocolError(
        f"row {i + 1}, column '{names[j]}' is {table[i, j]}; it must be finite, or NaN where it was not observed"
    )


def complete(table: Floats, names: Sequence[str], learner: str) -> None:
    """Raise a `ConfigError` if an attribute of a row is missing."""
    gaps = np.argwhere(np.isnan(table))
    if gaps.size:
        i, j = map(int, gaps[0])
        raise ConfigError(
            f"'{learner}' learns from complete past rows only, and labelled row {i + 1} has no '{names[j]}'; "
            "omit such rows, or use thrifty"
        )
