"""Scaling: the learner's view of a table, raw or scaled into [-1, 1] by the ranges of its schema."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from .._internal.typing import Floats
from ..core.learner import Plain
from .columns import TRANSFORMS, Range

if TYPE_CHECKING:
    from .schema import Schema

__all__ = ["Scales", "Scaling"]

_INF = np.array(np.inf)


class Scales:
    """The scaling of a schema: clips values to their range, then shifts and scales them about their centre."""

    label: Range

    @property
    def encoded(self) -> tuple[Range, ...]:
        """The attributes with their ranges, in the order of a learner's columns."""
        raise NotImplementedError

    @cached_property
    def low(self) -> Floats:
        """The smallest expected values of the attributes (d,); -inf where there is none."""
        return np.array([e.low for e in self.encoded])

    @cached_property
    def high(self) -> Floats:
        """The largest expected values of the attributes (d,); inf where there is none."""
        return np.array([e.high for e in self.encoded])

    @cached_property
    def unbounded(self) -> tuple[str, ...]:
        """The attributes, and the label, that lack a bounded range and so cannot be scaled into [-1, 1]."""
        return tuple(c.name for c in (*self.encoded, self.label) if not c.bounded)

    def scale(self, X: Floats) -> Floats:
        """Scale rows (n, d) into [-1, 1]; values outside the range are clipped, NaN and infinity are kept."""
        return _scale(X, self.low, self.high, self._middle, self._reach)

    def scale_label(self, y: Floats) -> Floats:
        """Scale labels into [-1, 1], clipped like the attributes."""
        low, high = np.array(self.label.low), np.array(self.label.high)
        if getattr(self.label, "transform", ""):
            beyond = ~np.isfinite(y)
            y = np.where(beyond, y, self.transform_label(np.clip(np.where(beyond, self.label.middle, y), low, high)))
            low, high = -_INF, _INF
        return _scale(y, low, high, *map(np.array, self._label_scale))

    def unscale_label(self, z: Floats) -> Floats:
        """Convert predictions in [-1, 1] to the units of the label."""
        middle, reach = self._label_scale
        return self.untransform_label(middle + reach * np.asarray(z, dtype=np.float64))

    def transform_label(self, y: Floats) -> Floats:
        """Apply the transform of the label, if it has one; a learner receives the result."""
        name = getattr(self.label, "transform", "")
        return TRANSFORMS[name].forward(y) if name else y

    def untransform_label(self, z: Floats) -> Floats:
        """Invert the transform of the label, if it has one."""
        name = getattr(self.label, "transform", "")
        return TRANSFORMS[name].inverse(z) if name else z

    @cached_property
    def _label_scale(self) -> tuple[float, float]:
        """The transformed middle of the label, and the distance from it that scales to 1."""
        label = self.label
        if not (getattr(label, "transform", "") and label.bounded):
            return label.middle, label.reach
        low, middle, high = self.transform_label(np.array([label.low, label.middle, label.high])).tolist()
        return middle, max(high - middle, middle - low)

    @cached_property
    def _middle(self) -> Floats:
        return np.array([e.middle for e in self.encoded])

    @cached_property
    def _reach(self) -> Floats:
        return np.array([e.reach for e in self.encoded])


def _scale(x: Floats, low: Floats, high: Floats, middle: Floats, reach: Floats) -> Floats:
    """Return (clip(x, low, high) - middle) / reach, 0 where reach is 0; values that are not finite are kept."""
    x = np.asarray(x, dtype=np.float64)
    safe = np.where(reach > 0, reach, 1.0)
    scaled: Floats = (np.clip(x, low, high) - middle) / safe
    scaled *= reach > 0
    beyond = ~np.isfinite(x)
    return np.where(beyond, x, scaled) if beyond.any() else scaled


@dataclass(frozen=True)
class Scaling:
    """The scaling of a run: the paper's learners see values scaled by the schema, a learner for raw data sees raw ones.

    If the ranges of the schema are binding (`clip`), values outside them are clipped in both cases.
    """

    schema: "Schema"
    scaled: bool
    clip: bool
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

    def to_note(self) -> dict[str, Plain]:
        """Return plain values that are stored with a model."""
        seen: dict[str, Plain] = {name: list(ends) for name, ends in self.seen.items()}
        plain: dict[str, Plain] = {"schema": self.schema.to_toml(), "scaled": self.scaled, "clip": self.clip}
        return plain | {"seen": seen}

    @classmethod
    def from_note(cls, note: dict[str, Plain]) -> "Scaling":
        """Restore a scaling from the values of `to_note`."""
        from .schema import Schema  # which has the scaling of its columns from this module

        schema = Schema.from_toml(str(note["schema"]), "the model's schema")
        seen = note.get("seen") or {}
        ends = {name: (float(e[0]), float(e[1])) for name, e in seen.items()}  # type: ignore[union-attr,arg-type,index]
        return cls(schema, bool(note["scaled"]), bool(note["clip"]), ends)


def _clipped(x: Floats, low: Floats, high: Floats) -> Floats:
    """Clip to the range; infinity is kept, so that it is noticed."""
    return np.where(np.isfinite(x), np.clip(x, low, high), x)
