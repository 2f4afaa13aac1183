"""What to do, in a sentence: what to buy, what it costs, what error it leaves, and what more would bring."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from .._internal.formatting import Units, listed, share
from ..core.sources import SourceCatalog
from ..estimation.moment_regression import Moments
from .basket_losses import Basket, Baskets

__all__ = ["HOW", "Advice", "advise", "rule_of"]

# From this share of the money on, a look is worth a word.
_NOTABLE = 0.01


class Advice(NamedTuple):
    """The sentence, and the baskets it speaks of; None where nothing could be computed in hindsight."""

    sentence: str
    catalog: SourceCatalog
    baskets: Baskets | None = None
    buy: Basket | None = None
    bought: Basket | None = None
    """All that the learner buys at the end."""


HOW = (
    "The errors in this sentence are those of least squares on these attributes, fitted to all rows in hindsight and "
    "corrected for the number of weights (Akaike's final prediction error); the typical error is the root of the mean "
    "squared error. Of what the learner buys at the end, the part is advised that {rule}."
)


def advise(summary: Mapping[str, Any], catalog: SourceCatalog, moments: Moments | None, priced: bool) -> Advice:
    """From the support at the end of a run, and the moments of all its rows where there are any."""
    units = Units.of(summary, priced)
    place = {name: int(catalog.of[i]) for i, name in enumerate(catalog.names)}
    support = sorted({place[name] for name in summary["support"]} - {-1})
    if not summary["labelled"]:
        return Advice("No row had a label: nothing was learnt, and there is nothing to advise.", catalog)
    if moments is None:
        return Advice(_measured(summary, catalog, support, units), catalog)
    baskets = Baskets(moments, catalog)
    buy, bought = baskets.enough(support, summary["error_cost"]), baskets.of(support)
    texts = [_buy(buy, catalog, units, baskets), _rest(buy, bought, catalog, units, summary["error_cost"] is not None)]
    texts += [_everything(buy, bought, baskets, units), _stop(summary, units)]
    return Advice(" ".join(filter(None, texts)), catalog, baskets, buy, bought)


def rule_of(summary: Mapping[str, Any]) -> str:
    """How the part to buy is chosen, in words."""
    error_cost = summary["error_cost"]
    if error_cost is None:
        return "leaves at most 1 % more typical error than all of it"
    return f"costs least where a unit of squared error is worth {error_cost:g}"


def _buy(buy: Basket, catalog: SourceCatalog, units: Units, baskets: Baskets) -> str:
    names, error = [catalog.sources[s] for s in buy.sources], units.error(buy.error)
    if not names:
        return f"Buy nothing: the typical error is {error}, and nothing that was tried lowers it by what it costs."
    less = units.error(baskets.of(()).error)
    if not units.priced:
        of = f"{len(names)} of {len(catalog.sources)}"
        return f"Buy {listed(names)} ({of}): typical error {error}, instead of {less} without them."
    return f"Buy {listed(names)}: {units.money(buy.price)} a row, typical error {error} instead of {less}."


def _rest(buy: Basket, bought: Basket, catalog: SourceCatalog, units: Units, weighed: bool) -> str:
    """What else the learner buys, and what it brings; where a worth weighs it, it is too dear for that."""
    rest = [catalog.sources[s] for s in bought.sources if s not in buy.sources]
    if not rest:
        return ""
    gain = buy.error - bought.error
    what = f"lowers it by {units.less(gain)}" if gain > 0 else "does not lower it"
    cost = f" for {units.money(bought.price - buy.price)} a row" if units.priced else ""
    if weighed:
        return f"Stop buying {listed(rest, 4)}: that {what}{cost}."
    return f"What else it buys ({listed(rest, 4)}) {what}{cost}."


def _everything(buy: Basket, bought: Basket, baskets: Baskets, units: Units) -> str:
    every = baskets.of(range(len(baskets.catalog.sources)))
    if len(every.sources) == len(bought.sources) or math.isnan(every.error):
        return ""
    gain = buy.error - every.error
    more = f" and cost {units.money(every.price - buy.price)} more a row" if units.priced else ""
    if gain <= 0:
        return f"Buying all {len(every.sources)} would not lower it{more}."
    return f"Buying all {len(every.sources)} would lower it by {units.less(gain)}{more}."


def _stop(summary: Mapping[str, Any], units: Units) -> str:
    """What was looked at and is not bought now, where that took a notable part of the money."""
    idle = {n: f["spent"] for n, f in summary["sources"].items() if not f["in_support"] and f["spent"] > 0}
    spent = summary["spent"]
    if not units.priced or not spent or sum(idle.values()) < _NOTABLE * spent:
        return ""
    names = [f"{len(idle)} others"] if len(idle) > 4 else list(idle)
    return f"Looking at {listed(names)} took {share(sum(idle.values()), spent)} of the money; none of it is bought now."


def _measured(summary: Mapping[str, Any], catalog: SourceCatalog, support: Sequence[int], units: Units) -> str:
    """Where there are too many attributes for hindsight: what the run itself measured."""
    names, error = [catalog.sources[s] for s in support], units.error(float(summary["mse_last_tenth"]) ** 0.5)
    price = f": {units.money(float(catalog.prices[list(support)].sum()))} a row" if units.priced else ""
    return f"Buy {listed(names) or 'nothing'}{price}; the typical error was {error} in the last tenth of the rows."
