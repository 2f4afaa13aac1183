"""Price files: TOML with one `name = price` per line."""

from os import PathLike

import numpy as np

from ..errors import ConfigError
from . import _toml

__all__ = ["read_prices"]


def read_prices(path: "str | PathLike[str]") -> dict[str, float]:
    """The prices in a file, by attribute; a price is a finite number >= 0."""
    prices = {}
    for name, value in _toml.parse(_toml.read_text(path), str(path)).items():
        prices[name] = _toml.number(value, f"{path}: the price of '{name}'")
        if not (np.isfinite(prices[name]) and prices[name] >= 0):
            raise ConfigError(f"{path}: the price of '{name}' must be a finite number >= 0, not {value}")
    return prices
