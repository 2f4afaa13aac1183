"""What the paper proves, as numbers: its constants, its thresholds, and the terms of its regret bounds."""

from .bounds import RegretTerms
from .constants import Constants

__all__ = ["Constants", "RegretTerms"]
