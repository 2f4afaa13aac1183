"""The results of the paper (Li, Liao, Xu and Nie, COLT 2025) as numbers: constants, conditions, and regret bounds."""

from .bounds import Bound, bound, bounds_beside
from .comparators import BestBasket, BestSparse, best_basket, best_sparse
from .compatibility import Compatibility, compatibility
from .conditions import Conditions, conditions, conditions_of
from .constants import Constants, OracleTrace, oracle_gamma, oracle_trace
from .regret_bounds import RegretTerms

__all__ = [
    "BestBasket",
    "BestSparse",
    "Bound",
    "Compatibility",
    "Conditions",
    "Constants",
    "OracleTrace",
    "RegretTerms",
    "best_basket",
    "best_sparse",
    "bound",
    "bounds_beside",
    "compatibility",
    "conditions",
    "conditions_of",
    "oracle_gamma",
    "oracle_trace",
]
