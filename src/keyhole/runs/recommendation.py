"""The recommendation after a run: what to buy, its price, the error it leaves, and the gain from buying more.

The error of a basket of sources is the root of Akaike's final prediction error (`Moments.final_prediction_error`) in
hindsight, from the moments of all rows, which corrects for the number of attributes in the basket.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from .._internal.formatting import Units, join_names, number, share, thousands
from .._internal.typing import Floats
from ..core.sources import SourceCatalog
from ..estimation.moment_regression import Moments

__all__ = ["HOW", "Advice", "Basket", "Baskets", "advise", "rule_of", "total_of"]


class Basket(NamedTuple):
    """A set of sources (by index in the catalog), their price per row, and the error in hindsight."""

    sources: tuple[int, ...]
    price: float
    error: float


@dataclass(frozen=True, eq=False)
class Baskets:
    """The errors of baskets of sources of a catalog; every basket includes the free attributes."""

    moments: Moments
    catalog: SourceCatalog

    def of(self, sources: Sequence[int]) -> Basket:
        """Return the basket of these sources."""
        mse = self.moments.final_prediction_error(self.catalog.attributes(list(sources)))
        return Basket(tuple(sources), float(self.catalog.prices[list(sources)].sum()), float(np.sqrt(mse)))

    def way(self, candidates: Sequence[int], most: int = 12) -> list[Basket]:
        """Forward selection from the empty basket, by gain per price, while the typical error decreases."""
        steps = [self.of(())]
        left = list(candidates)
        while left and len(steps) <= most:
            best = left[int(np.argmax(self._gains(steps[-1].sources, left)))]
            step = self.of((*steps[-1].sources, best))
            if not step.error < steps[-1].error:
                break
            steps.append(step)
            left.remove(best)
        return steps

    def _gains(self, basket: Sequence[int], others: Sequence[int]) -> Floats:
        """Return the gain of each further source, divided by its price plus a twentieth of the mean price."""
        inside, left = self.catalog.attributes(list(basket)), self.moments.mse(self.catalog.attributes(list(basket)))
        gains = np.array([left - self.moments.mse(np.append(inside, self.catalog.members[s])) for s in others])
        prices = self.catalog.prices
        return gains / (prices[list(others)] + 0.05 * max(float(prices.mean()), 1e-300))

    def enough(self, sources: Sequence[int], error_cost: float | None = None, tolerance: float = 0.01) -> Basket:
        """Return the part of a basket that is worth buying.

        With `error_cost` (the cost of one unit of squared error) it is the step of `way` of least total cost; otherwise
        its typical error exceeds that of the whole basket by at most `tolerance`.
        """
        whole = self.of(sources)

        def good(basket: Basket) -> bool:
            return basket.error <= (1 + tolerance) * whole.error

        def cost(basket: Basket) -> float:
            return (error_cost or 0.0) * basket.error**2 + basket.price

        way = self.way(sources, most=len(sources))
        if error_cost is not None:
            return min(way, key=cost)
        short = next((basket for basket in way if good(basket)), whole)
        for s in short.sources:  # a source chosen early may have become redundant
            less = self.of([other for other in short.sources if other != s])
            short = less if good(less) else short
        return short


# The share of the money from which exploration is mentioned.
_NOTABLE = 0.01


class Advice(NamedTuple):
    """The recommendation and the baskets it refers to; None if nothing could be computed in hindsight."""

    headline: str
    """What to buy, in one sentence."""
    catalog: SourceCatalog
    baskets: Baskets | None = None
    buy: Basket | None = None
    bought: Basket | None = None
    """Everything that the learner buys at the end."""
    details: str = ""
    """The other purchases, the effect of buying everything, and the cost of exploration."""

    @property
    def sentence(self) -> str:
        """The headline and the details, for a terminal."""
        return f"{self.headline} {self.details}".strip()


HOW = (
    "The advice starts from the sources that the learner was buying at the end, and recommends {rule}. Its errors are "
    "in hindsight: the weights are fitted to all rows at once, as in the table below."
)


def advise(summary: Mapping[str, Any], catalog: SourceCatalog, moments: Moments | None, priced: bool) -> Advice:
    """Return the advice from the final purchases of a run and, if available, the moments of all its rows."""
    units = Units.of(summary, priced)
    bought_now = [catalog.sources.index(name) for name in summary["basket"]]
    if not summary["labelled"]:
        return Advice("No row had a label: nothing was learnt, and there is nothing to advise.", catalog)
    if moments is None:
        return Advice(_measured(summary, catalog, bought_now, units), catalog)
    baskets = Baskets(moments, catalog)
    buy, bought = baskets.enough(bought_now, summary["error_cost"]), baskets.of(bought_now)
    texts = [_rest(buy, bought, catalog, units, summary["error_cost"] is not None)]
    texts += [_everything(buy, bought, baskets, units), _stop(summary, units), _spent_by(summary, units)]
    headline = _buy(buy, catalog, units, baskets) + _affordable(buy, summary, units)
    return Advice(headline, catalog, baskets, buy, bought, " ".join(filter(None, texts)))


def rule_of(summary: Mapping[str, Any]) -> str:
    """Return the rule by which the part to buy is chosen, in words."""
    error_cost = summary["error_cost"]
    if error_cost is None:
        return "the smallest part of them whose typical error is at most 1 % above that of all"
    cost = Units.of(summary).error_cost(error_cost)
    return f"the part of them with the lowest total cost: its price plus {cost} of error"


def total_of(summary: Mapping[str, Any], units: Units) -> str:
    """Return the total budget of a run in words: "500 EUR for 1 000 rows"; "" if there is none."""
    total = summary.get("total_budget")
    if total is None:
        return ""
    return f"{number(total, 12)} {units.currency}".strip() + f" for {thousands(summary['expected_rows'])} rows"


def _affordable(buy: Basket, summary: Mapping[str, Any], units: Units) -> str:
    """Describe in what share of the rows the total budget pays for a basket, if not in all of them."""
    total = summary.get("total_budget")
    if total is None or buy.price * summary["expected_rows"] <= total:
        return ""
    part = share(total, buy.price * summary["expected_rows"])
    return f" The total budget, {total_of(summary, units)}, pays for this in {part} of the rows."


def _spent_by(summary: Mapping[str, Any], units: Units) -> str:
    """Describe when the total budget was spent: from then on the rest paid for no source that the learner buys.

    A model that continues under a total may have spent a part of it in its earlier rows.
    """
    total, last, before = summary.get("total_budget"), summary.get("last_paid_row", 0), summary.get("spent_before", 0.0)
    if total is None or last == summary["rows"]:
        return ""
    prices = {name: facts["price"] for name, facts in summary["sources"].items() if facts["price"] > 0}
    wanted = [prices[name] for name in summary["basket"] if name in prices] or list(prices.values())
    left = total - before - summary["spent"]
    if left >= min(wanted, default=0.0):
        return ""
    if not last:
        had = f"the total budget had only {units.money(max(left, 0.0))} left"
        return f"The run spent nothing, because {had}, and every source that the learner buys costs more."
    others = thousands(summary["rows"] - last)
    return (
        f"The total budget was spent by row {thousands(last)}; the last {others} rows bought nothing that has a price."
    )


def _buy(buy: Basket, catalog: SourceCatalog, units: Units, baskets: Baskets) -> str:
    names, error = [catalog.sources[s] for s in buy.sources], units.error(buy.error)
    if not names:
        return f"Buy nothing: the typical error is {error} in hindsight, and no source lowers it enough for its price."
    less = units.error(baskets.of(()).error)
    if not units.priced:
        of = f"{len(names)} of {len(catalog.sources)}"
        return f"Buy {join_names(names)} ({of}): typical error {error} in hindsight, {less} without them."
    price = f"{units.money(buy.price)} a row"
    return f"Buy {join_names(names, 5)}: {price}, typical error {error} in hindsight, {less} without them."


def _rest(buy: Basket, bought: Basket, catalog: SourceCatalog, units: Units, weighed: bool) -> str:
    """Describe what else the learner buys and its effect; under an error cost, that it is too expensive."""
    rest = [catalog.sources[s] for s in bought.sources if s not in buy.sources]
    if not rest:
        return ""
    gain = buy.error - bought.error
    lowers = gain > 0 and units.differ(buy.error, bought.error)
    what = f"lowers the error by {units.less(gain)}" if lowers else "does not lower the error"
    extra = bought.price - buy.price
    money = f"{units.money(extra)} a row" if units.priced and extra > 0 else ""
    if weighed:
        worth = f"{what}, which is not worth {money}" if lowers else f"costs {money} and {what}"
        return f"Stop buying {join_names(rest, 4)}: that {worth if money else what}."
    cost = f" for {money}" if lowers else f" and costs {money}"
    return f"What else it buys ({join_names(rest, 4)}) {what}{cost if money else ''}."


def _everything(buy: Basket, bought: Basket, baskets: Baskets, units: Units) -> str:
    every = baskets.of(range(len(baskets.catalog.sources)))
    if len(every.sources) == len(bought.sources) or math.isnan(every.error):
        return ""
    gain = buy.error - every.error
    extra = every.price - buy.price
    more = f" and cost {units.money(extra)} more a row" if units.priced and extra > 0 else ""
    if gain <= 0 or not units.differ(buy.error, every.error):
        return f"In hindsight, buying all {len(every.sources)} sources would not lower the error{more}."
    return f"In hindsight, buying all {len(every.sources)} sources would lower the error by {units.less(gain)}{more}."


def _stop(summary: Mapping[str, Any], units: Units) -> str:
    """Describe the sources that were explored without being used, if they took a notable share of the money."""
    idle = {n: f["spent"] for n, f in summary["sources"].items() if n not in summary["basket"] and f["spent"] > 0}
    spent = summary["spent"]
    if not units.priced or not spent or sum(idle.values()) < _NOTABLE * spent:
        return ""
    names = [f"{len(idle)} other sources"] if len(idle) > 4 else list(idle)
    use = "use none of them" if len(idle) > 1 else "do not use it"
    part = share(sum(idle.values()), spent)
    text = f"Exploring {join_names(names)} took {part} of the money so far; the predictions {use}."
    still = summary.get("still_explored")
    return f"{text} The learner still explores {join_names(still, 4)}." if still else text


def _measured(summary: Mapping[str, Any], catalog: SourceCatalog, support: Sequence[int], units: Units) -> str:
    """Return the recommendation without hindsight (too many attributes): what the run itself measured."""
    names, error = [catalog.sources[s] for s in support], units.error(float(summary["mse_last_tenth"]) ** 0.5)
    price = f": {units.money(float(catalog.prices[list(support)].sum()))} a row" if units.priced else ""
    return f"Buy {join_names(names) or 'nothing'}{price}; the typical error was {error} in the last tenth of the rows."
