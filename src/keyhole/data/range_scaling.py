"""Numbers into [-1, 1] by the ranges of a schema, and back."""

from functools import cached_property

import numpy as np

from .._internal.typing import Floats
from .columns import Range
from .transforms import TRANSFORMS

__all__ = ["Scales"]


_INF = np.array(np.inf)


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
        low, high = np.array(self.label.low), np.array(self.label.high)
        if getattr(self.label, "transform", ""):
            beyond = ~np.isfinite(y)
            y = np.where(beyond, y, self.transform_label(np.clip(np.where(beyond, self.label.middle, y), low, high)))
            low, high = -_INF, _INF
        return _scale(y, low, high, *map(np.array, self._label_scale))

    def unscale_label(self, z: Floats) -> Floats:
        """Predictions made in [-1, 1] in the label's own units."""
        middle, reach = self._label_scale
        return self.untransform_label(middle + reach * np.asarray(z, dtype=np.float64))

    def transform_label(self, y: Floats) -> Floats:
        """Labels as a learner is told them, where they have a transform."""
        name = getattr(self.label, "transform", "")
        return TRANSFORMS[name].forward(y) if name else y

    def untransform_label(self, z: Floats) -> Floats:
        """Predictions in the label's own units, where it has a transform."""
        name = getattr(self.label, "transform", "")
        return TRANSFORMS[name].inverse(z) if name else z

    @cached_property
    def _label_scale(self) -> tuple[float, float]:
        """The middle of the label, transformed, and the distance from it that scales to 1."""
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
    """(clip(x, low, high) - middle) / reach, 0 where reach is 0; what is not finite stays."""
    x = np.asarray(x, dtype=np.float64)
    safe = np.where(reach > 0, reach, 1.0)
    scaled: Floats = (np.clip(x, low, high) - middle) / safe
    scaled *= reach > 0
    beyond = ~np.isfinite(x)
    return np.where(beyond, x, scaled) if beyond.any() else scaled
