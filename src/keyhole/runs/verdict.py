"""What a run says about money: what each source adds and costs, what to buy, and what to stop buying."""

from collections.abc import Mapping
from dataclasses import asdict
from math import isfinite, sqrt
from typing import Any

import numpy as np

from ..protocol import Learner, Plain
from .totals import Totals

__all__ = ["sources_of", "verdict"]

# A source is worth a word from this share of the money on.
_NOTABLE = 0.005
_KEPT = ("adds", "adds_money", "fair_price", "probability", "reason")


def sources_of(totals: Totals, learner: Learner) -> dict[str, Plain]:
    """What became of each source, the dearest in all first: money, and what the learner says of it."""
    market, support = totals.market, set(learner.support.tolist())
    explain = getattr(learner, "explain", None)
    said: Mapping[str, dict[str, Plain]] = {e.name: _plain(asdict(e)) for e in explain()} if explain else {}
    facts: dict[str, Plain] = {}
    spent = np.array([totals.bought[m[0]] * p for m, p in zip(market.members, market.prices, strict=True)])
    for s in np.argsort(-spent, kind="stable"):
        name, brings = market.sources[s], market.members[s]
        facts[name] = {
            "attributes": [market.names[j] for j in brings],
            "bought": int(totals.bought[brings[0]]),
            "price": float(market.prices[s]),
            "spent": float(spent[s]),
            "in_support": bool(support.intersection(brings.tolist())),
            **{key: value for key, value in said.get(name, {}).items() if key in _KEPT},
        }
    return facts


def _plain(record: dict[str, Any]) -> dict[str, Plain]:
    """As JSON can hold it: what is no number is left out."""
    return {key: value for key, value in record.items() if not (isinstance(value, float) and not isfinite(value))}


def verdict(summary: Mapping[str, Any]) -> str:
    """The first sentence: what to buy, what it costs, what error it leaves, and what to stop buying.

    >>> waist = {"bought": 90, "price": 2.0, "spent": 180.0, "in_support": True}
    >>> metals = {"bought": 2, "price": 60.0, "spent": 120.0, "in_support": False}
    >>> facts = {"rows": 100, "sources": {"waist": waist, "metals": metals}, "mse_last_tenth": 25.0, "spent": 300.0}
    >>> facts |= {"currency": "USD", "unit": "%", "target": "fat", "references": {"nothing": {"mse": 64.0}}}
    >>> verdict(facts)
    'Buy waist: 2 USD a row, which leaves a typical error of 5 % (buying nothing: 8); stop buying metals: 40 % of the \
money went there.'
    """
    sources: dict[str, dict[str, Any]] = summary["sources"]
    money = f" {summary['currency']}" if summary["currency"] else ""
    unit = f" {summary['unit']}" if summary["unit"] else ""
    buy = [name for name, facts in sources.items() if facts["in_support"]]
    price = sum(sources[name]["price"] for name in buy)
    error = f"a typical error of {sqrt(max(summary['mse_last_tenth'], 0.0)):.4g}{unit}"
    nothing = summary["references"].get("nothing")
    beside = f" (buying nothing: {sqrt(nothing['mse']):.4g})" if nothing and buy else ""
    first = f"Buy {_listed(buy)}: {price:.4g}{money} a row, which leaves {error}{beside}" if buy else ""
    first = first or f"Buy nothing: that leaves {error}, and nothing that was looked at is worth its price"
    stop = [name for name, facts in sources.items() if not facts["in_support"] and facts["spent"] > 0.0]
    stop = [name for name in stop if sources[name]["spent"] >= _NOTABLE * summary["spent"]]
    if not stop:
        return f"{first}."
    share = 100 * sum(sources[name]["spent"] for name in stop) / summary["spent"]
    return f"{first}; stop buying {_listed(stop)}: {share:.0f} % of the money went there."


def _listed(names: list[str], most: int = 6) -> str:
    """ "a, b and 3 others"."""
    if len(names) <= most:
        return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
    return f"{', '.join(names[: most - 1])} and {len(names) - most + 1} others"
