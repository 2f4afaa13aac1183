"""What became of each source of a run: what it cost, and what the learner says of it."""

from collections.abc import Mapping
from math import isfinite, nan

import numpy as np

from ..core.learner import Learner, Plain
from .totals import Totals

__all__ = ["sources_of"]

_KEPT = ("adds", "fair_price", "probability", "reason")


def sources_of(totals: Totals, learner: Learner) -> dict[str, Plain]:
    """What became of each source, the dearest in all first: money, and what the learner says of it."""
    catalog, support = totals.catalog, set(learner.support.tolist())
    explain = getattr(learner, "explain", None)
    said: Mapping[str, dict[str, Plain]] = {e.name: _kept(e) for e in explain()} if explain else {}
    facts: dict[str, Plain] = {}
    spent = np.array([totals.bought[m[0]] * p for m, p in zip(catalog.members, catalog.prices, strict=True)])
    for s in np.argsort(-spent, kind="stable"):
        name, brings = catalog.sources[s], catalog.members[s]
        facts[name] = {
            "attributes": [catalog.names[j] for j in brings],
            "bought": int(totals.bought[brings[0]]),
            "price": float(catalog.prices[s]),
            "spent": float(spent[s]),
            "in_support": bool(support.intersection(brings.tolist())),
            **said.get(name, {}),
        }
    return facts


def _kept(said: object) -> dict[str, Plain]:
    """Of what a learner says as much as JSON can hold: what it does not say, or is no number, is left out."""
    found = {key: getattr(said, key, nan) for key in _KEPT}
    return {key: value for key, value in found.items() if not isinstance(value, float) or isfinite(value)}
