"""Real data sets by name."""

from .dataset import Dataset
from .registry import load, names

__all__ = ["Dataset", "load", "names"]
