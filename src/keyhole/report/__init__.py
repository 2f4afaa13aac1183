"""Reports: one HTML page each, which works offline, on a phone and on paper.

Page, Section, Table, Tile, publish      any page: advice first, then numbers, tables and figures
write_report                             the report of a run
write_plan                               the report of a plan
write_comparison, write_frontier,        the reports of many runs
write_study
"""

from .comparison_page import SORTS, comparison_cells, comparison_headline, write_comparison
from .frontier_page import frontier_cells, frontier_notes, write_frontier
from .page import Page, Section, Table, Tile, publish
from .plan_page import plan_cells, write_plan
from .run_page import headline, most_bought, random_sizes, write_report
from .study_page import write_study

__all__ = [
    "SORTS",
    "Page",
    "Section",
    "Table",
    "Tile",
    "comparison_cells",
    "comparison_headline",
    "frontier_cells",
    "frontier_notes",
    "headline",
    "most_bought",
    "plan_cells",
    "publish",
    "random_sizes",
    "write_comparison",
    "write_frontier",
    "write_plan",
    "write_report",
    "write_study",
]
