"""The budget keeper: stream -> rounds -> history."""

from .block import Page, Progress
from .history import History
from .play import play
from .scoring import FIRST_ROW, scored, with_center

__all__ = ["FIRST_ROW", "History", "Page", "Progress", "play", "scored", "with_center"]
