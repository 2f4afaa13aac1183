"""The streams of a comparison: synthetic, a named data set, a file, or a function."""

import hashlib
import inspect
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from .. import data
from .._internal.formatting import join_names
from .._internal.typing import Floats
from ..core.registry.plugins import import_object
from ..core.registry.spec import assignments
from ..data.encoded_table import EncodedTable
from ..data.fingerprint import fingerprint
from ..data.schema_completion import first_rows
from ..data.streams import Schema, open_table, read_prices, unpriced
from ..data.synthetic_streams import synthetic
from ..errors import ConfigError

__all__ = ["Rows", "StreamSpec"]

_FUNCTION = re.compile(r"(?!synthetic:)[A-Za-z_][\w.]*:[A-Za-z_]\w*")


class Rows(NamedTuple):
    """Raw rows, their schema, and the true weights if known."""

    X: Floats
    y: Floats
    schema: Schema
    w: Floats | None


@dataclass(frozen=True)
class StreamSpec:
    """A stream by name: `synthetic:d=20,k=4,sigma=0.1`, a data set, a file with its target and schema, or a function.

    A function is written "module:function". Called with the number of rows and a seed, it returns X (T, d), y (T,) and
    the true weights w (d,) or None.

    >>> StreamSpec.parse("synthetic:d=6,k=2").rows(seed=1, rounds=10).X.shape
    (10, 6)
    """

    name: str
    target: str | None = None
    schema: str | None = None
    """The schema as TOML; None: nothing is scaled."""
    shuffle: bool = False
    content: str = ""
    """A digest of the file, so that results for other content are not reused."""
    notes: tuple[str, ...] = ()
    """Messages for the user."""

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
        """Parse a stream and check it as far as possible without reading all of it; `free` columns cost nothing.

        `numbers` and `encoding` describe the format of a file if its schema does not; `na` are words for "missing".
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
        if not Path(name).suffix and not Path(name).exists():
            near = get_close_matches(name, data.names(), 1)
            hint = f"did you mean '{near[0]}'?" if near else f"the data sets are {join_names(data.names(), 20)}"
            raise ConfigError(f"there is no file and no data set '{name}'; {hint}")
        given = Schema.read(schema) if schema is not None else None
        if given is not None and target not in (None, given.target):
            raise ConfigError(f"the schema is for the target '{given.target}', not '{target}'")
        table = open_table(name, encoding=encoding or (given.encoding if given else ""))
        if given is None and target is None:
            raise ConfigError(f"say which column of {name} is to be predicted: --target NAME")
        usable = () if given else table.usable(target, written=bool(numbers))
        known = given if given else Schema.unknown(str(target), usable)
        known = known.written(numbers, encoding).with_missing(na)
        known = known.with_free(free) if free else known
        known = known if prices is None else known.with_prices(read_prices(prices))
        known = known.complete(table)
        encoded = EncodedTable(table, known)
        encoded.require([*known.names, known.target], declared=given is not None)
        first_rows(encoded, known)  # refuses a constant label early
        known = known.without_estimates()
        mark = json.dumps(fingerprint(name, [c.name for c in table.columns]).to_dict()).encode()
        content = hashlib.sha256(mark).hexdigest()[:16]
        return cls(str(Path(name).resolve()), known.target, known.to_toml(), shuffle, content, tuple(unpriced(known)))

    @property
    def is_synthetic(self) -> bool:
        """Whether its rows are drawn with a seed and lie in [-1, 1], as the learners expect."""
        return self.name.startswith("synthetic:") or self.is_function

    @property
    def is_function(self) -> bool:
        """Whether its rows come from a function "module:function"."""
        return _FUNCTION.fullmatch(self.name) is not None and self.schema is None

    @property
    def k(self) -> int | None:
        """The number of relevant attributes, if known; it is the default budget."""
        if self.is_function:
            w = self.rows(0, 1).w
            return None if w is None else int(np.count_nonzero(w))
        k = dict(self._options).get("k") if self.is_synthetic else None
        return k if isinstance(k, int) else None

    def rows(self, seed: int, rounds: int) -> Rows:
        """Return the rows for a seed: drawn with it, or shuffled by it if requested."""
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
                raise ConfigError(f"stream '{self.name}': {name} cannot be {value!r}; {hint}")
        try:
            X, y, w = synthetic(T=rounds, seed=seed, **dict(self._options))  # type: ignore[arg-type]
        except TypeError as fault:
            raise ConfigError(f"'{self.name}': {_in_words(fault)}; {hint}") from None
        return Rows(X, y, Schema.plain("y", [f"x{i}" for i in range(X.shape[1])]), w)


def _content(path: str) -> str:
    """Return a digest of the module that contains a function."""
    function = import_object(path)
    if not callable(function):
        raise ConfigError(f"'{path}' is not a function")
    file = getattr(inspect.getmodule(function), "__file__", None)
    return hashlib.sha256(Path(file).read_bytes()).hexdigest()[:16] if file and Path(file).is_file() else ""


def _called(path: str, seed: int, rounds: int) -> Rows:
    """Return the rows that a function returns, validated."""
    function: Callable[[int, int], Any] = import_object(path)  # type: ignore[assignment]  # checked by `parse`
    wanted = f"'{path}' must give X (T, d), y (T,) and w (d,) or None for T = {rounds} rows"
    try:
        X, y, w = function(rounds, seed)
        X, y = np.asarray(X, dtype=np.float64), np.asarray(y, dtype=np.float64)
        w = None if w is None else np.asarray(w, dtype=np.float64)
    except (TypeError, ValueError) as fault:
        raise ConfigError(f"{wanted}; it failed: {str(fault)[:200]}") from None
    if X.ndim != 2 or y.shape != X.shape[:1] or (w is not None and w.shape != X.shape[1:]):
        shapes = f"{X.shape}, {y.shape} and {None if w is None else w.shape}"
        raise ConfigError(f"{wanted}, not {shapes}")
    return Rows(X[:rounds], y[:rounds], Schema.plain("y", [f"x{i}" for i in range(X.shape[1])]), w)


def _in_words(fault: TypeError) -> str:
    """Return Python's message about mismatched arguments, without the function name."""
    return str(fault).replace("synthetic() ", "").replace("required positional argument", "option")


@lru_cache(maxsize=4)
def _table(stream: StreamSpec) -> tuple[Floats, Floats, Schema]:
    """Return a data set or file in memory; each worker reads it once."""
    if stream.schema is None:
        found = data.load(stream.name)
        return found.X, found.y, found.schema
    schema = Schema.from_toml(stream.schema)
    batches = list(open_table(stream.name, schema).batches(schema.names, schema.target))
    return np.concatenate([b.X for b in batches]), np.concatenate([b.y for b in batches]), schema
