"""The budget keeper: stream -> rounds -> history."""

from .block import Page, Progress
from .history import History
from .play import play

__all__ = ["History", "Page", "Progress", "play"]
