"""Sources: the units that can be ordered, their prices, and the attributes that are free.

    attribute   one number of a row
    source      a unit that can be ordered: a name, a price, and one or more attributes delivered together
    free        attributes known before anything is ordered; they have no price and do not count towards the budget

An attribute that is neither free nor listed in a source is a source of its own, under its own name.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TypeAlias

import numpy as np

from .._internal.typing import Bools, Floats, Ints
from ..errors import ConfigError

__all__ = ["LARGEST_PRICE", "Offer", "Prices", "SourceCatalog", "Sources"]

Offer: TypeAlias = "dict[str, list[str]] | list[str] | dict[str, float] | list[float] | str"
Sources = Mapping[str, Sequence[str]]
Prices = Mapping[str, float] | Sequence[float]

LARGEST_PRICE = 1e100
"""The largest price, so that the price of a round and all money spent are finite."""


@dataclass(frozen=True, eq=False)
class SourceCatalog:
    """The sources of d attributes, ordered by their first attribute."""

    names: tuple[str, ...]
    """(d,) the names of the attributes."""
    sources: tuple[str, ...]
    """(n,) the names of the sources."""
    of: Ints
    """(d,) the source of each attribute; -1 if it is free."""
    prices: Floats
    """(n,) the price of each source; 0 without prices."""
    priced: bool

    @classmethod
    def build(
        cls,
        names: Sequence[str],
        sources: Sources | None = None,
        free: Sequence[str] | None = None,
        prices: Prices | None = None,
    ) -> "SourceCatalog":
        """Build the catalogue from user input; invalid input raises a `ConfigError` that names the cause."""
        unpaid = _free_names(names, free)
        owner = _owners(names, sources or {}, unpaid)
        order = tuple(dict.fromkeys(owner[name] for name in names if name not in unpaid))
        place = {source: i for i, source in enumerate(order)}
        of = np.array([-1 if name in unpaid else place[owner[name]] for name in names], dtype=np.int64)
        plain = not sources and not unpaid
        return cls(tuple(names), order, of, _priced(order, names, prices, plain), prices is not None)

    @cached_property
    def free(self) -> Ints:
        """The free attributes, in column order."""
        return np.flatnonzero(self.of < 0)

    @cached_property
    def members(self) -> tuple[Ints, ...]:
        """(n,) the attributes of each source."""
        order = np.argsort(self.of, kind="stable")
        ends = np.searchsorted(self.of[order], np.arange(len(self.sources) + 1))
        return tuple(order[a:b] for a, b in pairwise(ends))

    @cached_property
    def charge(self) -> Floats:
        """(d,) a source's price at its first attribute and 0 at the others, so sums over whole sources are exact."""
        charge: Floats = np.zeros(len(self.names))
        charge[self.first] = self.prices
        return charge

    @cached_property
    def first(self) -> Ints:
        """(n,) the first attribute of each source."""
        return np.unique(self.of, return_index=True)[1][self.free.size > 0 :]

    @cached_property
    def plain(self) -> bool:
        """Whether every attribute is a source of its own and none is free."""
        return self.sources == self.names

    def options(self, priced: bool) -> dict[str, Offer]:
        """Return `sources`, `free` and, if `priced`, `prices` as arguments of `build`, omitting defaults."""
        brings = {s: [self.names[j] for j in of] for s, of in zip(self.sources, self.members, strict=True)}
        said: dict[str, Offer] = {
            "sources": {s: names for s, names in brings.items() if names != [s]},
            "free": [self.names[j] for j in self.free],
        }
        if priced:
            prices = dict(zip(self.sources, self.prices.tolist(), strict=True))
            said["prices"] = prices if said["sources"] or said["free"] else self.prices.tolist()
        return {key: value for key, value in said.items() if value}

    def attributes(self, basket: Sequence[int] | Ints) -> Ints:
        """Return the attributes delivered with a basket of sources, the free attributes first."""
        parts = [self.members[int(s)] for s in basket]
        return np.concatenate([self.free, *parts]) if parts or self.free.size else np.empty(0, dtype=np.int64)

    def basket(self, attributes: Ints) -> Ints:
        """Return the sources of these attributes, ordered by their first attribute; free attributes need none."""
        of = self.of[attributes]
        return np.array(list(dict.fromkeys(of[of >= 0].tolist())), dtype=np.int64)

    def ordered(self, attributes: Ints) -> tuple[str, ...]:
        """Return the names of the sources to order for these attributes."""
        return tuple([self.sources[s] for s in self.basket(attributes).tolist()])

    def price(self, attributes: Ints) -> float:
        """Return the total price of the sources that provide these attributes."""
        return float(self.price_of_rows(attributes[None], np.array([attributes.size]))[0]) if self.priced else 0.0

    def price_of_rows(self, attributes: Ints, sizes: Ints) -> Floats:
        """Return the price of each row that bought the first sizes[t] of attributes[t], added in that order."""
        bought = np.arange(attributes.shape[1]) < sizes[:, None]
        paid = self.charge[attributes] * bought
        # A cumulative sum adds one by one, so that padding does not change the last bit, as in numpy's pairwise sums.
        return np.cumsum(paid, axis=1)[:, -1] if attributes.shape[1] else np.zeros(len(attributes))

    def whole(self, attributes: Ints) -> bool:
        """Return whether the attributes form whole sources without duplicates."""
        sizes = np.bincount(self.of[self.of >= 0], minlength=len(self.sources))
        bought = np.bincount(self.of[attributes][self.of[attributes] >= 0], minlength=len(self.sources))
        return bool(((bought == 0) | (bought == sizes)).all())

    @cached_property
    def places(self) -> dict[str, Ints]:
        """The attributes that belong to each name, whether it is the name of a source or of an attribute."""
        single = {name: np.array([i]) for i, name in enumerate(self.names)}
        return single if self.plain else single | dict(zip(self.sources, self.members, strict=True))

    def pool(self, available: Bools) -> Bools:
        """Return the (n,) mask of sources that can be ordered: a source needs all of its attributes to be available."""
        there: Bools = np.ones(len(self.sources), dtype=np.bool_)
        lacking = self.of[~available]
        there[lacking[lacking >= 0]] = False
        return there

    def whole_of(self, available: Bools) -> Bools:
        """Return the same as a (d,) mask of attributes; free attributes are always available."""
        if self.plain:
            return available
        mask: Bools = np.append(self.pool(available), True)[self.of]  # index -1 (free) reads the appended entry
        return mask


def _free_names(names: Sequence[str], free: Sequence[str] | None) -> set[str]:
    if free is None:
        return set()
    if isinstance(free, str) or not all(isinstance(name, str) for name in free):
        raise ConfigError(f"free must be a list of attribute names, not {free!r}")
    there = set(names)
    odd = [name for name in free if name not in there]
    if odd:
        raise ConfigError(f"free: there is no attribute '{odd[0]}'")
    return set(free)


def _owners(names: Sequence[str], sources: Sources, free: set[str]) -> dict[str, str]:
    """Return the source of each attribute."""
    if not isinstance(sources, Mapping):
        raise ConfigError("sources must map each name to its attributes, as in {'lipids': ['ldl', 'hdl']}")
    owner: dict[str, str] = {}
    there = set(names)
    for source, brings in sources.items():
        if isinstance(brings, str) or not len(brings):
            raise ConfigError(f"source '{source}' must be a list of one or more attributes, not {brings!r}")
        for name in brings:
            if name not in there:
                raise ConfigError(f"source '{source}' contains '{name}', which is not an attribute")
            if name in free:
                raise ConfigError(f"'{name}' is free and also in source '{source}'; remove it from one of the two")
            if name in owner:
                twice = (
                    f"in source '{owner[name]}' and in '{source}'" if owner[name] != source else f"twice in '{source}'"
                )
                raise ConfigError(f"attribute '{name}' is {twice}; it may be in only one source, once")
            owner[name] = str(source)
    for source in sources:
        if source in there and owner.get(source) != source:
            raise ConfigError(f"'{source}' is a source and also an attribute outside of it; give one another name")
    return {name: owner.get(name, name) for name in names}


def _priced(order: Sequence[str], names: Sequence[str], prices: Prices | None, plain: bool) -> Floats:
    """Return a price for every source; zero without prices. The name "*" prices every source not named."""
    if prices is None:
        return np.zeros(len(order))
    if isinstance(prices, Mapping):
        if "*" in prices and "*" not in order:
            prices = {s: prices.get(s, prices["*"]) for s in order} | {s: p for s, p in prices.items() if s != "*"}
        odd = [s for s in order if s not in prices]
        if odd:
            raise ConfigError(
                f"prices needs a price for every source; there is none for '{odd[0]}' (\"*\" is for all others)"
            )
        there = set(order)
        odd = [str(s) for s in prices if s not in there]
        if odd:
            raise ConfigError(f"prices: '{odd[0]}' is not a source{_hint(odd[0], names)}")
        given: Sequence[object] = [prices[s] for s in order]
    elif plain:
        given = list(prices)
    else:
        raise ConfigError("with sources or free attributes, give prices by name, as in {'lipids': 12.0}")
    if any(isinstance(price, str | bool) for price in given):  # numpy would convert these to numbers
        raise ConfigError("prices must be numbers")
    try:
        price = np.array(given, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise ConfigError("prices must be numbers") from None
    if price.shape != (len(order),) or not ((price >= 0.0) & (price <= LARGEST_PRICE)).all():
        per = "attribute" if plain else "source"
        raise ConfigError(f"prices must be {len(order)} numbers from 0 to {LARGEST_PRICE:g}, one per {per}")
    return price


def _hint(name: str, names: Sequence[str]) -> str:
    return " of its own (it is free, or comes with a source that has the price)" if name in set(names) else ""
