"""Numbers and moments as other programs and people write them."""

import math
from datetime import UTC, datetime

__all__ = ["from_iso", "plain_number", "to_iso"]


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
