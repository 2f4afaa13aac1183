"""The budget keeper: stream -> rounds -> history."""

from .history import History
from .playing import play

__all__ = ["History", "play"]
