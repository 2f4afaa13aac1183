"""The budget keeper: stream -> rounds -> history."""

from .history import History
from .page import Page, Progress
from .playing import play

__all__ = ["History", "Page", "Progress", "play"]
