"""A data set as a value."""

from dataclasses import dataclass

from .._types import Floats

__all__ = ["Dataset"]


@dataclass(frozen=True, eq=False)
class Dataset:
    """Rows X (n, d), labels y (n,), what the columns are called and cost, and where it all is from."""

    name: str
    X: Floats
    y: Floats
    names: tuple[str, ...]
    """The d attributes' names."""
    target: str
    prices: Floats
    """(d,); 1 each where no real prices are known."""
    source: str
    licence: str
    control: bool = False
    """True where columns are interchangeable, so that no choice of attributes can win much."""
