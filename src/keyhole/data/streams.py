"""Streams of rows and labels: synthetic ones with known distributions, and tables with a schema."""

from .columns import Attribute, Label, Panel, Range
from .fingerprint import Fingerprint, fingerprint
from .schema import Schema
from .schema_toml import read_prices, unpriced
from .synthetic_streams import Stream, designs, synthetic
from .table import Batch, Column, DataError, Table, open_table

__all__ = [
    "Attribute",
    "Batch",
    "Column",
    "DataError",
    "Fingerprint",
    "Label",
    "Panel",
    "Range",
    "Schema",
    "Stream",
    "Table",
    "designs",
    "fingerprint",
    "open_table",
    "read_prices",
    "synthetic",
    "unpriced",
]
