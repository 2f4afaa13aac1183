"""What came out, for a person: one page that works offline, on a phone and on paper."""

from .comparison_page import SORTS, comparison_cells, write_comparison
from .frontier_page import frontier_cells, write_frontier
from .run_page import headline, most_bought, write_report

__all__ = [
    "SORTS",
    "comparison_cells",
    "frontier_cells",
    "headline",
    "most_bought",
    "write_comparison",
    "write_frontier",
    "write_report",
]
