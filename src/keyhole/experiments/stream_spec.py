"""Where the rows of a comparison come from: a synthetic law, a named data set, a file, or a function."""

import hashlib
import inspect
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from .. import data
from .._internal.typing import Floats
from ..core.registry.plugins import import_object
from ..core.registry.spec import assignments
from ..data.encoded_table import EncodedTable
from ..data.fingerprint import fingerprint
from ..data.learner_scaling import first_rows
from ..data.streams import Schema, open_table, read_prices, unpriced
from ..data.synthetic_streams import synthetic
from ..errors import ConfigError

__all__ = ["Rows", "StreamSpec"]

_FUNCTION = re.compile(r"(?!synthetic:)[A-Za-z_][\w.]*:[A-Za-z_]\w*")


class Rows(NamedTuple):
    """Some rows, raw, their schema, and the weights behind the labels where those are known."""

    X: Floats
    y: Floats
    schema: Schema
    w: Floats | None


@dataclass(frozen=True)
class StreamSpec:
    """A stream by name: `synthetic:d=20,k=4,sigma=0.1`, a data set, a file with its target and schema, or a function.

    A function is written "module:function". Called with the number of rows and a seed it gives X (T, d), y (T,) and w,
    the true weights (d,) or None.

    >>> StreamSpec.parse("synthetic:d=6,k=2").rows(seed=1, rounds=10).X.shape
    (10, 6)
    """

    name: str
    target: str | None = None
    schema: str | None = None
    """As TOML; None: nothing is scaled."""
    shuffle: bool = False
    content: str = ""
    """A digest of the file, so that results of another content are not taken for its own."""
    notes: tuple[str, ...] = ()
    """What a person should know of it."""

    @classmethod
    def parse(
        cls,
        name: str,
        target: str | None = None,
        schema: Path | None = None,
        shuffle: bool = False,
        prices: Path | None = None,
        free: Sequence[str] = (),
        numbers: str = "",
        encoding: str = "",
        na: Sequence[str] = (),
    ) -> "StreamSpec":
        """The stream of that name, checked as far as that goes without reading it all; `free` columns are known.

        `numbers` and `encoding` say how a file is written, where its schema does not; `na` are words for "missing".
        """
        if name.startswith("synthetic:"):
            stream = cls(name)
            stream.rows(0, 1)
            return stream
        if name in data.names() and free:
            raise ConfigError(f"the free columns of the data set '{name}' are part of it; omit --free")
        if name in data.names():
            return cls(name, shuffle=shuffle)
        if _FUNCTION.fullmatch(name) and not Path(name).exists():
            stream = cls(name, content=_content(name))
            stream.rows(0, 1)
            return stream
        given = Schema.read(schema) if schema is not None else None
        if given is not None and target not in (None, given.target):
            raise ConfigError(f"the schema is for the target '{given.target}', not '{target}'")
        table = open_table(name, encoding=encoding or (given.encoding if given else ""))
        if given is None and target is None:
            raise ConfigError(f"say which column of {name} is to be predicted: --target NAME")
        usable = () if given else table.usable(target, written=bool(numbers))
        known = given.complete(table) if given else Schema.unknown(str(target), usable)
        known = known.written(numbers, encoding).with_missing(na)
        known = known.with_free(free) if free else known
        known = known if prices is None else known.with_prices(read_prices(prices))
        encoded = EncodedTable(table, known)
        encoded.require([*known.names, known.target])
        first_rows(encoded, known)  # a label that never changes is refused now
        known = known.without_estimates()
        mark = json.dumps(fingerprint(name, [c.name for c in table.columns]).to_dict()).encode()
        content = hashlib.sha256(mark).hexdigest()[:16]
        return cls(str(Path(name).resolve()), known.target, known.to_toml(), shuffle, content, tuple(unpriced(known)))

    @property
    def is_synthetic(self) -> bool:
        """Whether its rows are drawn with a seed, as the learners expect them: within [-1, 1]."""
        return self.name.startswith("synthetic:") or self.is_function

    @property
    def is_function(self) -> bool:
        """Whether its rows come from a function "module:function"."""
        return _FUNCTION.fullmatch(self.name) is not None and self.schema is None

    @property
    def k(self) -> int | None:
        """The number of attributes that matter, where it is known: the budget if none is given."""
        if self.is_function:
            w = self.rows(0, 1).w
            return None if w is None else int(np.count_nonzero(w))
        k = dict(self._options).get("k") if self.is_synthetic else None
        return k if isinstance(k, int) else None

    def rows(self, seed: int, rounds: int) -> Rows:
        """The rows that a seed plays: drawn with it, or shuffled by it where that was asked for."""
        if self.is_function:
            return _called(self.name, seed, rounds)
        if self.is_synthetic:
            return self._drawn(seed, rounds)
        X, y, schema = _table(self)
        order = np.random.default_rng([seed, 2]).permutation(y.size) if self.shuffle else np.arange(y.size)
        chosen = order[:rounds]
        return Rows(X[chosen], y[chosen], schema, None)

    @property
    def _options(self) -> tuple[tuple[str, object], ...]:
        return assignments(self.name.removeprefix("synthetic:"), self.name)

    def _drawn(self, seed: int, rounds: int) -> Rows:
        hint = "write synthetic:d=20,k=4,sigma=0.1,design=uniform"
        for name, value in self._options:
            if name == "T":
                raise ConfigError(f"'{self.name}': the number of rows is not part of the stream; use --rounds {value}")
            if isinstance(value, str) != (name == "design"):
                raise ConfigError(f"'{self.name}': {name} cannot be {value!r}; {hint}")
        try:
            X, y, w = synthetic(T=rounds, seed=seed, **dict(self._options))  # type: ignore[arg-type]
        except TypeError as fault:
            raise ConfigError(f"'{self.name}': {_in_words(fault)}; {hint}") from None
        return Rows(X, y, Schema.plain("y", [f"x{i}" for i in range(X.shape[1])]), w)


def _content(path: str) -> str:
    """A digest of the module that a function is in."""
    function = import_object(path)
    if not callable(function):
        raise ConfigError(f"'{path}' is not a function")
    file = getattr(inspect.getmodule(function), "__file__", None)
    return hashlib.sha256(Path(file).read_bytes()).hexdigest()[:16] if file and Path(file).is_file() else ""


def _called(path: str, seed: int, rounds: int) -> Rows:
    """The rows that a function gives, checked."""
    function: Callable[[int, int], Any] = import_object(path)  # type: ignore[assignment]  # `parse` has seen to it
    wanted = f"'{path}' must give X (T, d), y (T,) and w (d,) or None for T = {rounds} rows"
    try:
        X, y, w = function(rounds, seed)
        X, y = np.asarray(X, dtype=np.float64), np.asarray(y, dtype=np.float64)
        w = None if w is None else np.asarray(w, dtype=np.float64)
    except (TypeError, ValueError) as fault:
        raise ConfigError(f"{wanted}: {str(fault)[:200]}") from None
    if X.ndim != 2 or y.shape != X.shape[:1] or (w is not None and w.shape != X.shape[1:]):
        shapes = f"{X.shape}, {y.shape} and {None if w is None else w.shape}"
        raise ConfigError(f"{wanted}, not {shapes}")
    return Rows(X[:rounds], y[:rounds], Schema.plain("y", [f"x{i}" for i in range(X.shape[1])]), w)


def _in_words(fault: TypeError) -> str:
    """What Python says of a call that does not fit, without the call."""
    return str(fault).replace("synthetic() ", "").replace("required positional argument", "option")


@lru_cache(maxsize=4)
def _table(stream: StreamSpec) -> tuple[Floats, Floats, Schema]:
    """A data set or file in memory; read once by each worker."""
    if stream.schema is None:
        found = data.load(stream.name)
        return found.X, found.y, found.schema
    schema = Schema.from_toml(stream.schema)
    batches = list(open_table(stream.name, schema).batches(schema.names, schema.target))
    return np.concatenate([b.X for b in batches]), np.concatenate([b.y for b in batches]), schema
