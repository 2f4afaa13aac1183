"""What the paper proves, as numbers: its constants, its thresholds, and the terms of its regret bounds."""

from .bounds import RegretTerms
from .comparators import BestSparse, best_sparse
from .compatibility import Compatibility, compatibility
from .constants import Constants

__all__ = ["BestSparse", "Compatibility", "Constants", "RegretTerms", "best_sparse", "compatibility"]
