"""Play a learner on a stream and record the history."""

from .history import History, bought_now
from .play import Progress, play, play_rows
from .scoring import FIRST_ROW, scored, with_center

__all__ = ["FIRST_ROW", "History", "Progress", "bought_now", "play", "play_rows", "scored", "with_center"]
