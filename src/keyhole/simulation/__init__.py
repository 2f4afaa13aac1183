"""Play a learner on a stream and record the history."""

from .history import History, bought_now
from .play import Progress, play, play_rows
from .scoring import first_row_note, scored, with_center

__all__ = ["History", "Progress", "bought_now", "first_row_note", "play", "play_rows", "scored", "with_center"]
