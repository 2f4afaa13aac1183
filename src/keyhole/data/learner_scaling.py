"""How a learner sees a table: scaled into [-1, 1] by the schema, or raw."""

from dataclasses import dataclass

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

    def to_note(self) -> dict[str, Plain]:
        """Plain values that travel with a model."""
        return {"schema": self.schema.to_toml(), "scaled": self.scaled, "clip": self.clip}

    @classmethod
    def from_note(cls, note: dict[str, Plain]) -> "Scaling":
        """What `to_note` gave."""
        return cls(
            Schema.from_toml(str(note["schema"]), "the model's schema"), bool(note["scaled"]), bool(note["clip"])
        )


def _clipped(x: Floats, low: Floats, high: Floats) -> Floats:
    """Within the range; infinity stays, so that it is noticed."""
    return np.where(np.isfinite(x), np.clip(x, low, high), x)
