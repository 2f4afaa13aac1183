"""Play a learner on a stream: rows in, rounds and history out."""

from .block import Progress, RowBlock
from .history import History
from .play import play
from .scoring import FIRST_ROW, scored, with_center

__all__ = ["FIRST_ROW", "History", "Progress", "RowBlock", "play", "scored", "with_center"]
