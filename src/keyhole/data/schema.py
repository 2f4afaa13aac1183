"""The schema of a table: columns, types, ranges, sources and prices, and the label."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import inf
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from .._internal.atomic_io import write_atomically
from .._internal.typing import Floats
from ..core.sources import Offer, SourceCatalog
from ..errors import ConfigError
from . import schema_toml
from .columns import Attribute, Label, Panel, Range
from .scaling import Scales
from .schema_toml import check_consistency, no_source
from .table import suggestion

if TYPE_CHECKING:
    from .table import Table

__all__ = ["Schema"]

_R = TypeVar("_R", bound=Range)


@dataclass(frozen=True)
class Schema(Scales):
    """The columns of a table as `keyhole diagnose` writes them and `keyhole run` reads them.

    `attributes` are the columns as declared; `names`, `encoded`, `sources`, `free`, `prices`, `low` and `high` refer to
    the encoded attributes, which a learner sees. A column that is named only in a panel is plain numbers.

    >>> sex = Attribute("sex", type="category", values=("f", "m"), price=2.0)
    >>> age, lipids = Attribute("age", 0.0, 80.0, free=True), Panel("lipids", ("ldl", "hdl"), 12.0)
    >>> schema = Schema(Range("cost", 0.0, 100.0), (sex, age), panels=(lipids,))
    >>> schema.names
    ('sex=f', 'sex=m', 'age', 'ldl', 'hdl')
    >>> schema.sources
    {'lipids': ['ldl', 'hdl'], 'sex': ['sex=f', 'sex=m']}
    >>> schema.free, schema.source_prices
    (('age',), {'lipids': 12.0, 'sex': 2.0})
    >>> schema.scale(np.array([[1.0, 0.0, 60.0, 3.5, 1.2]]))
    array([[1. , 0. , 0.5, 3.5, 1.2]])
    >>> Schema.from_toml(schema.to_toml()) == schema
    True
    """

    label: Range
    attributes: tuple[Attribute, ...] = ()
    ignored: tuple[str, ...] = ()
    panels: tuple[Panel, ...] = ()
    currency: str = ""
    encoding: str = ""
    """The text encoding of a CSV file; "": UTF-8."""
    price_numbers: str = ""
    """The format of the numbers in the columns of prices; "": plain."""
    price_missing: tuple[str, ...] = ()
    """Words in the columns of prices that mean the usual price, in addition to an empty cell and NA."""

    def __post_init__(self) -> None:
        if not isinstance(self.label, Label):
            label = self.label
            ends = (label.low, label.high, label.center)
            object.__setattr__(self, "label", Label(label.name, *ends, estimated=label.estimated))
        declared = {a.name for a in self.attributes}
        found = [c for panel in self.panels for c in panel.columns if c not in declared]
        object.__setattr__(self, "attributes", (*self.attributes, *(Attribute(c) for c in dict.fromkeys(found))))
        check_consistency(self.label, self.attributes, self.ignored, self.panels)

    # -- columns

    @property
    def target(self) -> str:
        """The name of the label column."""
        return self.label.name

    @property
    def binary(self) -> bool:
        """Whether the label is 0 or 1."""
        return isinstance(self.label, Label) and self.label.is_binary

    @property
    def transforms_label(self) -> bool:
        """Whether a learner receives a transform of the label instead of the label itself."""
        return isinstance(self.label, Label) and bool(self.label.transform)

    @property
    def unit(self) -> str:
        """The unit of the label; "" if none was given."""
        return self.label.unit if isinstance(self.label, Label) else ""

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The columns of the table that are read, without the label."""
        return tuple(a.name for a in self.attributes)

    @property
    def is_complete(self) -> bool:
        """Whether all category values, date origins and usual prices are known; until then `names` or `prices` is an
        error.
        """
        priced = all(source.price is not None for source in self._with_price_column)
        return priced and all(a.is_complete for a in self.attributes)

    @cached_property
    def price_column_of(self) -> dict[str, str]:
        """The column of the table that holds the price of a source in each row; other sources have one price."""
        return {source.name: source.price_column for source in self._with_price_column}

    @property
    def price_columns(self) -> tuple[str, ...]:
        """The columns of the table that hold prices; none of them is an attribute."""
        return tuple(dict.fromkeys(self.price_column_of.values()))

    @property
    def _with_price_column(self) -> "list[Panel | Attribute]":
        sources: tuple[Panel | Attribute, ...] = (*self.panels, *self._single)
        return [source for source in sources if source.price_column]

    # -- attributes, as a learner sees them

    @cached_property
    def encoded(self) -> tuple[Range, ...]:
        """The attributes with their ranges, in the order of a learner's columns."""
        return tuple(e for a in self.attributes for e in a.encoded())

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of the attributes, in the order of a learner's columns."""
        return tuple(e.name for e in self.encoded)

    @cached_property
    def column_of(self) -> dict[str, str]:
        """The column of the table behind each attribute."""
        return {e.name: a.name for a in self.attributes for e in a.encoded()}

    @cached_property
    def free(self) -> tuple[str, ...]:
        """The attributes that are known before anything is ordered."""
        return tuple(e.name for a in self.attributes if a.free for e in a.encoded())

    @cached_property
    def sources(self) -> dict[str, list[str]]:
        """The sources and the attributes of each: first the panels, then the columns that belong to no panel."""
        brings = {a.name: [e.name for e in a.encoded()] for a in self.attributes}
        found = {p.name: [name for c in p.columns for name in brings[c]] for p in self.panels}
        return found | {a.name: brings[a.name] for a in self._single}

    @cached_property
    def source_prices(self) -> dict[str, float]:
        """The price of each source, or its usual price if prices differ between rows; 1 if none was given."""
        for source in self._with_price_column:
            if source.price is None:
                place = f"[{'sources' if isinstance(source, Panel) else 'attributes'}.{source.name}]"
                raise ConfigError(
                    f"{place}: its usual price is missing; state price beside price_column, because there is no table "
                    f"to take the mean of '{source.price_column}' from"
                )
        said = {p.name: p.price for p in self.panels} | {a.name: a.price for a in self._single}
        return {name: 1.0 if price is None else float(price) for name, price in said.items()}

    @property
    def priced(self) -> bool:
        """Whether any price was given."""
        if self.price_column_of:
            return True
        return any(p.price is not None for p in self.panels) or any(a.price is not None for a in self.attributes)

    @cached_property
    def prices(self) -> Floats:
        """The price of the source of each attribute (d,); 0 for a free attribute."""
        price = {name: self.source_prices[source] for source, brought in self.sources.items() for name in brought}
        return np.array([price.get(name, 0.0) for name in self.names], dtype=np.float64)

    @cached_property
    def catalog(self) -> SourceCatalog:
        """The catalog of sources and their prices; 1 if no price was given."""
        return SourceCatalog.build(self.names, self.sources, self.free, self.source_prices)

    def offer(self) -> dict[str, Offer]:
        """Return `sources`, `free`, `prices` and `label` as `make` takes them; defaults are omitted."""
        binary: dict[str, Offer] = {"label": "binary"} if self.binary else {}
        return self.catalog.options(self.priced) | binary

    @cached_property
    def _single(self) -> tuple[Attribute, ...]:
        """The columns that are sources of their own."""
        together = {c for p in self.panels for c in p.columns}
        return tuple(a for a in self.attributes if a.name not in together and not a.free)

    # -- changes

    @classmethod
    def plain(cls, target: str, names: Iterable[str], ignored: Iterable[str] = ()) -> "Schema":
        """Return the schema of data that is already scaled: every range is [-1, 1] about 0, without prices."""
        return cls(Range(target, -1.0, 1.0, 0.0), tuple(Attribute(name, -1.0, 1.0) for name in names), tuple(ignored))

    @classmethod
    def unknown(cls, target: str, names: Iterable[str], ignored: Iterable[str] = ()) -> "Schema":
        """Return the schema of data of which only the names are known: no ranges, no prices."""
        return cls(Range(target), tuple(map(Attribute, names)), tuple(ignored))

    def with_prices(self, prices: Mapping[str, float]) -> "Schema":
        """Return the same schema with these prices by source; a name that is not a source is refused.

        The price of "*" is that of every source without a price.
        """
        single = {a.name for a in self._single}
        prices = dict(prices)
        if "*" in prices and "*" not in single:
            other = prices.pop("*")
            sources: tuple[Panel | Attribute, ...] = (*self.panels, *self._single)
            without = [s.name for s in sources if s.price is None and not s.price_column]
            prices = dict.fromkeys(without, other) | prices
        for name in prices:
            if name not in single and name not in (p.name for p in self.panels):
                raise ConfigError(no_source(name, self.attributes, self.panels))
        panels = tuple(replace(p, price=prices.get(p.name, p.price)) for p in self.panels)
        priced = (replace(a, price=prices.get(a.name, a.price)) if a.name in single else a for a in self.attributes)
        return replace(self, attributes=tuple(priced), panels=panels)

    def with_free(self, names: Sequence[str]) -> "Schema":
        """Return the same schema with these columns free, without their prices."""
        for name in names:
            if name not in self.columns:
                raise ConfigError(
                    f"'{name}' cannot be free: there is no such attribute; {suggestion(name, self.columns)}"
                )
        less = self.without_panel_columns(names)
        marked = (replace(a, free=True, price=None, price_column="") if a.name in names else a for a in less.attributes)
        return self._ignoring_prices(replace(less, attributes=tuple(marked)))

    def without_panel_columns(self, names: Sequence[str]) -> "Schema":
        """Return the same schema with these columns in no panel; a panel without columns is dropped."""
        gone = set(names)
        kept = ((p, tuple(c for c in p.columns if c not in gone)) for p in self.panels)
        panels = tuple(replace(p, columns=columns) for p, columns in kept if columns)
        return self._ignoring_prices(replace(self, panels=panels))

    def without(self, names: Sequence[str]) -> "Schema":
        """Return the same schema with these columns ignored."""
        gone = set(names)
        less = self.without_panel_columns(names)
        kept = tuple(a for a in less.attributes if a.name not in gone)
        ignored = (*less.ignored, *(a.name for a in less.attributes if a.name in gone))
        return self._ignoring_prices(replace(less, attributes=kept, ignored=ignored), names)

    def _ignoring_prices(self, changed: "Schema", names: Sequence[str] = ()) -> "Schema":
        """Return a changed schema that ignores the columns of prices that it no longer reads, and those in `names`.

        A source that still has its prices in one of `names` is a `ConfigError` of the new schema.
        """
        former = (c for c in self.price_columns if c in names or c not in changed.price_columns)
        added = tuple(c for c in former if c not in changed.ignored)
        return replace(changed, ignored=(*changed.ignored, *added)) if added else changed

    def without_estimates(self) -> "Schema":
        """Return the same schema without the ranges and centres that were computed from the rows of the table."""

        def stated(column: _R) -> _R:
            if not column.estimated:
                return column
            return replace(column, low=-inf, high=inf, center=None, estimated=False)

        return replace(self, label=stated(self.label), attributes=tuple(map(stated, self.attributes)))

    def written(self, numbers: str = "", encoding: str = "") -> "Schema":
        """Return the same schema with another number format or file encoding; "" keeps the current one. The format is
        that of all numbers, so a yes/no label has none.
        """
        columns = self.attributes
        if numbers:
            columns = tuple(replace(a, numbers=numbers) if a.type == "number" else a for a in columns)
        label = replace(self.label, numbers=numbers) if numbers and not self.binary else self.label  # type: ignore[call-arg]
        prices = numbers if numbers and self.price_column_of else self.price_numbers
        return replace(self, label=label, attributes=columns, encoding=encoding or self.encoding, price_numbers=prices)

    def with_missing(self, words: Sequence[str]) -> "Schema":
        """Return the same schema with these words marking a missing value in every column."""

        def marked(column: _R) -> _R:
            return replace(column, missing=tuple(dict.fromkeys((*column.missing, *words))))

        if not words:
            return self
        prices = tuple(dict.fromkeys((*self.price_missing, *words))) if self.price_column_of else self.price_missing
        return replace(
            self, label=marked(self.label), attributes=tuple(map(marked, self.attributes)), price_missing=prices
        )

    def complete(self, table: "Table") -> "Schema":
        """Return the same schema with missing category values, date origins and usual prices filled in from all rows
        of a table.

        A column of the table that the schema lacks, or a column of the schema that the table lacks, is a `DataError`.
        """
        from .schema_completion import complete

        return complete(self, table)

    # -- files

    def to_toml(self) -> str:
        """Return the schema as TOML that `from_toml` reads back without loss."""
        text = schema_toml.format_schema(self)
        return _remember(text, self)[0]

    @classmethod
    def from_toml(cls, text: str, where: str = "schema") -> "Schema":
        """Parse a schema from TOML text; error messages refer to it as `where`."""
        if text in _RECENT:
            return _RECENT[text]
        from .schema_models import SchemaFile, checked

        file = checked(SchemaFile, schema_toml.parse(text, where), where)
        try:
            return _remember(text, cls(**file.parts()))[1]
        except ConfigError as fault:
            raise ConfigError(f"{where}, {fault}") from None

    def write(self, path: "str | PathLike[str]") -> None:
        """Write the schema to a file; the comments and the order of an existing file are kept."""
        there = Path(path)
        text = schema_toml.rewrite(schema_toml.read_text(path), self, str(path)) if there.exists() else self.to_toml()
        write_atomically(there, text.encode())

    @classmethod
    def read(cls, path: "str | PathLike[str]") -> "Schema":
        """Read a schema from a file."""
        return cls.from_toml(schema_toml.read_text(path), str(path))


# A command writes and reads its schema several times, and parsing one of 80 000 columns takes seconds.
_RECENT: dict[str, Schema] = {}


def _remember(text: str, schema: Schema) -> tuple[str, Schema]:
    if len(_RECENT) >= 4:
        _RECENT.pop(next(iter(_RECENT)), None)
    _RECENT[text] = schema
    return text, schema
