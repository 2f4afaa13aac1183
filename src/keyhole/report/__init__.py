"""What came out, for a person: one page that works offline, on a phone and on paper."""

from .comparison_page import SORTS, comparison_cells, write_comparison
from .run_page import headline, most_bought, write_report

__all__ = ["SORTS", "comparison_cells", "headline", "most_bought", "write_comparison", "write_report"]
