"""Streams of rows and labels: synthetic ones with known laws, and tables with a schema (files, data frames)."""

from .clip_counter import ClipCounter
from .columns import Attribute, Label, Panel, Range
from .fingerprint import Fingerprint, fingerprint
from .price_file import read_prices, unpriced
from .schema import Schema
from .synthetic_streams import Stream, designs, synthetic
from .table import Batch, Column, DataError, Table, open_table
from .unseen_categories import UnseenCategories

__all__ = [
    "Attribute",
    "Batch",
    "ClipCounter",
    "Column",
    "DataError",
    "Fingerprint",
    "Label",
    "Panel",
    "Range",
    "Schema",
    "Stream",
    "Table",
    "UnseenCategories",
    "designs",
    "fingerprint",
    "open_table",
    "read_prices",
    "synthetic",
    "unpriced",
]
