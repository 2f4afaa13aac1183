"""The learner's view of a table: raw, or scaled into [-1, 1] by the schema or by ranges from the first rows."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TypeVar

import numpy as np

from .._internal.typing import Floats
from ..core.learner import Plain
from .columns import Range
from .schema import Schema
from .table import Batch, DataError, Table

__all__ = ["Scaling", "first_rows", "learn_ranges"]

FIRST = 1000
_R = TypeVar("_R", bound=Range)


def first_rows(table: Table, schema: Schema) -> Batch:
    """Return the first 1000 rows, raw; a label that is the same in every row of the table is a `DataError`.

    More rows are read only while all labels are the same.
    """
    first: Batch | None = None
    labels: set[float] = set()
    count = 0
    for batch in table.batches(schema.names, schema.target, size=FIRST):
        first = first or batch
        known = batch.y[~np.isnan(batch.y)]
        labels.update(np.unique(known).tolist())
        count += known.size
        if len(labels) > 1 or not count:
            return first
    if first is None:
        raise DataError(f"{table.name} has a header but no rows; it needs at least one")
    if count > 1:
        only = f"'{schema.target}' is {labels.pop():g} in all {count} rows that have it"
        raise DataError(f"{table.name}: the target {only}: there is nothing to predict; choose another target")
    return first


def learn_ranges(schema: Schema, first: Batch) -> tuple[Schema, list[str]]:
    """Return the schema with estimated ranges where there are none, and a sentence about them.

    An estimated range is twice as wide as that of the first rows. If no column has a range and all first values lie in
    [-1, 1], the table is taken to be scaled already.
    """
    if not schema.unbounded:
        return schema, []
    columns = np.column_stack([first.X, first.y])
    seen = dict(zip((*schema.names, schema.target), columns.T, strict=True))
    scaled = not (np.abs(columns[np.isfinite(columns)]) > 1.0).any()
    if scaled and len(schema.unbounded) == len(seen):
        ends = dict.fromkeys(seen, (-1.0, 1.0, 0.0))
    else:
        ends = {name: _range(seen[name]) for name in schema.unbounded}
        if schema.transforms_label and schema.target in ends:  # widened as the learner sees it, inside the domain
            widened = _range(schema.transform_label(seen[schema.target]))
            ends[schema.target] = tuple(schema.untransform_label(np.array(widened)).tolist())

    def bounded(column: _R) -> _R:
        if column.name not in ends or column.bounded:
            return column
        low, high, center = ends[column.name]
        return replace(column, low=low, high=high, center=center, estimated=True)

    attributes = tuple(bounded(a) if a.type in ("number", "date") else a for a in schema.attributes)
    text = (
        f"some algorithms need to know ranges, which were not given: those of {len(ends)} columns are twice as wide as "
        f"in the first {len(first.y)} rows; what lies beyond is clipped and counted (keyhole diagnose writes a schema)"
    )
    found = replace(schema, label=bounded(schema.label), attributes=attributes)
    return found, [] if scaled and len(schema.unbounded) == len(seen) else [text]


def _range(column: Floats) -> tuple[float, float, float]:
    """Return (low, high, center): the range of the values, widened by half of it on both sides, and their mean."""
    x = column[np.isfinite(column)]
    if not x.size:
        return -1.0, 1.0, 0.0
    low, high, mean = float(x.min()), float(x.max()), float(x.mean())
    reach = (high - low) / 2 or max(abs(mean), 1.0)
    return low - reach, high + reach, min(max(mean, low), high)


@dataclass(frozen=True)
class Scaling:
    """The scaling of a run: the paper's learners see values scaled by the schema, a learner for raw data sees raw ones.

    If the ranges of the schema are binding (`clip`), values outside them are clipped in both cases.
    """

    schema: Schema
    scaled: bool
    clip: bool
    decimals: int | None = None
    """The number of decimals of written predictions; None: all."""
    seen: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """The smallest and largest value of each attribute that was bought during training."""

    def rows(self, X: Floats) -> Floats:
        """Convert raw rows (n, d) to the learner's scale."""
        if self.scaled:
            return self.schema.scale(X)
        return _clipped(X, self.schema.low, self.schema.high) if self.clip else X

    def labels(self, y: Floats) -> Floats:
        """Convert raw labels (n,) to the learner's scale; binary labels stay 0 and 1."""
        if self.schema.binary:
            return y
        if self.scaled:
            return self.schema.scale_label(y)
        label = self.schema.label
        y = _clipped(y, np.array(label.low), np.array(label.high)) if self.clip else y
        return self.schema.transform_label(y)

    def predictions(self, z: Floats) -> Floats:
        """Convert predictions of the learner to the units of the label; probabilities are unchanged."""
        if self.schema.binary:
            return z
        return self.schema.unscale_label(z) if self.scaled else self.schema.untransform_label(z)

    def rounded(self, predictions: Floats) -> Floats:
        """Round predictions in the label's units to as many decimals as the labels have."""
        return predictions if self.decimals is None else np.round(predictions, self.decimals)

    def to_note(self) -> dict[str, Plain]:
        """Return plain values that are stored with a model."""
        seen: dict[str, Plain] = {name: list(ends) for name, ends in self.seen.items()}
        plain: dict[str, Plain] = {"schema": self.schema.to_toml(), "scaled": self.scaled, "clip": self.clip}
        return plain | {"decimals": self.decimals, "seen": seen}

    @classmethod
    def from_note(cls, note: dict[str, Plain]) -> "Scaling":
        """Restore a scaling from the values of `to_note`."""
        schema = Schema.from_toml(str(note["schema"]), "the model's schema")
        decimals, seen = note.get("decimals"), note.get("seen") or {}
        ends = {name: (float(e[0]), float(e[1])) for name, e in seen.items()}  # type: ignore[union-attr,arg-type,index]
        whole = decimals if isinstance(decimals, int) else None
        return cls(schema, bool(note["scaled"]), bool(note["clip"]), whole, ends)


def _clipped(x: Floats, low: Floats, high: Floats) -> Floats:
    """Clip to the range; infinity is kept, so that it is noticed."""
    return np.where(np.isfinite(x), np.clip(x, low, high), x)
