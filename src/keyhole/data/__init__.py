"""Synthetic streams, tables from files and data frames, schemas, and named data sets."""

from .named_datasets import Dataset, load, names

__all__ = ["Dataset", "load", "names"]
