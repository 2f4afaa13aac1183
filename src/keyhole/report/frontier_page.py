"""The report of a frontier: what each amount of money buys, as a table, a figure, and one sentence."""

import numpy as np

from .. import __version__
from ..figures import scatter, standalone
from ..files import write_atomically
from ..outputs import Folder
from ..study.frontiers import Frontier, Level
from . import html

__all__ = ["frontier_cells", "write_frontier"]

_HOW = (
    "Every look is included in what a row costs, the first row is left out. The best basket in hindsight costs no more "
    "and is fitted to all rows at once by least squares; where it is not proved to be the best, what another could "
    "gain at most stands beside it. The typical error is the root of the mean squared error."
)


def write_frontier(folder: Folder, found: Frontier, command: str) -> None:
    """Write report.html and figures/ of a frontier."""
    levels = found.levels
    x, y = np.array([level.price for level in levels]), np.array([level.typical_error for level in levels])
    names = [_listed(level.basket, 2) for level in levels]
    drawn = scatter("what money buys", x, y, _money(found), _error(found), names, joined=True)
    write_atomically(folder.file("figures/frontier.svg"), standalone(drawn.svg).encode())
    head, rows = frontier_cells(found)
    points = [
        [f"{p.price:.4g}", f"{p.typical_error:.4g}", "yes" if p.optimal else f"gap {p.gap:.2g}", _listed(p.sources, 20)]
        for p in found.hindsight
    ]
    columns = ["costs a row", "typical error", "proved", "basket"]
    body = [
        html.figures([html.figure("What money buys", drawn.svg, html.table(drawn.head, drawn.rows))]),
        html.section("Levels of worth", html.table(head, rows, own=found.stop), f"<p>{_HOW}</p>"),
        html.section("The best baskets in hindsight", html.table(columns, points)),
        html.section("How to reproduce it", html.code(f"pip install keyhole=={__version__}\n{command}")),
    ]
    title = f"What money buys: {found.target} in {found.stream}"
    page = html.page(title, found.sentence[:1].upper() + found.sentence[1:] + ".", body)
    write_atomically(folder.file("report.html"), page.encode())


def frontier_cells(found: Frontier) -> tuple[list[str], list[list[str]]]:
    """Head and lines of the table of levels, the cheapest first."""
    head = [_money(found), _error(found), "best basket in hindsight", "worth", "bought"]
    return head, [_cells(level) for level in found.levels]


def _cells(level: Level) -> list[str]:
    best = f"{level.best.typical_error:.4g}" + ("" if level.best.optimal else " or less")
    return [f"{level.price:.3g}", f"{level.typical_error:.4g}", best, f"{level.worth:.3g}", _listed(level.basket, 6)]


def _money(found: Frontier) -> str:
    return f"a row costs ({found.currency})" if found.currency else "a row costs"


def _error(found: Frontier) -> str:
    return f"typical error ({found.unit})" if found.unit else "typical error"


def _listed(names: tuple[str, ...], most: int) -> str:
    """Some names, and how many more there are."""
    return (", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")) or "-"
