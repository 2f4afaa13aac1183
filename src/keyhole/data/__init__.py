"""Real data sets by name."""

from .dataset import Dataset
from .named_datasets import load, names

__all__ = ["Dataset", "load", "names"]
