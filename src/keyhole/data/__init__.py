"""Real data sets by name."""

from .named_datasets import Dataset, load, names

__all__ = ["Dataset", "load", "names"]
