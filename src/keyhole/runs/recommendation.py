"""What to do, in a sentence: what to buy, what it costs, what error it leaves, and what more would bring."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from .._internal.formatting import Units, listed, share
from ..core.sources import SourceCatalog
from ..estimation.moment_regression import Moments
from .basket_losses import Basket, Baskets

__all__ = ["HOW", "Advice", "advise", "rule_of"]

# From this share of the money on, exploration is mentioned.
_NOTABLE = 0.01


class Advice(NamedTuple):
    """What to do, and the baskets it speaks of; None where nothing could be computed in hindsight."""

    headline: str
    """What to buy: one sentence."""
    catalog: SourceCatalog
    baskets: Baskets | None = None
    buy: Basket | None = None
    bought: Basket | None = None
    """All that the learner buys at the end."""
    details: str = ""
    """What else it buys, what everything would bring, and what exploration cost."""

    @property
    def sentence(self) -> str:
        """Both, for a terminal."""
        return f"{self.headline} {self.details}".strip()


HOW = (
    "The errors in this advice are in hindsight, as in the table below. Of what the learner buys at the end, the part "
    "is advised that {rule}."
)


def advise(summary: Mapping[str, Any], catalog: SourceCatalog, moments: Moments | None, priced: bool) -> Advice:
    """From what a run buys at its end, and the moments of all its rows where there are any."""
    units = Units.of(summary, priced)
    bought_now = [catalog.sources.index(name) for name in summary["basket"]]
    if not summary["labelled"]:
        return Advice("No row had a label: nothing was learnt, and there is nothing to advise.", catalog)
    if moments is None:
        return Advice(_measured(summary, catalog, bought_now, units), catalog)
    baskets = Baskets(moments, catalog)
    buy, bought = baskets.enough(bought_now, summary["error_cost"]), baskets.of(bought_now)
    texts = [_rest(buy, bought, catalog, units, summary["error_cost"] is not None)]
    texts += [_everything(buy, bought, baskets, units), _stop(summary, units)]
    return Advice(_buy(buy, catalog, units, baskets), catalog, baskets, buy, bought, " ".join(filter(None, texts)))


def rule_of(summary: Mapping[str, Any]) -> str:
    """How the part to buy is chosen, in words."""
    error_cost = summary["error_cost"]
    if error_cost is None:
        return "leaves at most 1 % more typical error than all of it"
    return f"costs least at an error cost of {Units.of(summary).error_cost(error_cost)}"


def _buy(buy: Basket, catalog: SourceCatalog, units: Units, baskets: Baskets) -> str:
    names, error = [catalog.sources[s] for s in buy.sources], units.error(buy.error)
    if not names:
        return f"Buy nothing: the typical error is {error} in hindsight, and no source lowers it enough for its price."
    less = units.error(baskets.of(()).error)
    if not units.priced:
        of = f"{len(names)} of {len(catalog.sources)}"
        return f"Buy {listed(names)} ({of}): typical error {error} in hindsight, {less} without them."
    price = f"{units.money(buy.price)} a row"
    return f"Buy {listed(names, 5)}: {price}, typical error {error} in hindsight, {less} without them."


def _rest(buy: Basket, bought: Basket, catalog: SourceCatalog, units: Units, weighed: bool) -> str:
    """What else the learner buys, and what it brings; at an error cost it is too dear for that."""
    rest = [catalog.sources[s] for s in bought.sources if s not in buy.sources]
    if not rest:
        return ""
    gain = buy.error - bought.error
    what = f"lowers the error by {units.less(gain)}" if gain > 0 else "does not lower the error"
    cost = f" for {units.money(bought.price - buy.price)} a row" if units.priced else ""
    if weighed:
        money = f"{units.money(bought.price - buy.price)} a row"
        worth = f"that {what}, which is not worth {money}" if gain > 0 else f"that costs {money} and {what}"
        return f"Stop buying {listed(rest, 4)}: {worth}."
    return f"What else it buys ({listed(rest, 4)}) {what}{cost}."


def _everything(buy: Basket, bought: Basket, baskets: Baskets, units: Units) -> str:
    every = baskets.of(range(len(baskets.catalog.sources)))
    if len(every.sources) == len(bought.sources) or math.isnan(every.error):
        return ""
    gain = buy.error - every.error
    more = f" and cost {units.money(every.price - buy.price)} more a row" if units.priced else ""
    if gain <= 0:
        return f"Buying all {len(every.sources)} sources would not lower the error{more}."
    return f"Buying all {len(every.sources)} sources would lower the error by {units.less(gain)}{more}."


def _stop(summary: Mapping[str, Any], units: Units) -> str:
    """What was explored and is not bought now, where that took a notable part of the money."""
    idle = {n: f["spent"] for n, f in summary["sources"].items() if n not in summary["basket"] and f["spent"] > 0}
    spent = summary["spent"]
    if not units.priced or not spent or sum(idle.values()) < _NOTABLE * spent:
        return ""
    names = [f"{len(idle)} other sources"] if len(idle) > 4 else list(idle)
    now = "none of them is" if len(idle) > 1 else "it is not"
    part = share(sum(idle.values()), spent)
    return f"Exploring {listed(names)} took {part} of the money so far; {now} bought now."


def _measured(summary: Mapping[str, Any], catalog: SourceCatalog, support: Sequence[int], units: Units) -> str:
    """Where there are too many attributes for hindsight: what the run itself measured."""
    names, error = [catalog.sources[s] for s in support], units.error(float(summary["mse_last_tenth"]) ** 0.5)
    price = f": {units.money(float(catalog.prices[list(support)].sum()))} a row" if units.priced else ""
    return f"Buy {listed(names) or 'nothing'}{price}; the typical error was {error} in the last tenth of the rows."
