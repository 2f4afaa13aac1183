"""A table encoded by its schema: one numeric column per attribute."""

from collections.abc import Collection, Iterator, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from .._internal.typing import Floats
from ..core.sources import LARGEST_PRICE
from .cell_encoding import Wrong, as_words, encode, hint, is_plain, matrix, regroup
from .columns import TRANSFORMS, Attribute, Label
from .schema import Schema
from .table import Batch, Column, DataError, Table

__all__ = ["EncodedTable"]

_MOST_UNSEEN = 20


class EncodedTable(Table):
    """The attributes of a complete schema, read block by block from the columns that they come from.

    Only the columns behind the requested attributes are read. A cell that does not match the declaration of its column
    is a `DataError` with its row. Encoding is stateless: a row becomes the same numbers wherever reading begins. A
    column of prices is read under its own name; an empty cell is NaN.
    """

    def __init__(self, table: Table, schema: Schema) -> None:
        self.table, self.schema = table, schema
        self._declared: dict[str, Attribute | Label] = {a.name: a for a in schema.attributes}
        if isinstance(schema.label, Label):
            self._declared[schema.target] = schema.label
        self._prices = schema.price_columns
        for column in self._prices:
            self._declared[column] = Attribute(column, numbers=schema.price_numbers, missing=schema.price_missing)
        self._home = schema.column_of | {column: column for column in (schema.target, *self._prices)}
        super().__init__(table.name, [Column(name, "number") for name in self._home], table.rows)
        self.width = table.width
        self.unseen: dict[str, dict[str, int]] = {}
        """How often each word outside the values of its category was read, by column; at most 20 words per column."""

    def chunks(self, names: Sequence[str], start: int, cells: Collection[str] = ()) -> Iterator[pa.RecordBatch]:
        """Yield the rows of the underlying table, by its own columns."""
        return self.table.chunks(names, start, cells)

    def require(self, names: Sequence[str], target: str | None = None, *, declared: bool = True) -> None:
        """Raise a `DataError` unless the columns behind these attributes exist and match their declared types."""
        for name in names:
            self.kind(name)
        behind = dict.fromkeys(self._home[name] for name in names)
        self.table.require([c for c in behind if self._is_plain(c)], target or self.schema.target, declared=declared)
        for column in behind:
            if self.table.kind(column) == "other":
                raise DataError(f"{self.name}: column '{column}' holds lists or objects; list it under `ignored`")

    def batches(
        self, attributes: Sequence[str], target: str | None = None, start: int = 0, size: int = 4096
    ) -> Iterator[Batch]:
        """Yield batches like `Table.batches`, encoded."""
        names = [*attributes] if target is None else [*attributes, target]
        self.require(names)
        behind = list(dict.fromkeys(self._home[name] for name in names))
        if all(map(self._is_plain, behind)):
            for batch in self.table.batches(attributes, target, start, size):
                X = self._transformed(batch.X, attributes, batch.first)
                if target is not None:
                    self._check_label(batch.y, target, batch.first)
                yield batch._replace(X=X)
            return
        cells = {c for c in behind if not self._is_plain(c)}
        for pieces in regroup(self.table.chunks(behind, start, cells), size):
            X = self._block(pieces, names, start)
            y = X[:, -1] if target is not None else np.full(len(X), np.nan)
            if target is not None:
                self._check_label(y, target, start)
            seen = self._transformed(np.ascontiguousarray(X[:, : len(attributes)]), attributes, start)
            yield Batch(start, seen, y)
            start += len(X)

    def split_prices(self, batch: Batch) -> Batch:
        """Return a batch of all attributes and the columns of prices as one with the prices of all sources apart."""
        if not self._prices:
            return batch
        catalog, d = self.schema.catalog, len(self.schema.names)
        prices = np.tile(catalog.prices, (len(batch.X), 1))
        for source, column in self.schema.price_column_of.items():
            s, given = catalog.sources.index(source), batch.X[:, d + self._prices.index(column)]
            prices[:, s] = np.where(np.isnan(given), prices[:, s], given)
        return batch._replace(X=np.ascontiguousarray(batch.X[:, :d]), prices=prices)

    def _is_plain(self, column: str) -> bool:
        """Return whether a column is read as plain numbers; prices are read cell by cell, to name a wrong one."""
        return is_plain(self._declared[column]) and column not in self._prices

    def _block(self, pieces: Sequence[pa.RecordBatch], names: Sequence[str], start: int) -> Floats:
        """Return (n, len(names)): all plain columns at once, each other column by its own encoding."""
        X: Floats = np.empty((sum(p.num_rows for p in pieces), len(names)))
        plain = [j for j, name in enumerate(names) if self._is_plain(self._home[name])]
        X[:, plain] = matrix(pieces, [names[j] for j in plain])
        self.table.report_rounded(X[:, plain], [names[j] for j in plain], start)
        place = {name: j for j, name in enumerate(names)}
        for column in dict.fromkeys(self._home[name] for name in names):
            declared = self._declared[column]
            if not self._is_plain(column):
                brought = [e.name for e in declared.encoded()] if isinstance(declared, Attribute) else [column]
                numbers = self._numbers(pieces, declared, start)
                if column in self._prices:
                    self._check_prices(numbers[:, 0], column, start)
                for i, name in enumerate(brought):
                    if name in place:
                        X[:, place[name]] = numbers[:, i]
        return X

    def _transformed(self, X: Floats, names: Sequence[str], start: int) -> Floats:
        """Apply the transform of each column; a number outside its domain is a `DataError`."""
        for j, name in enumerate(names):
            transform = getattr(self._declared[self._home[name]], "transform", "")
            if transform:
                self._check_domain(X[:, j], name, transform, start)
                X[:, j] = TRANSFORMS[transform].forward(X[:, j])
        return X

    def _check_label(self, y: Floats, target: str, start: int) -> None:
        """Check the domain of the label's transform; the learner applies the transform itself."""
        transform = getattr(self._declared.get(target), "transform", "")
        if transform:
            self._check_domain(y, target, transform, start)

    def _check_domain(self, x: Floats, name: str, transform: str, start: int) -> None:
        with np.errstate(invalid="ignore"):
            bad = np.flatnonzero(~(np.asarray(TRANSFORMS[transform].takes(x)) | np.isnan(x)))
        if bad.size:
            row = start + int(bad[0]) + 1
            raise DataError(
                f"{self.name}: row {row} (without the header), column '{name}': {x[bad[0]]:g} is not "
                f"{TRANSFORMS[transform].should}; correct it, or remove the transform from the schema",
                row,
                name,
            )

    def _check_prices(self, x: Floats, column: str, start: int) -> None:
        bad = np.flatnonzero(~((x >= 0.0) & (x <= LARGEST_PRICE) | np.isnan(x)))
        if bad.size:
            row = start + int(bad[0]) + 1
            raise DataError(
                f"{self.name}: row {row} (without the header), column '{column}': {x[bad[0]]:g} is not a price from 0 "
                f"to {LARGEST_PRICE:g}; correct it, or leave the cell empty if the usual price applies",
                row,
                column,
            )

    def _numbers(self, pieces: Sequence[pa.RecordBatch], declared: Attribute | Label, start: int) -> Floats:
        cells = pa.chunked_array([p.column(declared.name) for p in pieces]).combine_chunks()
        if isinstance(cells, pa.ChunkedArray):  # an older pyarrow, or a single chunk
            cells = cells.chunk(0)
        if isinstance(declared, Attribute) and declared.type == "category":
            self._note_unseen(cells, declared)
        try:
            return encode(cells, declared)
        except Wrong as wrong:
            row, then = start + wrong.place + 1, "leave the cell empty if the value is missing"
            if declared.name in self._prices:
                then = "leave the cell empty if the usual price applies"
                if form := hint(wrong.value):
                    then = f'declare numbers = "{form}" under [money] if that is how prices are written'
            raise DataError(
                f"{self.name}: row {row} (without the header), column '{declared.name}': {wrong.value!r} is not "
                f"{wrong.should}; correct it, or {then}",
                row,
                declared.name,
            ) from None
        except pa.ArrowException:
            kind = getattr(declared, "type", "number")
            raise DataError(
                f"{self.name}: column '{declared.name}' cannot be read as {kind}", None, declared.name
            ) from None

    def _note_unseen(self, cells: pa.Array, category: Attribute) -> None:
        words = as_words(cells)
        strange = words.filter(pc.invert(pc.is_in(words, pa.array(category.values, pa.string())))).drop_null()
        for item in pc.value_counts(strange).to_pylist() if len(strange) else ():
            found = self.unseen.setdefault(category.name, {})
            if item["values"] in found or len(found) < _MOST_UNSEEN:
                found[item["values"]] = found.get(item["values"], 0) + item["counts"]

    def strangers(self) -> list[str]:
        """Return one sentence per category with values outside its declaration, as far as the table was read."""
        return [
            f"'{column}' had {sum(found.values())} cells that are none of its values ({', '.join(sorted(found)[:3])}"
            f"{', ...' if len(found) > 3 else ''}): they count as other, 0 in each of its attributes"
            for column, found in self.unseen.items()
        ]
