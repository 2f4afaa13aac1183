"""Shared by both adapters: construction of a learner from the parameters of an estimator."""

import warnings
from collections.abc import Mapping, Sequence

from ..core.learner import Learner
from ..core.registry.catalogue import make
from ..errors import KeyholeWarning

__all__ = ["learner_of"]

# Parameters of an adapter that are arguments of `kh.make`, passed only if set.
_OPTIONAL = (
    "prices",
    "sources",
    "free",
    "budget_per_row",
    "error_cost",
    "total_budget",
    "expected_rows",
    "half_life",
    "label",
)


def learner_of(
    algorithm: str,
    names: Sequence[str],
    k: int | None,
    k0: int,
    seed: int | None,
    given: Mapping[str, object],
    options: Mapping[str, object] | None,
) -> Learner:
    """Call `kh.make` with the given parameters; k and k0 are limited to the number of attributes."""
    set_ones = {key: given[key] for key in _OPTIONAL if given.get(key) is not None}
    if k is not None and k > len(names):
        warnings.warn(f"k = {k} is more than the {len(names)} attributes: every one may be bought", KeyholeWarning, 4)
        k = len(names)
    k0 = min(k0, len(names) - (k or 0))
    further = {**set_ones, **(options or {})}
    return make(algorithm, names=list(names), k=k, k0=k0, seed=seed, **further)  # type: ignore[arg-type]
