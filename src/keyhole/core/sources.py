"""What can be ordered, what it costs, and what is known for free.

    attribute   one number of a row
    source      what can be ordered: a name, a price, and one or more attributes that come at once
    free        attributes that are there before anything is ordered; no price, no place in the budget

An attribute that is in no source and not free is a source of its own, with its own name.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TypeAlias

import numpy as np

from .._internal.typing import Bools, Floats, Ints
from ..errors import ConfigError

__all__ = ["Offer", "Prices", "SourceCatalog", "Sources"]

Offer: TypeAlias = "dict[str, list[str]] | list[str] | dict[str, float] | list[float] | str"
Sources = Mapping[str, Sequence[str]]
Prices = Mapping[str, float] | Sequence[float]


@dataclass(frozen=True, eq=False)
class SourceCatalog:
    """The sources of d attributes; the order of sources is that of their first attributes."""

    names: tuple[str, ...]
    """(d,) the attributes."""
    sources: tuple[str, ...]
    """(n,) the sources."""
    of: Ints
    """(d,) the source of each attribute; -1: free."""
    prices: Floats
    """(n,) what each source costs; 0 where no prices were given."""
    priced: bool

    @classmethod
    def build(
        cls,
        names: Sequence[str],
        sources: Sources | None = None,
        free: Sequence[str] | None = None,
        prices: Prices | None = None,
    ) -> "SourceCatalog":
        """From what a user says; a `ConfigError` names what cannot be."""
        unpaid = _free_names(names, free)
        owner = _owners(names, sources or {}, unpaid)
        order = tuple(dict.fromkeys(owner[name] for name in names if name not in unpaid))
        place = {source: i for i, source in enumerate(order)}
        of = np.array([-1 if name in unpaid else place[owner[name]] for name in names], dtype=np.int64)
        plain = not sources and not unpaid
        return cls(tuple(names), order, of, _priced(order, names, prices, plain), prices is not None)

    @cached_property
    def free(self) -> Ints:
        """The attributes that are there for free, in the order of the columns."""
        return np.flatnonzero(self.of < 0)

    @cached_property
    def members(self) -> tuple[Ints, ...]:
        """(n,) the attributes of each source."""
        order = np.argsort(self.of, kind="stable")
        ends = np.searchsorted(self.of[order], np.arange(len(self.sources) + 1))
        return tuple(order[a:b] for a, b in pairwise(ends))

    @cached_property
    def charge(self) -> Floats:
        """(d,) a source's price at its first attribute, 0 at its others: the sum over whole sources is exact."""
        charge: Floats = np.zeros(len(self.names))
        first = np.unique(self.of, return_index=True)[1][self.free.size > 0 :]
        charge[first] = self.prices
        return charge

    @cached_property
    def plain(self) -> bool:
        """Whether every attribute is bought by itself, under its own name, and none is known."""
        return self.sources == self.names

    def options(self, priced: bool) -> dict[str, Offer]:
        """`sources`, `free` and, where `priced`, `prices` as `build` takes them, each only where it says something."""
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
        """All that is handed over for a basket of sources: the known attributes first, then theirs."""
        parts = [self.members[int(s)] for s in basket]
        return np.concatenate([self.free, *parts]) if parts or self.free.size else np.empty(0, dtype=np.int64)

    def basket(self, attributes: Ints) -> Ints:
        """The sources that bring these attributes, in the order of their first one; known ones need none."""
        of = self.of[attributes]
        return np.array(list(dict.fromkeys(of[of >= 0].tolist())), dtype=np.int64)

    def ordered(self, attributes: Ints) -> tuple[str, ...]:
        """What to order for these attributes, by name."""
        return tuple([self.sources[s] for s in self.basket(attributes).tolist()])

    def price(self, attributes: Ints) -> float:
        """What it costs to be handed these attributes."""
        return float(self.charge[attributes].sum()) if self.priced else 0.0

    def whole(self, attributes: Ints) -> bool:
        """Whether no source is among these in part, and none of them twice."""
        sizes = np.bincount(self.of[self.of >= 0], minlength=len(self.sources))
        bought = np.bincount(self.of[attributes][self.of[attributes] >= 0], minlength=len(self.sources))
        return bool(((bought == 0) | (bought == sizes)).all())

    @cached_property
    def places(self) -> dict[str, Ints]:
        """The attributes that come with a name, be it a source's or an attribute's."""
        single = {name: np.array([i]) for i, name in enumerate(self.names)}
        return single if self.plain else single | dict(zip(self.sources, self.members, strict=True))

    def pool(self, available: Bools) -> Bools:
        """(n,) the sources that can be ordered where these attributes can be had: a source needs all of its own."""
        there: Bools = np.ones(len(self.sources), dtype=np.bool_)
        lacking = self.of[~available]
        there[lacking[lacking >= 0]] = False
        return there

    def whole_of(self, available: Bools) -> Bools:
        """(d,) the same as a mask of attributes; known ones can always be had."""
        if self.plain:
            return available
        mask: Bools = np.append(self.pool(available), True)[self.of]  # -1, known: the last
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
    """The source of each attribute."""
    if not isinstance(sources, Mapping):
        raise ConfigError("sources must map a name to the attributes it brings, as {'lipids': ['ldl', 'hdl']}")
    owner: dict[str, str] = {}
    there = set(names)
    for source, brings in sources.items():
        if isinstance(brings, str) or not len(brings):
            raise ConfigError(f"source '{source}' must bring a list of one or more attributes, not {brings!r}")
        for name in brings:
            if name not in there:
                raise ConfigError(f"source '{source}' brings '{name}', which is no attribute")
            if name in free:
                raise ConfigError(f"'{name}' is free and also in source '{source}'; remove it from one of the two")
            if name in owner:
                twice = (
                    f"in source '{owner[name]}' and in '{source}'" if owner[name] != source else f"twice in '{source}'"
                )
                raise ConfigError(f"'{name}' is {twice}; an attribute has one source")
            owner[name] = str(source)
    for source in sources:
        if source in there and owner.get(source) != source:
            raise ConfigError(f"'{source}' is a source and also an attribute outside of it; give one another name")
    return {name: owner.get(name, name) for name in names}


def _priced(order: Sequence[str], names: Sequence[str], prices: Prices | None, plain: bool) -> Floats:
    """A price for every source; zero without prices. By name, "*" is the price of every source that is not named."""
    if prices is None:
        return np.zeros(len(order))
    if isinstance(prices, Mapping):
        if "*" in prices and "*" not in order:
            prices = {s: prices.get(s, prices["*"]) for s in order} | {s: p for s, p in prices.items() if s != "*"}
        odd = [s for s in order if s not in prices]
        if odd:
            raise ConfigError(
                f"prices must price every source; there is none for '{odd[0]}' (\"*\" prices all the others)"
            )
        there = set(order)
        odd = [str(s) for s in prices if s not in there]
        if odd:
            raise ConfigError(f"prices: '{odd[0]}' is no source{_hint(odd[0], names)}")
        given: Sequence[object] = [prices[s] for s in order]
    elif plain:
        given = list(prices)
    else:
        raise ConfigError("with sources or free attributes give prices by name, as {'lipids': 12.0}")
    if any(isinstance(price, str | bool) for price in given):  # numpy would make numbers of them
        raise ConfigError("prices must be numbers")
    try:
        price = np.array(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise ConfigError("prices must be numbers") from None
    if price.shape != (len(order),) or not (np.isfinite(price) & (price >= 0.0)).all():
        raise ConfigError(
            f"prices must be {len(order)} finite numbers >= 0, one per {'attribute' if plain else 'source'}"
        )
    return price


def _hint(name: str, names: Sequence[str]) -> str:
    return " of its own (it is free, or comes with a source that has the price)" if name in set(names) else ""
