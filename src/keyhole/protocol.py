"""The protocol: a learner asks, is handed exactly what it asked for, predicts, and is told the label."""

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from os import PathLike
from pathlib import Path
from typing import ClassVar, TypeAlias

import numpy as np

from . import _checks
from ._checks import Values
from ._types import Bools, Floats, Ints
from .batches import Batches
from .doubts import Doubts
from .errors import StateError
from .market import Market
from .rounds import Draft, Round
from .rules import Places, Rule
from .shown import Facts, Shown, a_few
from .state import Stateful

__all__ = ["Block", "Draft", "Learner", "Round", "Values"]

Plain: TypeAlias = "bool | int | float | str | list[Plain] | dict[str, Plain] | None"
# block(rows, labels, predictions, explored, levels): plays some of the rows, writes into the last three; see
# `Learner._block` and `Learner._level`.
Block: TypeAlias = Callable[[Floats, Floats, Floats, Bools, Floats], tuple[Ints, Ints]]

# Sets the generators of learners apart from all others that somebody seeds with the same number.
_DRAWS = 0x6B6579


class Learner(Doubts, Shown, Batches, Stateful, ABC):
    """A state machine over rounds: `ask`, `predict`, (`ask_more`,) `tell`, or `abandon`.

    A subclass says what to buy (`_ask`), what it predicts from the bought values (`_predict`) and how it learns from
    them (`_tell`); it is never handed anything else. This class checks every input before anything changes, so that an
    error leaves the state as it was, and keeps the open rounds.

    Everything random is drawn in `ask`, in places of `order`, a permutation of the attributes drawn once with the seed:
    renaming the columns together with `order` renames everything the learner does.

    A learner may be used from many threads: every public call holds its lock, so that what happens is what would have
    happened in some order of the calls. Copies, and those sent to other processes, are made of its model bytes.
    """

    buys_all: ClassVar[bool] = False
    """Whether every attribute is bought in every round, whatever k is."""
    _block_from: ClassVar[int] = 0
    """From which round on the compiled block is used: before, it takes longer to compile than they to play."""
    _fields: ClassVar[tuple[str, ...]] = ("t", "order")
    _rules: ClassVar[Mapping[str, Rule]] = {"order": Places("d")}

    def __init__(self, names: Sequence[str], k: int, k0: int, seed: int, market: Market | None = None) -> None:
        self.names = tuple(names)
        self.market = Market.build(self.names) if market is None else market
        self.d, self.k, self.k0, self.seed = len(self.names), k, k0, seed
        self.config: dict[str, Plain] = {}
        self.t = 0
        # Not default_rng(seed) itself: a stream made with the same seed must stay independent of the learner's draws.
        self.rng = np.random.default_rng([_DRAWS, seed])
        self.order = self._draw_order()
        self._open: dict[int, Round] = {}
        # The file it was loaded from and that file's digest: no part of the state, so equal states stay equal bytes.
        self.origin: tuple[Path, bytes] | None = None

    # -- what a user calls

    def ask(self, available: "Bools | Sequence[bool] | Sequence[str] | None" = None) -> Round:
        """Open a round: what to buy. `available` (a mask, or names of attributes or sources) says what can be had."""
        pool = _checks.available(available, self.market.places, self.d)
        r = self._next(None if pool is None else self.market.whole_of(pool))
        self._open[r.index] = r
        return r

    def predict(self, r: Round, values: Values) -> float:
        """The prediction from the bought values, in the order of `r.attributes` (or by name); changes nothing."""
        self._check_open(r)
        return float(self._predict(r, _checks.values(values, r.names)))

    def ask_more(self, r: Round) -> Ints:
        """The attributes to buy after the label: at most k0, drawn when the round was asked."""
        self._check_open(r)
        return r.extra.copy()

    def tell(
        self,
        r: Round,
        values: Values,
        y: float,
        extra_attributes: "Sequence[int] | Ints | None" = None,
        extra_values: "Values | None" = None,
    ) -> None:
        """Close a round with its label; where `ask_more(r)` is not empty, with the extra values too."""
        self._check_open(r)
        x = _checks.values(values, r.names)
        _checks.extras(extra_attributes, r.extra)
        extra_names = [self.names[i] for i in r.extra]
        more = _checks.values([] if extra_values is None else extra_values, extra_names)
        label = _checks.label(y)
        del self._open[r.index]
        self._tell(r, x, label, more)

    def abandon(self, r: Round) -> None:
        """Close a round whose label will never come; nothing is learnt from it."""
        self._check_open(r)
        del self._open[r.index]

    def save(self, path: "str | PathLike[str]") -> None:
        """Write the learner to one file; `kh.load(path)` continues bit for bit."""
        from .saving import save

        save(self, path)

    def _facts(self) -> Facts:
        with self.held():
            support = [self.names[i] for i in self.support]
            known = [self.names[i] for i in self.market.known]
            budget = f"{self.k} of {len(self.market.sources)}"
            facts = [("learner", self.name), ("buys", budget + (f", then {self.k0}" if self.k0 else ""))]
            facts += [("knows", a_few(known))] if known else []
            return [*facts, ("rounds", f"{self.t}, {len(self._open)} open"), ("support", a_few(support))]

    def __reduce__(self) -> tuple[object, ...]:
        """Copied and sent to other processes as its model bytes, and read back with all the checks of a file."""
        from .saving import to_bytes

        loading = import_module(f"{__package__}.loading")  # by name: what reads files stands above
        return loading.from_bytes, (to_bytes(self),)

    @property
    def open_rounds(self) -> tuple[Round, ...]:
        """The rounds that were asked and neither told nor abandoned, oldest first."""
        return tuple(self._open.values())

    @property
    def identity(self) -> str:
        """Equal for learners made with the same arguments and seed: it marks their rounds."""
        if not hasattr(self, "_identity"):
            text = json.dumps(self.config, sort_keys=True)
            self._identity = f"{self.name}-{hashlib.sha256(text.encode()).hexdigest()[:12]}"
        return self._identity

    @property
    @abstractmethod
    def weights(self) -> Floats:
        """The current coefficients, full length (d,)."""

    @property
    @abstractmethod
    def support(self) -> Ints:
        """The attributes now used to exploit, at most k, ascending."""

    # -- what a learner says

    @abstractmethod
    def _ask(self, t: int, pool: Bools | None) -> Draft:
        """What to buy in round t; `pool` is the mask of what can be bought, None for everything."""

    @abstractmethod
    def _predict(self, r: Round, x: Floats) -> float:
        """The prediction with the weights of this moment; NaN in x takes no part."""

    @abstractmethod
    def _tell(self, r: Round, x: Floats, y: float, more: Floats) -> None:
        """Learn from a round; `more` are the values of `r.extra`."""

    def _draw_order(self) -> Ints:
        """The seeded permutation of the attributes."""
        return self.rng.permutation(self.d)

    def _steady(self) -> tuple[Ints, int]:
        """(attributes, n): the next n rounds buy exactly these, whatever happens in them. n = 0: no such promise."""
        return np.empty(0, dtype=np.int64), 0

    def _run(self, X: Floats, y: Floats) -> Floats:
        """Play rounds that `_steady` promised in one call, on their bought values; a NaN label is not learnt from."""
        raise NotImplementedError

    @classmethod
    def _made_as(cls, options: "Mapping[str, object]") -> "type[Learner]":
        """The class that plays with these options: this one, or a variant of it."""
        return cls

    @classmethod
    def _entries(cls, d: int, k: int) -> int:
        """How many numbers a saved state of this size has at least: a file with fewer is refused unbuilt."""
        return d

    def _memo_fits(self, r: Round) -> bool:
        """Whether `_predict` and `_tell` can work with the note of an open round that comes from a file."""
        return True

    def _block(self) -> Block | None:
        """A compiled call that plays some of the rows it is given just as the protocol would, reading no value that was
        not bought: what each row bought, and how many of that before and after the label. None: there is none."""
        return None

    def _lift_total(self) -> None:
        """Frozen use is paid for apart from the rounds that were played: forget a limit on all of them together."""

    def _finish(self) -> None:
        """A stream has ended: say, once, what a reader of its history should know."""

    def _places(self, pool: Bools | None) -> Ints:
        """The attributes that can be bought, in the seeded order in which everything is drawn."""
        return self.order if pool is None else self.order[pool[self.order]]

    def _split(self, S: Ints, pool: Bools | None) -> tuple[Ints, Ints]:
        """What can be bought of S, and what outside it."""
        outside = np.ones(self.d, dtype=np.bool_) if pool is None else pool.copy()
        available = S[outside[S]]
        outside[S] = False
        return available, self._places(outside)

    def _next(self, pool: Bools | None = None) -> Round:
        """The next round, not yet among the open ones: for the keeper, who closes it at once."""
        draft = self._ask(self.t + 1, pool)
        self.t += 1
        names, market = tuple([self.names[i] for i in draft.attributes.tolist()]), self.market
        sources = names if market.plain else market.ordered(draft.attributes)
        price = market.price(np.concatenate([draft.attributes, draft.extra])) if market.priced else 0.0
        return Round(
            self.t, draft.kind, draft.attributes, names, self.identity, draft.extra, sources, price, draft.memo
        )

    def _reopen(self, rounds: Sequence[Round]) -> None:
        """Take over the open rounds of a file, if they are rounds that this learner can have asked."""
        for r in rounds:
            sound = r.learner == self.identity and 1 <= r.index <= self.t
            if not (sound and _checks.may_be_asked(r, self.names) and self._memo_fits(r)):
                raise StateError(f"round {r.index} in the state is none that this learner can have asked")
        self._open = {r.index: r for r in rounds}
        if len(self._open) < len(rounds):
            raise StateError("the state has an open round twice")

    def _check_open(self, r: Round) -> None:
        _checks.is_open(r, self.identity, self._open, self.t)
