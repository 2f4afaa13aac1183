"""The report of a plan: the recommendation as one sentence, an order sheet, a figure, and the frontier as a table."""

from dataclasses import replace

from .._internal.atomic_io import write_atomically
from .._internal.formatting import Units, digits, join_names, thousands
from .._internal.output_folder import Folder
from ..experiments import Plan, PlannedBasket
from ..figures import Figure, Stop, frontier, standalone
from .page import Page, Section, Table, how_to_repeat, probability_cells, probability_section, publish

__all__ = ["plan_cells", "write_plan"]

_HOW = (
    "The best basket of each price was searched on all rows; where it is not proved to be the best, the table says by "
    "how much less squared error another could leave at most. Errors are cross-validated: in each fold the basket was "
    "searched and fitted again without the rows it is judged by. A typical error is the root of the mean squared error."
)


def write_plan(folder: Folder, found: Plan, command: str) -> None:
    """Write report.html and figures/ of a plan."""
    drawn = _figure(found)
    write_atomically(folder.file("figures/frontier.svg"), standalone(drawn.svg).encode())
    head, rows = plan_cells(found)
    sections = [
        Section("Order sheet", table=_order_sheet(found), notes=[found.model_note] if found.model_note else []),
        Section(
            "What each amount of money buys",
            table=Table(head, rows, found.recommended, words=(len(head) - 1,)),
            figures=[drawn],
            notes=[found.rule, _HOW],
        ),
        *probability_section(found.basket.probabilities, "Probabilities of the basket to order"),
        how_to_repeat(command),
    ]
    lead = [
        f"{thousands(found.rows)} rows with a label; errors by {found.folds}-fold cross-validation.",
        *([f"Free: {join_names(found.free, 20)}."] if found.free else []),
    ]
    sentence = f"{found.sentence[0].upper()}{found.sentence[1:]}."
    publish(folder, Page(f"What to order: {found.target} in {found.table}", sentence, sections, lead=lead))


def _order_sheet(found: Plan) -> Table:
    head = [_price_name(found), f"without it the typical error rises by{_error_unit(found)}"]
    rows = [[c.source, _amount(c.price, found.priced), digits(c.adds)] for c in found.contributions]
    return Table(["source", *head], rows or [["nothing", _amount(0.0, found.priced), "0"]], words=(0,))


def _error_unit(found: Plan) -> str:
    return f" ({Units(found.unit).error_unit})" if found.unit else ""


def _price_name(found: Plan) -> str:
    if not found.priced:
        return "attributes"
    return f"price ({found.currency})" if found.currency else "price"


def plan_cells(found: Plan) -> tuple[list[str], list[list[str]]]:
    """Return head and rows of the frontier table, the cheapest basket first."""
    error = f"typical error{_error_unit(found)}"
    money = _price_name(found).replace("price", "a row costs")
    scored = found.everything.probabilities is not None
    errors = ["AUC", "Brier score", "log loss"] if scored else [error]
    return [money, *errors, "proved best", "basket"], [_cells(basket, found.priced) for basket in found.baskets]


def _amount(price: float, priced: bool) -> str:
    """Format a price; without prices it is the number of attributes."""
    return Units().money(price) if priced else f"{price:.0f}"


def _cells(basket: PlannedBasket, priced: bool) -> list[str]:
    scores = basket.probabilities
    proved = "yes" if basket.optimal else f"gap {basket.gap:.2g}"
    return [
        _amount(basket.price, priced),
        *([digits(basket.typical_error, 4)] if scores is None else probability_cells(scores)),
        proved,
        join_names(basket.sources, 20) or "nothing",
    ]


def _figure(found: Plan) -> Figure:
    units = Units(found.unit, found.currency)
    way = [
        Stop(b.price, b.typical_error, join_names(b.sources, 20) or "nothing", word="")
        for i, b in enumerate(found.baskets)
        if i != found.recommended
    ]
    here = found.basket
    stops = [*way, Stop(here.price, here.typical_error, join_names(here.sources, 20) or "nothing", word="")]
    stops.sort(key=lambda stop: stop.price)
    beside = [Stop(here.price, here.typical_error, f"order: {join_names(here.sources, 3) or 'nothing'}", True)]
    if found.everything.sources != here.sources:
        everything = found.everything
        beside.append(Stop(everything.price, everything.typical_error, "everything"))
    x_name = units.named("price a row", money=True) if found.priced else "attributes bought a row"
    drawn = frontier("What money buys", stops, beside, x_name, units.named("typical error"), "best basket")
    return replace(drawn, note="Typical errors are cross-validated. The basket to order is set apart in colour.")
