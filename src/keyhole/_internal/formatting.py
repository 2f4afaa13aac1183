"""Numbers, lists, times and objects as people read them."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from html import escape
from typing import Any, TypeAlias

import numpy as np

from .typing import Floats

__all__ = [
    "Facts",
    "Shown",
    "Units",
    "a_few",
    "decimals_of",
    "digits",
    "from_iso",
    "listed",
    "number",
    "plain_number",
    "share",
    "short",
    "shown_decimals",
    "thousands",
    "to_iso",
]

Facts: TypeAlias = list[tuple[str, str]]
"""What there is to say, in order: (what, how it is)."""


class Shown:
    """`repr` and `_repr_html_` from one list of facts; names from outside are escaped."""

    def _facts(self) -> Facts:
        """The first one is the heading."""
        raise NotImplementedError

    def __repr__(self) -> str:
        (kind, title), *rest = self._facts()
        return f"<{kind} {title}: {', '.join(f'{what} {how}' for what, how in rest)}>"

    def _repr_html_(self) -> str:
        (kind, title), *rest = self._facts()
        rows = "".join(f"<tr><th>{escape(what)}</th><td>{escape(how)}</td></tr>" for what, how in rest)
        return f"<table><caption>{escape(kind)} <b>{escape(title)}</b></caption><tbody>{rows}</tbody></table>"


def a_few(names: Sequence[str], most: int = 6) -> str:
    """The first names, and how many more there are.

    >>> a_few(["age", "bmi", "sex"], most=2)
    'age, bmi and 1 more'
    """
    shown = ", ".join(names[:most]) or "-"
    return f"{shown} and {len(names) - most} more" if len(names) > most else shown


def short(value: float) -> str:
    """A number in four digits."""
    return f"{value:.4g}"


def plain_number(text: str) -> float | None:
    """The finite number in a text, None where there is none: 1_5, foreign digits and infinity are not numbers.

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
    """A moment in seconds since 1970 as ISO 8601, in UTC, to the microsecond.

    >>> to_iso(0.25)
    '1970-01-01T00:00:00.250000+00:00'
    """
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="microseconds")


def from_iso(text: str) -> float:
    """What `to_iso` wrote, in seconds since 1970.

    >>> from_iso("1970-01-01T00:00:00.250000+00:00")
    0.25
    """
    return datetime.fromisoformat(text).timestamp()


@dataclass(frozen=True)
class Units:
    """The label's unit and the currency, where they are known; `priced` is whether anything has a price at all."""

    label: str = ""
    currency: str = ""
    priced: bool = True

    @classmethod
    def of(cls, summary: Mapping[str, Any], priced: bool = True) -> "Units":
        """Those of a run."""
        return cls(summary.get("unit", ""), summary.get("currency", ""), priced)

    def error(self, value: float) -> str:
        """A typical error: three digits and the unit.

        >>> Units("mmHg").error(15.4712), Units().error(4123.4)
        ('15.5 mmHg', '4 123')
        """
        return f"{digits(value)} {self.label}".strip()

    def less(self, value: float) -> str:
        """By how much an error goes down: two digits and the unit."""
        return f"{digits(value, 2)} {self.label}".strip()

    def money(self, value: float) -> str:
        """An amount of money; large ones without cents, tiny ones with as many digits as they need.

        >>> Units(currency="EUR").money(7.0), Units().money(127490.2), Units(currency="EUR").money(0.0042)
        ('7.00 EUR', '127 490', '0.0042 EUR')
        """
        tiny = 0 < abs(value) < 0.01
        text = digits(value, 2) if tiny else f"{value:.2f}" if abs(value) < 1000 else thousands(value)
        return f"{text} {self.currency}".strip()

    def error_cost(self, value: float) -> str:
        """What one unit of squared error costs.

        >>> Units("mmHg", "EUR").error_cost(0.5), Units().error_cost(0.5)
        ('0.5 EUR per squared mmHg', '0.5 per unit of squared error')
        """
        per = f"squared {self.label}" if self.label else "unit of squared error"
        return " ".join(filter(None, [number(value), self.currency, f"per {per}"]))

    def named(self, what: str, money: bool = False) -> str:
        """A heading with its unit: "typical error, mmHg"."""
        unit = self.currency if money else self.label
        return f"{what}, {unit}" if unit else what


def digits(value: float, n: int = 3) -> str:
    """A number as people write it: so many significant digits, thousands apart, no exponent but for the tiniest.

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
    """The same without zeros at its end: for what a person chose, and where columns need not line up.

    >>> [number(v) for v in (0, 0.03412, 7.0, 2580.0, 20000.0, 1.25e6, 3e21)]
    ['0', '0.0341', '7', '2 580', '20 000', '1 250 000', '3e+21']
    """
    text = digits(value, n)
    return text.rstrip("0").rstrip(".") if "." in text and "e" not in text else text


def decimals_of(values: Floats, least: int = 0) -> int:
    """How many decimals numbers are written with, at least `least`; 7 where they have more than six.

    >>> import numpy as np
    >>> decimals_of(np.array([120.0, 80.5])), decimals_of(np.array([np.nan, 3.0])), decimals_of(np.array([1 / 3]))
    (1, 0, 7)
    """
    there = values[np.isfinite(values)]
    size = 1e-9 * max(1.0, float(np.abs(there).max(initial=0.0)))
    exact = (p for p in range(least, 7) if bool((np.abs(np.round(there, p) - there) <= size).all()))
    return next(exact, 7)


def shown_decimals(decimals: int, spread: float) -> int | None:
    """How many decimals a prediction is shown with: the label's own, but enough for a hundredth of its spread.

    None where the labels themselves have more than six decimals.

    >>> shown_decimals(0, 97.0), shown_decimals(0, 1.0), shown_decimals(1, 40.0), shown_decimals(7, 1.0)
    (0, 2, 1, None)
    """
    if decimals > 6:
        return None
    return max(decimals, 2 - math.ceil(math.log10(spread))) if spread > 0 else decimals


def thousands(value: float) -> str:
    """A count in groups: 31 207."""
    return f"{value:,.0f}".replace(",", " ")


def share(part: float, whole: float) -> str:
    """ "71 %"; never "0 %" of what is something, nor "100 %" of what is not all.

    >>> share(1, 3), share(1, 10_000), share(9_999, 10_000), share(0, 5)
    ('33 %', '< 1 %', '> 99 %', '0 %')
    """
    percent = 100 * part / whole if whole else 0.0
    if 0 < percent < 0.5:
        return "< 1 %"
    return "> 99 %" if 99.5 <= percent < 100 else f"{percent:.0f} %"


def listed(names: Sequence[str], most: int = 8) -> str:
    """ "age, sex and bmi"; beyond `most`, how many more there are.

    >>> listed(["age"]), listed(["age", "sex", "bmi"]), listed(list("abcd"), most=2)
    ('age', 'age, sex and bmi', 'a, b and 2 more')
    """
    if len(names) > most:
        return f"{', '.join(names[:most])} and {len(names) - most} more"
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))
