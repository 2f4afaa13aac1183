"""What exists, and `make`, the one way to build a learner."""

import difflib
import inspect
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from ..._internal.dataframes import Names, column_names, is_frame, is_series
from ..._internal.renamed_options import renamed_option
from ...errors import ConfigError
from ..learner import Learner, Plain
from ..sources import SourceCatalog
from .algorithm import OptionValue
from .plugins import import_object, installed, record_of_path
from .records import ALGORITHMS, Algorithm

__all__ = ["Algorithm", "list_algorithms", "make"]

# Options that only some learners have: who asks another for them is told of `thrifty`, which has them all.
_MARKET = {"sources": "sources", "free": "free attributes"}
_MONEY = ("prices", "budget_per_row", "error_cost", "total_budget", "expected_rows")
# More attributes than have names in a few hundred megabytes.
_WIDEST = 10_000_000


def list_algorithms() -> tuple[Algorithm, ...]:
    """Every algorithm that `make` knows by name: ours, then those that installed packages announce.

    >>> [a.name for a in list_algorithms()][:3]
    ['thrifty', 'ds-oslrc', 'ds-poslrc']
    """
    return ALGORITHMS + installed()


def make(
    name: str,
    *,
    d: int | None = None,
    names: "Names | None" = None,
    k: int | None = None,
    k0: int = 0,
    seed: int | None = None,
    **options: object,
) -> Learner:
    """Build a learner by name: `make("ds-oslrc", d=20, k=4, seed=0)`; a bad argument is a `ConfigError`.

    Give `d`, or `names` for attributes that have names. Without a seed one is drawn, and kept in `learner.seed`. A
    learner of your own is named "module:Class" (import the module first; docs/extending.md).
    """
    cls = class_of(name)
    columns = _columns(d, names)
    allowed = _options_of(cls)
    for key in options:
        if key not in allowed and (sentence := renamed_option(key)):
            raise ConfigError(sentence)
        if key in _MARKET and key not in allowed:
            raise ConfigError(f"'{name}' buys single attributes and takes no {_MARKET[key]}; 'thrifty' does")
        if key in _MONEY and key not in allowed:
            raise ConfigError(f"'{name}' takes no {key}; 'thrifty' does")
        if key not in allowed:
            raise ConfigError(f"'{name}' has no option '{key}'; it has: {', '.join(allowed) or 'none'}")
    plain = {key: _plain(value) for key, value in options.items()}
    for option in record(name).options:
        if option.name in plain:
            option.check(plain[option.name])
    n = len(columns) if cls.buys_all else _places(columns, plain)
    unlimited, k = k is None, _whole("k", k if k is not None else n)
    k0 = _whole("k0", k0)
    _check_budget(n, k, k0, "d" if n == len(columns) else "the number of sources")
    seed = int(np.random.SeedSequence().generate_state(1)[0]) if seed is None else _whole("seed", seed)
    if seed < 0:
        raise ConfigError(f"seed must be >= 0; it is {seed}")
    learner = _built(cls._made_as(plain), columns, k, k0, seed, plain)
    if unlimited:  # last: what else is wrong says more
        _check_limited(cls, plain)
    learner.config = {"name": name, "k": k, "k0": k0, "seed": seed, "options": plain}
    learner.config |= {"d": len(columns)} if names is None else {"names": list(columns)}
    return learner


def _check_limited(cls: type[Learner], options: Mapping[str, object]) -> None:
    """Without k something else must limit what is bought: money, or the support that is given."""
    if cls.buys_all or any(options.get(key) is not None for key in (*_MONEY, "support") if key != "prices"):
        return
    money = (
        " (or what limits the money: error_cost, budget_per_row, or total_budget with expected_rows)"
        if "error_cost" in _options_of(cls)
        else ""
    )
    raise ConfigError(f"'{cls.name}' needs k, how many may be bought a row{money}")


def _check_budget(d: int, k: int, k0: int, d_is: str) -> None:
    """The budget as a `ConfigError` where it makes no sense."""
    if not 1 <= k <= d:
        raise ConfigError(f"k must be between 1 and {d_is} = {d}; it is {k}")
    if k0 < 0:
        raise ConfigError(f"k0 must be >= 0; it is {k0}")


def _places(columns: Sequence[str], options: Mapping[str, object]) -> int:
    """What k counts: the sources where there are any, else the attributes."""
    if not (options.get("sources") or options.get("free")):
        return len(columns)
    try:
        catalog = SourceCatalog.build(columns, options.get("sources"), options.get("free"))  # type: ignore[arg-type]
    except (TypeError, AttributeError):
        raise ConfigError("sources must be lists of attributes by name, free a list of attributes") from None
    if not catalog.sources:
        raise ConfigError("every attribute is free, so there is nothing to buy: remove one from free, or use 'vaw'")
    return len(catalog.sources)


def options_of(name: str) -> list[str]:
    """The options that `make` takes for this algorithm beyond the budget and the seed."""
    return _options_of(class_of(name))


def from_config(config: dict[str, Plain]) -> Learner:
    """The learner that `make` made with this configuration, as new."""
    arguments = dict(config)
    options = arguments.pop("options")
    return make(**arguments, **options)  # type: ignore[arg-type]  # `make` checks each


def record(name: str) -> Algorithm:
    """What there is to know of an algorithm, by its name."""
    found = {a.name: a for a in ALGORITHMS}
    if isinstance(name, str) and name not in found:
        if ":" in name:
            return record_of_path(name)
        found = {a.name: a for a in list_algorithms()}
    if not isinstance(name, str) or name not in found:
        near = difflib.get_close_matches(str(name)[:60], found, n=1)
        hint = f"did you mean '{near[0]}'?" if near else f"there are: {', '.join(found)}"
        raise ConfigError(f"there is no algorithm '{str(name)[:60]}'; {hint}")
    return found[name]


def class_of(name: str) -> type[Learner]:
    """The class behind a name, imported now."""
    return import_object(record(name).path)  # type: ignore[return-value]  # `record` has seen that it is a learner


def _options_of(cls: type[Learner]) -> list[str]:
    """The options a learner takes beyond the budget and the seed."""
    return [p for p in inspect.signature(cls).parameters if p not in ("names", "k", "k0", "seed")]


def _built(
    cls: type[Learner], columns: tuple[str, ...], k: int, k0: int, seed: int, options: dict[str, Plain]
) -> Learner:
    """The learner; numbers beyond arithmetic, or more memory than there is, are a `ConfigError` like all others."""
    try:
        return cls(columns, k, k0, seed, **options)  # type: ignore[arg-type]  # each learner checks its own
    except ConfigError:
        raise
    except (ArithmeticError, TypeError, ValueError, MemoryError) as fault:
        given = ", ".join(f"{key}={value!r}"[:80] for key, value in options.items())
        raise ConfigError(f"'{cls.name}' cannot be made with {given or 'this size'}: {str(fault)[:120]}") from None


def _columns(d: int | None, names: "Names | None") -> tuple[str, ...]:
    """The names of the attributes, given or x0, x1, ..."""
    if (d is None) == (names is None):
        raise ConfigError("give either d (how many attributes) or names (what they are called)")
    if names is None:
        d = _whole("d", d)
        if not 1 <= d <= _WIDEST:
            raise ConfigError(f"d must be between 1 and {_WIDEST}; it is {str(d)[:40]}")
        return tuple(f"x{i}" for i in range(d))
    if is_frame(names):
        return tuple(column_names(names))
    if isinstance(names, str | bytes) or not isinstance(names, Iterable):
        raise ConfigError(f"names must be a list of names, not {str(names)[:60]!r}")
    odd = next((name for name in names if not isinstance(name, str) and is_series(name)), None)
    if odd is not None:
        raise ConfigError(
            f"names must be names, not a {type(odd).__name__}: give the frame itself, or its column names"
        )
    if is_series(names) and not all(isinstance(name, str) for name in names):
        raise ConfigError("names must be names, not a column of numbers: give the frame itself, or its column names")
    columns = tuple(map(str, names))
    if len(set(columns)) < len(columns) or not columns:
        twice = next((c for i, c in enumerate(columns) if c in columns[:i]), None)
        raise ConfigError(f"names must be distinct: '{twice}' is there twice" if twice else "names is empty")
    return columns


def _whole(what: str, value: object) -> int:
    """A whole number, numpy's included, and no bool."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise ConfigError(f"{what} must be a whole number, not {str(value)[:60]!r}")
    if abs(int(value)) >= 1 << 63:
        raise ConfigError(f"{what} must be a number of at most 18 digits")
    return int(value)


def _plain(value: object, depth: int = 0) -> Plain:
    """An option as JSON can hold it; the learner's constructor reads it back."""
    if depth > 4:
        raise ConfigError("an option must be a number, a string, a list or Scaled(c), not lists in lists in lists")
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()  # type: ignore[no-any-return]
    if isinstance(value, list | tuple):
        return [_plain(item, depth + 1) for item in value]
    if isinstance(value, dict):
        return {str(key): _plain(item, depth + 1) for key, item in value.items()}
    if isinstance(value, OptionValue):
        return str(value)
    raise ConfigError(f"an option must be a number, a string, a list or Scaled(c), not a {type(value).__name__}")
