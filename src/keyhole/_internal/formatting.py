"""Formatting of numbers, lists, times and objects for people."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from html import escape
from typing import Any, TypeAlias

import numpy as np

from .typing import Floats

__all__ = [
    "Facts",
    "ReprMixin",
    "Units",
    "decimals_of",
    "digits",
    "from_iso",
    "join_names",
    "number",
    "plain_number",
    "repeated",
    "share",
    "short",
    "shown_decimals",
    "thousands",
    "to_iso",
]

Facts: TypeAlias = list[tuple[str, str]]
"""The lines of a description, in order: (name, value)."""


class ReprMixin:
    """Provides `repr` and `_repr_html_` from one list of facts; untrusted names are escaped."""

    def _facts(self) -> Facts:
        """Return the facts; the first one is the heading."""
        raise NotImplementedError

    def __repr__(self) -> str:
        (kind, title), *rest = self._facts()
        return f"<{kind} {title}: {', '.join(f'{what} {how}' for what, how in rest)}>"

    def _repr_html_(self) -> str:
        (kind, title), *rest = self._facts()
        rows = "".join(f"<tr><th>{escape(what)}</th><td>{escape(how)}</td></tr>" for what, how in rest)
        return f"<table><caption>{escape(kind)} <b>{escape(title)}</b></caption><tbody>{rows}</tbody></table>"


def short(value: float) -> str:
    """Format a number with four digits."""
    return f"{value:.4g}"


def plain_number(text: str) -> float | None:
    """Parse a finite number; return None for anything else, including 1_5, non-ASCII digits and infinity.

    >>> plain_number(" 6.1 "), plain_number("1e3"), plain_number("1_5"), plain_number("٣"), plain_number("inf")
    (6.1, 1000.0, None, None, None)
    """
    if not text.isascii() or "_" in text:
        return None
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def to_iso(at: float) -> str:
    """Format a time in seconds since 1970 as ISO 8601 in UTC, to the microsecond.

    >>> to_iso(0.25)
    '1970-01-01T00:00:00.250000+00:00'
    """
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="microseconds")


def from_iso(text: str) -> float:
    """Parse a time that `to_iso` wrote, and return seconds since 1970.

    >>> from_iso("1970-01-01T00:00:00.250000+00:00")
    0.25
    """
    return datetime.fromisoformat(text).timestamp()


@dataclass(frozen=True)
class Units:
    """The label's unit and the currency, if they are known; `priced` says whether anything has a price."""

    label: str = ""
    currency: str = ""
    priced: bool = True

    @classmethod
    def of(cls, summary: Mapping[str, Any], priced: bool = True) -> "Units":
        """Return the units of a run, from its summary."""
        return cls(summary.get("unit", ""), summary.get("currency", ""), priced)

    @property
    def error_unit(self) -> str:
        """The unit of an error: that of the label, but "points" if labels are percentages."""
        return "points" if self.label == "%" else self.label

    def error(self, value: float) -> str:
        """Format a typical error with three digits and its unit.

        >>> Units("mmHg").error(15.4712), Units().error(4123.4), Units("%").error(4.331)
        ('15.5 mmHg', '4 123', '4.33 points')
        """
        return f"{digits(value)} {self.error_unit}".strip()

    def less(self, value: float) -> str:
        """Format a reduction of the error with two digits and its unit."""
        return f"{digits(value, 2)} {self.error_unit}".strip()

    def differ(self, error: float, other: float) -> bool:
        """Return whether two errors differ by at least half of the last digit that `error` shows of the first.

        >>> Units().differ(15.47, 15.41), Units().differ(15.47, 15.46), Units().differ(58561.2, 58560.9)
        (True, False, False)
        """
        if not math.isfinite(error) or error == 0:
            return error != other
        last = min(math.floor(math.log10(abs(float(f"{error:.2e}")))) - 2, 0)
        return abs(error - other) >= 0.5 * 10.0**last

    @property
    def squared(self) -> str:
        """The unit of a squared error: "squared mmHg"."""
        return "squared point" if self.label == "%" else f"squared {self.label}".strip()

    def money(self, value: float) -> str:
        """Format an amount of money: large amounts without cents, tiny ones with as many digits as they need.

        >>> Units(currency="EUR").money(7.0), Units().money(127490.2), Units(currency="EUR").money(0.0042)
        ('7.00 EUR', '127 490', '0.0042 EUR')
        """
        tiny = 0 < abs(value) < 0.01
        text = digits(value, 2) if tiny else f"{value:.2f}" if abs(value) < 1000 else thousands(value)
        return f"{text} {self.currency}".strip()

    def error_cost(self, value: float) -> str:
        """Format an error cost: the cost of one unit of squared error.

        >>> Units("mmHg", "EUR").error_cost(0.5), Units().error_cost(0.5)
        ('0.5 EUR per squared mmHg', '0.5 per unit of squared error')
        """
        per = self.squared if self.label else "unit of squared error"
        return " ".join(filter(None, [number(value), self.currency, f"per {per}"]))

    def named(self, what: str, money: bool = False) -> str:
        """Return the heading of an error, or of an amount of money, with its unit: "typical error, mmHg"."""
        unit = self.currency if money else self.error_unit
        return f"{what}, {unit}" if unit else what


def digits(value: float, n: int = 3) -> str:
    """Format a number with n significant digits and grouped thousands, without an exponent unless it is tiny.

    >>> digits(0.04567), digits(58561.2), digits(15.0), digits(2.5e-7), digits(math.nan), digits(999.96, 4)
    ('0.0457', '58 561', '15.0', '0.000000250', '-', '1 000')
    """
    if math.isnan(value):
        return "-"
    if not math.isfinite(value) or value == 0:
        return f"{value:.0f}"
    size = math.floor(math.log10(abs(float(f"{value:.{n - 1}e}"))))
    if not -9 <= size < 15:
        return f"{value:.{n}g}"
    return f"{value:,.{max(n - 1 - size, 0)}f}".replace(",", " ")


def number(value: float, n: int = 3) -> str:
    """Format a number like `digits`, but without trailing zeros: for settings, and where columns need not align.

    >>> [number(v) for v in (0, 0.03412, 7.0, 2580.0, 20000.0, 1.25e6, 3e21)]
    ['0', '0.0341', '7', '2 580', '20 000', '1 250 000', '3e+21']
    """
    text = digits(value, n)
    return text.rstrip("0").rstrip(".") if "." in text and "e" not in text else text


def decimals_of(values: Floats, least: int = 0) -> int:
    """Return how many decimals the numbers have, at least `least`; 7 if they have more than six.

    >>> import numpy as np
    >>> decimals_of(np.array([120.0, 80.5])), decimals_of(np.array([np.nan, 3.0])), decimals_of(np.array([1 / 3]))
    (1, 0, 7)
    """
    there = values[np.isfinite(values)]
    size = 1e-9 * max(1.0, float(np.abs(there).max(initial=0.0)))
    exact = (p for p in range(least, 7) if bool((np.abs(np.round(there, p) - there) <= size).all()))
    return next(exact, 7)


def shown_decimals(decimals: int, spread: float) -> int | None:
    """Return how many decimals a prediction shows: as many as the label, but enough for a hundredth of its spread.

    Returns None if the labels themselves have more than six decimals.

    >>> shown_decimals(0, 97.0), shown_decimals(0, 1.0), shown_decimals(1, 40.0), shown_decimals(7, 1.0)
    (0, 2, 1, None)
    """
    if decimals > 6:
        return None
    return max(decimals, 2 - math.ceil(math.log10(spread))) if spread > 0 else decimals


def thousands(value: float) -> str:
    """Format a count with grouped thousands: 31 207."""
    return f"{value:,.0f}".replace(",", " ")


def share(part: float, whole: float) -> str:
    """Format a share: "71 %". A positive share is never shown as "0 %", and an incomplete one never as "100 %".

    >>> share(1, 3), share(1, 10_000), share(9_999, 10_000), share(0, 5)
    ('33 %', '< 1 %', '> 99 %', '0 %')
    """
    percent = 100 * part / whole if whole else 0.0
    if 0 < percent < 0.5:
        return "< 1 %"
    return "> 99 %" if 99.5 <= percent < 100 else f"{percent:.0f} %"


def repeated(names: Iterable[str]) -> str | None:
    """Return the first name that occurs a second time, if any."""
    seen: set[str] = set()
    return next((name for name in names if name in seen or seen.add(name)), None)  # type: ignore[func-returns-value]


def join_names(names: Sequence[str], limit: int = 8, quoted: bool = False) -> str:
    """Join names to a phrase: all of them, or the first `limit` and the number of the others; "" for no names.

    >>> join_names(["age"]), join_names(["age", "sex", "bmi"]), join_names(list("abcd"), limit=2)
    ('age', 'age, sex and bmi', 'a, b and 2 more')
    >>> join_names(["age", "sex"], quoted=True)
    "'age' and 'sex'"
    """
    if quoted:
        names = [f"'{name}'" for name in names]
    if len(names) > limit:
        return f"{', '.join(names[:limit])} and {len(names) - limit} more"
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))
