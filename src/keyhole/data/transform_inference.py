"""Which columns would help a linear prediction more after a transform: a proposal for the schema, no more."""

import numpy as np

from .._internal.typing import Floats
from .transforms import TRANSFORMS

__all__ = ["ROWS", "propose_transform"]

ROWS = 20_000
"""Rows to look at."""
# A column is skewed from this standardised third moment on, and a transform must raise R2 by a tenth, and by more than
# chance: four standard errors of a correlation, squared.
_SKEWED, _RAISES, _CHANCE = 1.0, 1.1, 16.0


def propose_transform(x: Floats, y: Floats) -> str:
    """The transform of a column under which it explains the label best, or "": it is not skewed, or gains too little.

    >>> rng = np.random.default_rng(0)
    >>> x = np.exp(2.0 * rng.normal(size=500))
    >>> propose_transform(x, np.log(x) + rng.normal(size=500)), propose_transform(x, rng.normal(size=500))
    ('log', '')
    """
    there = ~(np.isnan(x) | np.isnan(y))
    x, y = x[there], y[there]
    if x.size < 50 or x.min() < 0.0 or _skewness(x) < _SKEWED:
        return ""
    plain = _r2(x, y)
    able = {name: t for name, t in TRANSFORMS.items() if bool(np.asarray(t.takes(x)).all())}
    found = {name: _r2(t.forward(x), y) for name, t in able.items()}
    best = max(found, key=found.__getitem__)
    return best if found[best] > _RAISES * plain and found[best] - plain > _CHANCE / x.size else ""


def _skewness(x: Floats) -> float:
    off = x - x.mean()
    deviation = float(np.sqrt((off**2).mean()))
    return float((off**3).mean()) / deviation**3 if deviation > 0.0 else 0.0


def _r2(x: Floats, y: Floats) -> float:
    if x.std() == 0.0 or y.std() == 0.0:
        return 0.0
    return float(np.corrcoef(x, y)[0, 1] ** 2)
