"""Play a learner on a stream and record the history."""

from .block import Progress, RowBlock
from .history import History, bought_now
from .play import play
from .scoring import FIRST_ROW, scored, with_center

__all__ = ["FIRST_ROW", "History", "Progress", "RowBlock", "bought_now", "play", "scored", "with_center"]
