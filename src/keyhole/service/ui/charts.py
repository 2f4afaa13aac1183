"""The figures of a learner, drawn from a bounded number of rows, however long its history is."""

import math
import time
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np

from ..._internal.formatting import Units
from ..._internal.typing import Floats
from ...store import projections
from ...store.store import StoredLearner

if TYPE_CHECKING:
    from ... import figures

__all__ = ["Drawn", "Pictures"]

_POINTS, _STRETCHES, _SHOWN, _DAYS = 80, 12, 12, 30
_STALE = 4.0  # seconds before a figure is drawn again

Drawn = list[tuple[str, str, list[str], list[list[str]]]]
"""For each figure: the title, the SVG, and the header and rows of the table with the same numbers."""


class Pictures:
    """A cache of figures. They are redrawn on request if there are new events, at most once every few seconds."""

    def __init__(self) -> None:
        self._kept: dict[str, tuple[int, float, Drawn]] = {}
        self._lock = Lock()

    def of(self, stored: StoredLearner) -> Drawn:
        """Return the figures of a learner; empty if there is nothing to draw yet."""
        with self._lock:
            head, now = stored.head, time.monotonic()
            kept = self._kept.get(stored.name)
            if kept is None or (kept[0] != head and now - kept[1] > _STALE):
                kept = (head, now, _draw(stored))
                self._kept[stored.name] = kept
            return kept[2]


def _draw(stored: StoredLearner) -> Drawn:
    made = [figure for figure in (_error(stored), _bought(stored), _money(stored)) if figure is not None]
    return [(f.title, f.svg, list(f.head), [list(row) for row in f.rows]) for f in made]


def _error(stored: StoredLearner) -> "figures.Figure | None":
    """Draw the typical error so far, beside that of buying nothing."""
    from ... import figures

    n = stored.totals().n_scored
    if n < 2:
        return None
    # The errors of the first, untrained rounds would dominate the scale, so a long curve starts a little later.
    begin = n // 50
    places = [begin + i for i in _places(n - begin, _POINTS)]
    rows = [row for row in stored.query(projections.loss_curve, places) if math.isfinite(row[1])]
    x = np.array([row[0] for row in rows], dtype=np.float64)
    lines = [figures.Curve("typical error so far", np.sqrt([row[1] / row[0] for row in rows]))]
    lines.append(figures.Curve("predicting the mean", np.sqrt([row[2] / row[0] for row in rows])))
    y_name = Units(stored.note.get("unit", "")).named("root mean squared error")
    return figures.curves("Error so far", x, lines, "label", y_name)


def _bought(stored: StoredLearner) -> "figures.Figure | None":
    """Draw how often each attribute was ordered in successive blocks, from a sample of the rounds."""
    from ... import figures

    asked = stored.totals().n_asked
    if asked < 2:
        return None
    stretches = min(_STRETCHES, asked)
    ends = np.linspace(0, asked, stretches + 1)[1:]
    size: Floats = np.zeros(stretches)
    bought: dict[str, Floats] = {}
    for index, names in stored.query(projections.purchased_names, _places(asked, 40 * _STRETCHES)):
        at = min(int(np.searchsorted(ends, index)), stretches - 1)
        size[at] += 1
        for name in names:
            bought.setdefault(name, np.zeros(stretches))[at] += 1
    shown = sorted(bought, key=lambda name: -bought[name].sum())[:_SHOWN]
    if not shown:
        return None
    share = np.array([bought[name] for name in shown]) / np.maximum(size, 1)
    return figures.heat("Ordered over time, share of rounds", ends, shown, share, "round")


def _money(stored: StoredLearner) -> "figures.Figure | None":
    """Draw the money spent per day in the last thirty days."""
    from ... import figures

    today = int(time.time() // 86400)
    spent = stored.query(projections.daily_spending, today - _DAYS + 1)
    if not any(spent.values()):
        return None
    first = min(spent)
    days = [d for d in range(first, today + 1) if d in spent or today - first < 14]
    names = [time.strftime("%b %d", time.gmtime(d * 86400)) for d in days]
    currency = stored.note.get("currency", "")
    x_name = f"ordered for{f', {currency}' if currency else ''}"
    return figures.bars("Money per day (UTC)", names, np.array([spent.get(d, 0.0) for d in days]), x_name)


def _places(n: int, most: int) -> list[int]:
    """Return at most `most` of the numbers 1..n, evenly spaced."""
    return sorted({round(float(x)) for x in np.linspace(1, n, min(n, most))})
