"""How a learner sees a table: scaled into [-1, 1] by the schema, or raw."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from .._internal.typing import Floats
from ..core.learner import Plain
from .streams import Schema

__all__ = ["Scaling"]


@dataclass(frozen=True)
class Scaling:
    """The paper's learners see values scaled by the schema; a learner for raw data sees them as they are.

    Where the schema's ranges are meant (`clip`), what lies beyond them is clipped for both.
    """

    schema: Schema
    scaled: bool
    clip: bool
    decimals: int | None = None
    """How many decimals predictions are written with; None: all."""
    seen: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """The smallest and largest value of each attribute that was bought while training."""

    def rows(self, X: Floats) -> Floats:
        """Raw rows (n, d) as the learner sees them."""
        if self.scaled:
            return self.schema.scale(X)
        return _clipped(X, self.schema.low, self.schema.high) if self.clip else X

    def labels(self, y: Floats) -> Floats:
        """Raw labels (n,) as the learner is told them; 0 and 1 stay what they are."""
        if self.schema.binary:
            return y
        if self.scaled:
            return self.schema.scale_label(y)
        label = self.schema.label
        y = _clipped(y, np.array(label.low), np.array(label.high)) if self.clip else y
        return self.schema.transform_label(y)

    def predictions(self, z: Floats) -> Floats:
        """What the learner predicted, in the label's own units; a probability is one already."""
        if self.schema.binary:
            return z
        return self.schema.unscale_label(z) if self.scaled else self.schema.untransform_label(z)

    def rounded(self, predictions: Floats) -> Floats:
        """Predictions in the label's units, with as many decimals as the labels have."""
        return predictions if self.decimals is None else np.round(predictions, self.decimals)

    def to_note(self) -> dict[str, Plain]:
        """Plain values that travel with a model."""
        seen: dict[str, Plain] = {name: list(ends) for name, ends in self.seen.items()}
        plain: dict[str, Plain] = {"schema": self.schema.to_toml(), "scaled": self.scaled, "clip": self.clip}
        return plain | {"decimals": self.decimals, "seen": seen}

    @classmethod
    def from_note(cls, note: dict[str, Plain]) -> "Scaling":
        """What `to_note` gave."""
        schema = Schema.from_toml(str(note["schema"]), "the model's schema")
        decimals, seen = note.get("decimals"), note.get("seen") or {}
        ends = {name: (float(e[0]), float(e[1])) for name, e in seen.items()}  # type: ignore[union-attr,arg-type,index]
        whole = decimals if isinstance(decimals, int) else None
        return cls(schema, bool(note["scaled"]), bool(note["clip"]), whole, ends)


def _clipped(x: Floats, low: Floats, high: Floats) -> Floats:
    """Within the range; infinity stays, so that it is noticed."""
    return np.where(np.isfinite(x), np.clip(x, low, high), x)
