"""Streams of rows and labels: synthetic ones with known laws."""

from .laws import designs
from .synthetic import Stream, synthetic

__all__ = ["Stream", "designs", "synthetic"]
