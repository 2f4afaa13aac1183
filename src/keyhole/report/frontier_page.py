"""The report of a frontier: the error for each amount of money, as one sentence, a figure, and tables."""

from collections.abc import Sequence
from dataclasses import replace
from math import sqrt

from .._internal.atomic_io import write_atomically
from .._internal.formatting import Units, digits, join_names, number, thousands
from .._internal.output_folder import Folder
from ..experiments.frontier_result import KNEE, Frontier, Level, Point, named
from ..figures import Figure, Stop, frontier, standalone
from ..simulation import first_row_note
from .page import Page, Section, Table, how_to_repeat, probability_cells, probability_section, publish

__all__ = ["frontier_cells", "frontier_notes", "hindsight_stops", "write_frontier"]

_HOW = (
    "A basket is the support that most seeds of thrifty ended with, without sources that add no more than chance; its "
    "price is the sum of its sources' prices. Its error in hindsight is computed as on the page of a run: the root of "
    "Akaike's final prediction error of least squares on all rows. The best basket costs no more; it is proved best "
    "where no other of that price leaves a smaller squared error on these rows. What was paid and the error while "
    "learning are means over whole runs, exploration included."
)
# The maximum number of characters beside a dot of the figure.
_SHORT = 28
_FIGURE_NOTE = (
    "The line joins baskets that are best at some error cost, in hindsight. A black diamond shows what thrifty paid, "
    "and how well it predicted, in runs at one error cost, exploration included. The advised basket is coloured."
)


def write_frontier(folder: Folder, found: Frontier, command: str) -> None:
    """Write report.html and figures/ of a frontier."""
    drawn = _figure(found)
    write_atomically(folder.file("figures/frontier.svg"), standalone(drawn.svg).encode())
    head, rows = frontier_cells(found)
    levels = Table(head, rows, found.stop, words=(len(head) - 1,))
    notes = [*frontier_notes(found), _HOW]
    sections = [
        Section("What each amount of money buys", table=levels, figures=[drawn], notes=notes),
        *probability_section(found.levels[found.stop].probabilities, "Probabilities at the advised level"),
        Section("The best baskets in hindsight", table=_baskets(found)),
        how_to_repeat(command),
    ]
    title = f"What money buys: {found.target} in {found.stream}"
    lead = [f"{thousands(found.rows)} rows, {found.seeds} seeds, {len(found.sources)} sources.", first_row_note()]
    lead = lead if found.first_row == "left out" else lead[:1]
    publish(folder, Page(title, found.headline, sections, lead=lead, details=found.details))


def _figure(found: Frontier) -> Figure:
    units, advised = Units(found.unit, found.currency), found.levels[found.stop]
    # The advised basket may be one of the best baskets: then its dot is labelled only once.
    bought = [b.sources for b in advised.equals]
    pairs = zip(hindsight_stops(found), found.hindsight, strict=True)
    way = [stop._replace(word="") if point.sources in bought else stop for stop, point in pairs]
    levels = [
        Stop(level.price, level.typical_error, f"error cost {number(level.error_cost)}", i == found.stop)
        for i, level in enumerate(found.levels)
    ]
    buy = [
        Stop(b.price, b.typical_error, f"advised: {join_names(b.sources, 3) or 'nothing'}", True)
        for b in advised.equals
    ]
    names = units.named("price a row", money=True), units.named("typical error")
    drawn = frontier("What money buys", way, [*buy, *levels], *names, "best in hindsight")
    return replace(drawn, note=_FIGURE_NOTE)


def hindsight_stops(found: Frontier) -> list[Stop]:
    """Return the best baskets in hindsight as dots, labelled by what they add to the previous one, or by sources."""
    stops: list[Stop] = []
    before: tuple[str, ...] = ()
    for point in found.hindsight:
        more = [name for name in point.sources if name not in before]
        grows = bool(before) and set(before) <= set(point.sources)
        word = f"+ {_short(more)}" if grows else _short(point.sources) or "nothing"
        stops.append(Stop(point.price, point.typical_error, join_names(point.sources, 20) or "nothing", word=word))
        before = point.sources
    return stops


def _short(names: Sequence[str]) -> str:
    """Return two names if they are short, otherwise one, and the number of further ones."""
    two = join_names(names, 2)
    return two if len(two) <= _SHORT else join_names(names, 1)


def _baskets(found: Frontier) -> Table:
    rows = [
        [
            f"{p.price:.2f}",
            digits(p.typical_error, 4),
            _proof(p),
            join_names(p.sources, 20) or "nothing",
        ]
        for p in found.hindsight
    ]
    units = Units(found.unit, found.currency)
    head = [units.named("costs a row", money=True), units.named("typical error"), "proved best", "basket"]
    return Table(head, rows, words=(3,))


def _proof(point: Point) -> str:
    """Return whether a basket is proved optimal, or else how much smaller the error of another could be, if known."""
    if point.optimal:
        return "yes"
    gain = sqrt(point.mse) - sqrt(max(point.mse - point.gap, 0.0))
    return f"no: at most {digits(gain, 2)} less" if gain > 0 else "no"


def frontier_cells(found: Frontier) -> tuple[list[str], list[list[str]]]:
    """Return head and rows of the table of levels, the cheapest basket first."""
    names = ["a row costs", "error in hindsight", "best at that price", "error cost"]
    names += ["paid while learning", "error while learning"]
    error = Units(found.unit).error_unit
    units = [found.currency, error, error, found.currency, found.currency, error]
    head = [f"{name} ({unit})" if unit else name for name, unit in zip(names, units, strict=True)]
    head += ["AUC", "Brier score", "log loss"] if any(level.probabilities for level in found.levels) else []
    return [*head, "basket"], [_cells(level) for level in found.levels]


def _cells(level: Level) -> list[str]:
    best = digits(level.best.typical_error, 4) + ("" if level.best.optimal else "*")
    prices = list(dict.fromkeys(f"{b.price:.2f}" for b in level.equals))
    errors = list(dict.fromkeys(digits(b.typical_error, 4) for b in level.equals))
    learning = [f"{level.price:.2f}", digits(level.typical_error, 4)]
    learning += [] if level.probabilities is None else probability_cells(level.probabilities)
    return [" or ".join(prices), " or ".join(errors), best, number(level.error_cost), *learning, named(level, 6)]


def frontier_notes(found: Frontier) -> list[str]:
    """Return the rule of the advice, and notes on unproved baskets, errors below hindsight, and omitted levels."""
    units = Units(found.unit, found.currency)
    unproved = "* Not proved: a better basket may exist at this price."
    lower = (
        "While learning, a run also buys what it explores, so its error can be below that of the final basket in "
        "hindsight."
    )
    omitted = [
        f"Not shown: error cost {number(level.error_cost)}. There thrifty ended with {named(level, 6)} "
        f"({units.money(level.basket.price)} a row, error {units.error(level.basket.typical_error)}), which costs more "
        "than another basket and does not lower the error."
        for level in found.left_out
    ]
    return [
        KNEE,
        *([unproved] if any(not level.best.optimal for level in found.levels) else []),
        *([lower] if any(level.mse < level.basket.mse for level in found.levels) else []),
        *omitted,
    ]
