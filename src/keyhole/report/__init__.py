"""What came out, for a person: one page that works offline, on a phone and on paper."""

from .of_comparison import comparison_cells, write_comparison
from .of_run import headline, most_bought, write_report

__all__ = ["comparison_cells", "headline", "most_bought", "write_comparison", "write_report"]
