"""Price files: TOML with one `name = price` per line."""

from os import PathLike

from . import _toml

__all__ = ["read_prices"]


def read_prices(path: "str | PathLike[str]") -> dict[str, float]:
    """The prices in a file, by source (a column alone is one of its own); a price is a finite number >= 0."""
    from .models import PricesFile, checked

    return dict(checked(PricesFile, _toml.parse(_toml.read_text(path), str(path)), str(path)).root)
