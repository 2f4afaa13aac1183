"""What became of each source of a run: what it cost, and what the learner says of it."""

from collections.abc import Mapping
from dataclasses import asdict
from math import isfinite
from typing import Any

import numpy as np

from ..protocol import Learner, Plain
from .totals import Totals

__all__ = ["sources_of"]

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
