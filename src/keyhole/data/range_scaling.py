"""Numbers into [-1, 1] by the ranges of a schema, and back."""

from functools import cached_property

import numpy as np

from .._internal.typing import Floats
from .columns import Range

__all__ = ["Scales"]


class Scales:
    """What a schema does to numbers: it clips them to their range and moves and stretches them about their centre."""

    label: Range

    @property
    def encoded(self) -> tuple[Range, ...]:
        """The attributes with their ranges, in the order of a learner's columns."""
        raise NotImplementedError

    @cached_property
    def low(self) -> Floats:
        """The attributes' smallest expected values (d,); -inf where that was left out."""
        return np.array([e.low for e in self.encoded])

    @cached_property
    def high(self) -> Floats:
        """The attributes' largest expected values (d,); inf where that was left out."""
        return np.array([e.high for e in self.encoded])

    @cached_property
    def unbounded(self) -> tuple[str, ...]:
        """The attributes, and the label, without both ends of a range: they cannot be scaled into [-1, 1]."""
        return tuple(c.name for c in (*self.encoded, self.label) if not c.bounded)

    def scale(self, X: Floats) -> Floats:
        """Rows (n, d) into [-1, 1]; values beyond the range are clipped. NaN and infinity stay."""
        return _scale(X, self.low, self.high, self._middle, self._reach)

    def scale_label(self, y: Floats) -> Floats:
        """Labels into [-1, 1], clipped as the attributes are."""
        label = self.label
        return _scale(y, *(np.array(v) for v in (label.low, label.high, label.middle, label.reach)))

    def unscale_label(self, z: Floats) -> Floats:
        """Predictions made in [-1, 1] in the label's own units."""
        unscaled: Floats = self.label.middle + self.label.reach * np.asarray(z, dtype=np.float64)
        return unscaled

    @cached_property
    def _middle(self) -> Floats:
        return np.array([e.middle for e in self.encoded])

    @cached_property
    def _reach(self) -> Floats:
        return np.array([e.reach for e in self.encoded])


def _scale(x: Floats, low: Floats, high: Floats, middle: Floats, reach: Floats) -> Floats:
    """(clip(x, low, high) - middle) / reach, 0 where reach is 0; what is not finite stays."""
    x = np.asarray(x, dtype=np.float64)
    safe = np.where(reach > 0, reach, 1.0)
    scaled: Floats = (np.clip(x, low, high) - middle) / safe
    scaled *= reach > 0
    beyond = ~np.isfinite(x)
    return np.where(beyond, x, scaled) if beyond.any() else scaled
