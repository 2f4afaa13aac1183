"""The report of a frontier: what each amount of money buys, as one sentence, a figure, and tables."""

from .._internal.atomic_io import write_atomically
from .._internal.formatting import Units, listed
from .._internal.output_folder import Folder
from ..experiments.frontiers import Frontier, Level
from ..figures import Figure, Stop, frontier, standalone
from .page import Page, Section, Table, how_to_repeat, publish

__all__ = ["frontier_cells", "write_frontier"]

_HOW = (
    "Every look is included in what a row costs, the first row is left out. The best basket in hindsight costs no more "
    "and is fitted to all rows at once by least squares; where it is not proved to be the best, what another could "
    "gain at most stands beside it. The typical error is the root of the mean squared error."
)


def write_frontier(folder: Folder, found: Frontier, command: str) -> None:
    """Write report.html and figures/ of a frontier."""
    drawn = _figure(found)
    write_atomically(folder.file("figures/frontier.svg"), standalone(drawn.svg).encode())
    head, rows = frontier_cells(found)
    levels = Table(head, rows, found.stop, words=(4,))
    sections = [
        Section("Levels of worth", table=levels, figures=[drawn], notes=[_HOW], beside=True),
        Section("The best baskets in hindsight", table=_baskets(found)),
        how_to_repeat(command),
    ]
    units, stop = Units(found.unit, found.currency), found.levels[found.stop]
    advice = f"Buy {listed(stop.basket) or 'nothing'}: {units.money(stop.price)} a row with every look, typical error "
    sentence = f"{advice}{units.error(stop.typical_error)}. {found.sentence[:1].upper()}{found.sentence[1:]}."
    title = f"What money buys: {found.target} in {found.stream}"
    lead = [f"{found.rows} rows, {found.seeds} seeds, {len(found.sources)} sources."]
    publish(folder, Page(title, sentence, sections, lead=lead))


def _figure(found: Frontier) -> Figure:
    units = Units(found.unit, found.currency)
    way = [Stop(p.price, p.typical_error, listed(p.sources, 20) or "nothing") for p in found.hindsight]
    levels = [
        Stop(level.price, level.typical_error, f"worth {level.worth:.3g}", i == found.stop, _word(i, found))
        for i, level in enumerate(found.levels)
    ]
    names = units.named("price a row", money=True), units.named("typical error")
    return frontier("What money buys", way, levels, *names, "best in hindsight")


def _word(i: int, found: Frontier) -> str:
    """Only the ends and the stop are written out; the others say it when a pointer rests on them."""
    return f"worth {found.levels[i].worth:.3g}" if i in (0, found.stop, len(found.levels) - 1) else ""


def _baskets(found: Frontier) -> Table:
    rows = [
        [f"{p.price:.4g}", f"{p.typical_error:.4g}", "yes" if p.optimal else f"gap {p.gap:.2g}", listed(p.sources, 20)]
        for p in found.hindsight
    ]
    return Table(["costs a row", "typical error", "proved", "basket"], rows, words=(3,))


def frontier_cells(found: Frontier) -> tuple[list[str], list[list[str]]]:
    """Head and lines of the table of levels, the cheapest first."""
    money = f"a row costs ({found.currency})" if found.currency else "a row costs"
    error = f"typical error ({found.unit})" if found.unit else "typical error"
    head = [money, error, "best basket in hindsight", "worth", "bought"]
    return head, [_cells(level) for level in found.levels]


def _cells(level: Level) -> list[str]:
    best = f"{level.best.typical_error:.4g}" + ("" if level.best.optimal else " or less")
    basket = listed(level.basket, 6) or "-"
    return [f"{level.price:.3g}", f"{level.typical_error:.4g}", best, f"{level.worth:.3g}", basket]
