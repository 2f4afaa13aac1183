"""The catalogue of algorithms, and `make`, which builds a learner by name."""

import difflib
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np

from ..._internal.dataframes import Names, column_names, is_frame, is_series
from ..._internal.formatting import join_names, repeated
from ..._internal.renamed_options import renamed_option
from ...errors import ConfigError, KeyholeWarning
from ..learner import Learner, Plain
from ..sources import SourceCatalog
from .algorithm import Algorithm, OptionValue, options_of_class
from .footprint import Footprint, footprint, machine_memory
from .plugins import entry_of_class, import_object, imported, installed

__all__ = ["Algorithm", "list_algorithms", "make"]

# Options that only some learners have; the error message for the others suggests `thrifty`, which has them all.
_SOURCE_OPTIONS = {"sources": "sources", "free": "free attributes"}
_MONEY = ("prices", "budget_per_row", "error_cost", "total_budget", "expected_rows")
# Building a learner that needs more bytes or seconds than this emits a warning.
_LARGE_MEMORY, _LARGE_SECONDS = 400e6, 5.0
# Only the names of more attributes would take seconds, before the size of a learner can be refused.
_WIDEST = 1_000_000


ALGORITHMS = {
    "thrifty": "keyhole.algorithms.thrifty:Thrifty",
    "ds-oslrc": "keyhole.algorithms.ds_oslrc:DSOSLRC",
    "ds-poslrc": "keyhole.algorithms.ds_poslrc:DSPOSLRC",
    "gibbs-thompson": "keyhole.algorithms.baselines.gibbs_thompson:GibbsThompson",
    "explore-then-commit": "keyhole.algorithms.baselines.explore_then_commit:ExploreThenCommit",
    "aer": "keyhole.algorithms.published.aer:AER",
    "aerr": "keyhole.algorithms.published.aerr:AERR",
    "aelr": "keyhole.algorithms.published.aelr:AELR",
    "olin-lasso": "keyhole.algorithms.full_information.olin_lasso:OLinLasso",
    "rda": "keyhole.algorithms.full_information.rda:RDA",
    "i-lamm": "keyhole.algorithms.full_information.i_lamm:ILAMM",
    "vaw": "keyhole.algorithms.full_information.vaw:VAW",
    "fixed-random": "keyhole.algorithms.baselines.fixed_random:FixedRandom",
    "oracle-support": "keyhole.algorithms.baselines.oracle_support:OracleSupport",
    "ito2017-1": "keyhole.algorithms.published.ito2017_1:Ito1",
    "ito2017-2": "keyhole.algorithms.published.ito2017_2:Ito2",
    "ito2017-3": "keyhole.algorithms.published.ito2017_2:Ito3",
    "kale2017-dantzig": "keyhole.algorithms.published.kale2017_dantzig:KaleDantzig",
    "foster2016": "keyhole.algorithms.published.foster2016:Foster",
    "support-bandit": "keyhole.algorithms.published.support_bandit:SupportBandit",
    "kale2017-greedy": "keyhole.algorithms.published.kale2017_greedy:KaleGreedy",
    "murata2018-explore": "keyhole.algorithms.published.murata2018_explore:MurataExplore",
    "murata2018-hybrid": "keyhole.algorithms.published.murata2018_hybrid:MurataHybrid",
}
"""The location of each algorithm's class by name; a class is imported when it is first needed."""


def list_algorithms() -> tuple[Algorithm, ...]:
    """Return every algorithm that `make` knows by name: those of this package, then those of installed plug-ins.

    >>> [a.name for a in list_algorithms()][:3]
    ['thrifty', 'ds-oslrc', 'ds-poslrc']
    """
    return tuple(record(name) for name in (*ALGORITHMS, *installed()))


def make(
    name: str,
    *,
    d: int | None = None,
    names: "Names | None" = None,
    k: int | None = None,
    k0: int = 0,
    seed: int | None = None,
    label: str = "number",
    **options: object,
) -> Learner:
    """Build a learner by name, for example `make("ds-oslrc", d=20, k=4, seed=0)`.

    Give either `d` or the `names` of the attributes. Without a seed, one is drawn and stored in `learner.seed`. With
    `label="binary"`, labels are 0 or 1 and predictions are probabilities. A user-defined learner is named
    "module:Class" (import the module first; see docs/extending.md). An invalid argument raises `ConfigError`.
    """
    asked = _checked(name, d, names, k, k0, seed, label, options)
    _check_machine(name, asked)
    cls, columns, plain = asked.cls, asked.columns, asked.options
    learner = _built(cls, columns, asked.k, asked.k0, asked.seed, plain)
    if k is None:  # checked last, because other errors are more informative
        _check_limited(cls, plain)
    learner.config = {"name": name, "k": asked.k, "k0": asked.k0, "seed": asked.seed, "options": plain}
    learner.config |= {"d": len(columns)} if names is None else {"names": list(columns)}
    if label == "binary":
        learner._expect_binary_labels()
        learner.config["label"] = "binary"
    return learner


def footprint_of(
    name: str,
    *,
    d: int | None = None,
    names: "Names | None" = None,
    k: int | None = None,
    k0: int = 0,
    seed: int | None = None,
    label: str = "number",
    **options: object,
) -> Footprint:
    """Estimate the memory and time of the learner that `make` would build with the same arguments.

    >>> print(footprint_of("vaw", d=6000))
    578 MB, 0.72 s to build and 0.078 s for a slow round
    """
    return _checked(name, d, names, k, k0, seed, label, options).footprint(name)


@dataclass(frozen=True)
class _Checked:
    """The valid arguments of a learner."""

    cls: type[Learner]
    columns: tuple[str, ...]
    k: int
    k0: int
    seed: int
    options: dict[str, Plain]
    catalog: SourceCatalog
    """The sources, which are what k counts."""

    def footprint(self, name: str) -> Footprint:
        """Estimate the memory and time; k sources may bring more than k attributes."""
        support = self.options.get("support")
        k = min(self.k, len(support)) if isinstance(support, list) else self.k
        of = self.catalog.of
        sizes = np.sort(np.bincount(of[of >= 0]))[::-1]
        bought = int((of < 0).sum() + sizes[:k].sum())
        return footprint(name, len(self.columns), bought, int(sizes[k : k + self.k0].sum()))


def _checked(
    name: str,
    d: int | None,
    names: "Names | None",
    k: int | None,
    k0: int,
    seed: int | None,
    label: str,
    options: Mapping[str, object],
) -> _Checked:
    """Return the arguments of `make` in one form; an invalid one raises a `ConfigError`."""
    _check_label(name, label)
    cls = class_of(name)
    columns = _columns(d, names)
    allowed = _options_of(cls)
    for key in options:
        if key not in allowed and (sentence := renamed_option(key)):
            raise ConfigError(sentence)
        if key in _SOURCE_OPTIONS and key not in allowed:
            given = options[key]
            named = join_names(list(given), quoted=True) if isinstance(given, Mapping | list | tuple) else ""
            what = f"{_SOURCE_OPTIONS[key]}{f' such as {named}' if named else ''}"
            raise ConfigError(f"'{name}' buys single attributes and takes no {what}; 'thrifty' does")
        if key in _MONEY and key not in allowed:
            raise ConfigError(f"'{name}' takes no {key}; 'thrifty' does")
        if key not in allowed:
            raise ConfigError(f"'{name}' has no option '{key}'; it has: {', '.join(allowed) or 'none'}")
    plain = {key: _plain(value) for key, value in options.items()}
    for option in options_of_class(cls):
        if option.name in plain:
            option.check(plain[option.name])
    catalog = SourceCatalog.build(columns) if _buys_all(cls) else _catalog(columns, plain)
    n = len(catalog.sources)
    k = _whole("k", k if k is not None else n)
    k0 = _whole("k0", k0)
    _check_budget(n, k, k0, "d" if n == len(columns) else "the number of sources")
    seed = int(np.random.SeedSequence().generate_state(1)[0]) if seed is None else _whole("seed", seed)
    if seed < 0:
        raise ConfigError(f"seed must be >= 0; it is {seed}")
    return _Checked(cls, columns, k, k0, seed, plain, catalog)


def _check_label(name: str, label: str) -> None:
    """Raise a `ConfigError` if this algorithm does not support such labels."""
    if label not in ("number", "binary"):
        raise ConfigError(f"label must be 'number' or 'binary', not {label!r}")
    if label == "binary" and not record(name).binary_labels:
        able = ", ".join(a.name for a in list_algorithms() if a.binary_labels)
        raise ConfigError(f"'{name}' takes no label=\"binary\"; {able} do")


def _check_machine(name: str, asked: _Checked) -> None:
    """Refuse a learner larger than the memory of this machine, and warn about a large one."""
    size, d = asked.footprint(name), len(asked.columns)
    if size.memory > machine_memory():
        raise ConfigError(
            f"'{name}' with d = {d} takes about {size}, and this machine has {machine_memory() / 1e9:.1f} GB: "
            "choose fewer attributes, or an algorithm of linear size such as 'thrifty'"
        )
    if size.memory > _LARGE_MEMORY or size.build_seconds > _LARGE_SECONDS:
        warnings.warn(f"'{name}' with d = {d} takes about {size}", KeyholeWarning, 3)


def _buys_all(cls: type[Learner]) -> bool:
    return hasattr(cls, "info") and cls.info.buys_all


def _check_limited(cls: type[Learner], options: Mapping[str, object]) -> None:
    """Check that without k something else limits what is bought: money, or a given support."""
    if _buys_all(cls) or any(options.get(key) is not None for key in (*_MONEY, "support") if key != "prices"):
        return
    money = (
        " (or what limits the money: error_cost, budget_per_row, or total_budget with expected_rows)"
        if "error_cost" in _options_of(cls)
        else ""
    )
    raise ConfigError(f"'{cls.name}' needs k, the number of sources it may buy per row{money}")


def _check_budget(d: int, k: int, k0: int, d_is: str) -> None:
    """Raise a `ConfigError` if the budget is invalid."""
    if not 1 <= k <= d:
        raise ConfigError(f"k must be between 1 and {d_is} = {d}; it is {k}")
    if k0 < 0:
        raise ConfigError(f"k0 must be >= 0; it is {k0}")


def _catalog(columns: Sequence[str], options: Mapping[str, object]) -> SourceCatalog:
    """Return the sources; without `sources` and `free`, each attribute is one."""
    try:
        catalog = SourceCatalog.build(columns, options.get("sources"), options.get("free"))  # type: ignore[arg-type]
    except (TypeError, AttributeError):
        raise ConfigError("sources must be lists of attributes by name, free a list of attributes") from None
    if not catalog.sources:
        raise ConfigError("every attribute is free, so there is nothing to buy: remove one from free, or use 'vaw'")
    return catalog


def options_of(name: str) -> list[str]:
    """Return the options that `make` accepts for this algorithm besides the budget and the seed."""
    return _options_of(class_of(name))


def from_config(config: dict[str, Plain]) -> Learner:
    """Return a new learner with the configuration that `make` recorded."""
    arguments = dict(config)
    options = arguments.pop("options")
    return make(**arguments, **options)  # type: ignore[arg-type]  # `make` checks each


def record(name: str) -> Algorithm:
    """Return the entry of one algorithm; an unknown name raises a `ConfigError` with a suggestion."""
    path = ALGORITHMS.get(name) or installed().get(name) or name
    return entry_of_class(name, path, class_of(name))


def class_of(name: str) -> type[Learner]:
    """Import and return the class of an algorithm; "module:Class" requires that its module is already imported."""
    if isinstance(name, str) and name in ALGORITHMS:
        found = cast(type[Learner], import_object(ALGORITHMS[name]))
    elif isinstance(name, str) and ":" in name:
        found = imported(name)
    elif isinstance(name, str) and name in installed():
        found = cast(type[Learner], import_object(installed()[name]))
    else:
        names = (*ALGORITHMS, *installed())
        near = difflib.get_close_matches(str(name)[:60], names, n=1)
        hint = f"did you mean '{near[0]}'?" if near else f"there are: {', '.join(names)}"
        raise ConfigError(f"there is no algorithm '{str(name)[:60]}'; {hint}")
    return found


def _options_of(cls: type[Learner]) -> list[str]:
    """Return the options of a learner besides the budget and the seed."""
    return [option.name for option in options_of_class(cls)]


def _built(
    cls: type[Learner], columns: tuple[str, ...], k: int, k0: int, seed: int, options: dict[str, Plain]
) -> Learner:
    """Return the learner; arithmetic overflow and lack of memory are also reported as `ConfigError`."""
    try:
        return cls(columns, k, k0, seed, **options)  # type: ignore[arg-type]  # each learner checks its own
    except ConfigError:
        raise
    except (ArithmeticError, TypeError, ValueError, MemoryError) as fault:
        given = ", ".join(f"{key}={value!r}"[:80] for key, value in options.items())
        raise ConfigError(f"'{cls.name}' cannot be created with {given or 'this size'}: {str(fault)[:120]}") from None


def _columns(d: int | None, names: "Names | None") -> tuple[str, ...]:
    """Return the names of the attributes, by default x0, x1, ..."""
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
    if (twice := repeated(columns)) is not None or not columns:
        raise ConfigError("names is empty" if twice is None else f"names must be distinct: '{twice}' occurs twice")
    return columns


def _whole(what: str, value: object) -> int:
    """Return an integer (numpy integers included, bools excluded)."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise ConfigError(f"{what} must be a whole number, not {str(value)[:60]!r}")
    if abs(int(value)) >= 1 << 63:
        raise ConfigError(f"{what} must be a number of at most 18 digits")
    return int(value)


def _plain(value: object, depth: int = 0) -> Plain:
    """Return an option as JSON-compatible data that the learner's constructor accepts."""
    if depth > 4:
        raise ConfigError("an option must be a number, a string, a list or Scaled(c), not more deeply nested lists")
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
