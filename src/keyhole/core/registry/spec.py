"""Algorithm specifications such as `ds-oslrc[tuning=theory, sigma=0.1]`, and the learners built from them."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol

from ...errors import ConfigError
from ..learner import Learner, Plain
from ..sources import SourceCatalog
from .algorithm import Algorithm
from .catalogue import make, options_of, record

__all__ = ["Budget", "Spec", "split", "unpriced"]


def split(text: str) -> list[str]:
    """Split a list at its commas, except those within brackets or parentheses.

    >>> split("ds-oslrc[tuning=theory,sigma=0.1], vaw, block(5, 0.8)")
    ['ds-oslrc[tuning=theory,sigma=0.1]', 'vaw', 'block(5, 0.8)']
    """
    parts, depth = [""], 0
    for sign in text:
        depth += (sign in "[(") - (sign in ")]")
        if sign == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += sign
    return [part.strip() for part in parts if part.strip()]


class LearnerColumns(Protocol):
    """The properties of a table that a learner needs: its columns, its sources and their prices."""

    @property
    def names(self) -> tuple[str, ...]: ...

    @property
    def priced(self) -> bool: ...

    @property
    def catalog(self) -> SourceCatalog: ...

    def offer(self) -> Mapping[str, object]: ...


@dataclass(frozen=True)
class Budget:
    """The limits on what may be bought per row."""

    k: int | None = None
    """The number of sources; an attribute outside all sources counts as one."""
    k0: int = 0
    """The number of additional sources after the label."""
    budget_per_row: float | None = None
    """The money per row, in the prices of the schema."""
    error_cost: float | None = None
    """The value, in money, of one unit of squared error in one row."""
    total_budget: float | None = None
    """The money for all rows together."""
    expected_rows: float | None = None

    @property
    def money(self) -> dict[str, float]:
        """Return the monetary limits that were given, by option name."""
        given = {
            "budget_per_row": self.budget_per_row,
            "error_cost": self.error_cost,
            "total_budget": self.total_budget,
            "expected_rows": self.expected_rows,
        }
        return {name: value for name, value in given.items() if value is not None}


@dataclass(frozen=True)
class Spec:
    """The name of an algorithm and its options.

    >>> Spec.parse("ds-oslrc[tuning=theory, sigma=0.2]")
    Spec(name='ds-oslrc', options=(('tuning', 'theory'), ('sigma', 0.2)))
    >>> str(Spec.parse("ds-oslrc[ sigma = 0.20]"))
    'ds-oslrc[sigma=0.2]'
    """

    name: str
    options: tuple[tuple[str, Plain], ...] = ()

    @classmethod
    def parse(cls, text: str) -> "Spec":
        """Parse the name and options of a text; values are numbers, true, false, or words."""
        match = re.fullmatch(r"\s*(['\"]?)([^\[\]\s'\"]+)\s*(?:\[(.*)\])?\1\s*", text)
        if not match:
            raise ConfigError(f"'{text}' is not an algorithm; write NAME or NAME[option=value,...]")
        return cls(match[2], assignments(match[3] or "", text))

    def labelled(self) -> "Spec":
        """Return the spec with an explicit tuning if a paper defines one, because our default is not the paper's.

        >>> str(Spec.parse("ds-oslrc").labelled()), str(Spec.parse("vaw").labelled())
        ('ds-oslrc[tuning=empirical]', 'vaw')
        """
        tuning = next((option.default for option in self.record.options if option.name == "tuning"), None)
        if tuning is None or not self.record.conditions or "tuning" in dict(self.options):
            return self
        return Spec(self.name, (("tuning", tuning), *self.options))

    @property
    def record(self) -> Algorithm:
        """Return the registry entry of the algorithm."""
        return record(self.name)

    def learner(self, schema: LearnerColumns, budget: Budget, seed: int, support: list[int] | None = None) -> Learner:
        """Build the learner for these columns or raise a `ConfigError` with the cause. An oracle gets the `support`."""
        takes = options_of(self.name)
        limits = budget.money
        if limits and not schema.priced:
            raise ConfigError(unpriced(limits))
        if any(name not in takes for name in limits):
            raise ConfigError(f"'{self.name}' does not plan with money; give -k K, or use --algorithm thrifty")
        offer = {key: value for key, value in schema.offer().items() if key != "prices" or "prices" in takes}
        options: dict[str, object] = {**offer, **limits, **dict(self.options)}
        limited = any(name in options for name in ("budget_per_row", "error_cost", "total_budget", "expected_rows"))
        n = len(schema.names) if self.record.buys_all else len(schema.catalog.sources)
        k = options.pop("k", n if budget.k is None and (self.record.buys_all or limited) else budget.k)
        k0 = options.pop("k0", budget.k0)
        if "support" in takes and support is not None:
            options.setdefault("support", list(support))
        k = _checked(k, k0, n, "attributes" if n == len(schema.names) else "sources")
        return make(self.name, names=schema.names, k=k, k0=k0, seed=seed, **options)  # type: ignore[arg-type]

    def __str__(self) -> str:
        inside = ",".join(f"{key}={_text(value)}" for key, value in self.options)
        return f"{self.name}[{inside}]" if inside else self.name


def unpriced(limits: Mapping[str, float]) -> str:
    """Return the message for monetary limits without prices."""
    flag = f"--{next(iter(limits)).replace('_', '-')}"
    return f"{flag} M needs to know what things cost: give --prices FILE, or a schema with prices"


def _checked(k: object, k0: object, n: int, what: str) -> int:
    """Return the number of sources that may be bought per row, after validation."""
    if k is None and n > 0:
        raise ConfigError(
            f"say how many {what} may be bought per row: -k K with 1 <= K <= {n}, or what limits the money: "
            "--error-cost W, --budget-per-row M or --total-budget M --expected-rows N"
        )
    if n == 0:
        raise ConfigError("every column is free, so there is nothing to buy: remove one from --free or the schema")
    if not isinstance(k, int) or not isinstance(k0, int):
        raise ConfigError(f"k and k0 must be whole numbers, not {k!r} and {k0!r}")
    if not 1 <= k <= n:
        raise ConfigError(f"-k must be between 1 and {n}, the number of {what}; it is {k}")
    if not 0 <= k0 <= n - k:
        raise ConfigError(f"--k0 must be between 0 and {n - k} (of {n} {what} -k takes {k}); it is {k0}")
    return k


def assignments(inside: str, where: str) -> tuple[tuple[str, Plain], ...]:
    """Parse `key=value, ...` into pairs."""
    pairs: dict[str, Plain] = {}
    for part in split(inside):
        key, sign, value = part.partition("=")
        if not sign or not key.strip():
            raise ConfigError(f"'{where}': write option=value, not '{part}'")
        if key.strip() in pairs:
            raise ConfigError(f"'{where}': '{key.strip()}' is given twice")
        pairs[key.strip()] = _value(value.strip())
    return tuple(pairs.items())


def _value(text: str) -> Plain:
    """Parse a number, true, false, or a word without its quotes; nothing is evaluated.

    >>> _value("'theory'"), _value('"0.5"'), _value("0.5")
    ('theory', '0.5', 0.5)
    """
    if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"":
        return text[1:-1]
    if text in ("true", "false"):
        return text == "true"
    kinds: Iterable[type[int] | type[float]] = (int, float)
    for kind in kinds:
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _text(value: Plain) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
