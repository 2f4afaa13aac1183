"""How our objects look in a terminal and in a notebook: a short line, or a small table."""

from collections.abc import Sequence
from html import escape
from typing import TypeAlias

__all__ = ["Facts", "ReprMixin", "join_names", "short"]

Facts: TypeAlias = list[tuple[str, str]]
"""What there is to say, in order: (what, how it is)."""


class ReprMixin:
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


def join_names(names: Sequence[str], most: int = 6) -> str:
    """The first names, and how many more there are.

    >>> join_names(["age", "bmi", "sex"], most=2)
    'age, bmi and 1 more'
    """
    shown = ", ".join(names[:most]) or "-"
    return f"{shown} and {len(names) - most} more" if len(names) > most else shown


def short(value: float) -> str:
    """A number in four digits."""
    return f"{value:.4g}"
