"""The budget keeper: stream -> rounds -> history."""

from .block import Page, Progress
from .history import History
from .play import play
from .purchase_counts import bought_now
from .scoring import FIRST_ROW, scored, with_center

__all__ = ["FIRST_ROW", "History", "Page", "Progress", "bought_now", "play", "scored", "with_center"]
