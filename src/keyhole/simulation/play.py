"""Play a stream: give a learner exactly the values it bought, and record the outcome."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import TypeAlias

import numpy as np

from .._internal.dataframes import is_frame, labels_of, matrix_of
from .._internal.typing import Floats
from ..core.learner import Learner
from ..errors import ConfigError
from .block import Progress, RowBlock
from .history import History, PurchaseCounts

__all__ = ["play"]

Rows: TypeAlias = "Floats | Iterable[Iterable[float]]"
Labels: TypeAlias = "Floats | Iterable[float]"

# An iterable is collected into blocks of at most this many rows or bytes, so that blocks can be played compiled.
_BLOCK, _BYTES = 4096, 1 << 24


def play(
    learner: Learner,
    X: Rows,
    y: Labels,
    *,
    keep: bool = True,
    compiled: bool = True,
    progress: Progress | None = None,
    prices: "Mapping[str, Floats] | None" = None,
) -> History:
    """Play the rows of X against their labels y, in order.

    Parameters
    ----------
    X, y
        X is a (T, d) array, a pandas, polars or pyarrow frame whose columns are matched to the learner's attributes by
        name, or any iterable of rows; y has one label per row. A NaN label closes its round without learning; an
        infinite label raises `ProtocolError`.
    keep
        If False, the history does not keep the rows; use this for streams larger than memory.
    compiled
        If False, play every row through the protocol instead of in compiled blocks. The history is the same.
    progress
        Called from time to time with the number of rows played.
    prices
        Prices per row by source name, each (T,) numbers; other sources have their usual price.

    >>> import keyhole as kh
    >>> X, y, w = kh.streams.synthetic(d=10, k=3, T=100, seed=0)
    >>> kh.play(kh.make("ds-oslrc", d=10, k=3, seed=0), X, y).regret(w).shape
    (100,)
    """
    if not isinstance(learner, Learner):
        raise ConfigError(f"play needs a learner, such as kh.make('thrifty', d=20, k=4), not {learner!r}")
    purchases, blocks = PurchaseCounts(learner.d), [RowBlock(np.empty((0, learner.d)), np.empty(0), 0)]
    for rows, labels in _blocks(X, y, learner):
        first = blocks[-1].first + blocks[-1].played
        block = RowBlock(rows, labels, first, purchases, _row_prices(prices, learner, first, labels.size))
        block.play(learner, compiled, progress or _ignore)
        if not keep:
            block.release()
        blocks.append(block)
    learner._on_stream_end()
    return History(
        predictions=np.concatenate([b.predictions for b in blocks]),
        labels=np.concatenate([b.labels for b in blocks]),
        explored=np.concatenate([b.explored for b in blocks]),
        levels=np.concatenate([b.levels for b in blocks]),
        price=np.concatenate([b.price for b in blocks]),
        names=learner.names,
        free=learner.catalog.free,
        purchases=purchases,
        rows=_join_rows([b.rows for b in blocks[1:]], learner.d) if keep else None,
    )


def _row_prices(prices: "Mapping[str, Floats] | None", learner: Learner, first: int, n: int) -> Floats | None:
    """Return the (n, sources) prices of every source in rows `first` to `first + n`."""
    if prices is None:
        return None
    catalog = learner.catalog
    if not catalog.priced:
        raise ConfigError("prices of the rows need a learner that was created with prices")
    table = np.tile(catalog.prices, (n, 1))
    for name, given in prices.items():
        if name not in catalog.sources:
            raise ConfigError(f"prices: '{name}' is not a source of this learner")
        column = np.asarray(given, dtype=np.float64)[first : first + n]
        if column.shape != (n,) or not (np.isfinite(column) & (column >= 0.0)).all():
            raise ConfigError(f"the prices of '{name}' must be finite numbers >= 0, one for every row")
        table[:, catalog.sources.index(name)] = column
    return table


def _ignore(t: int) -> None:
    pass


def _join_rows(parts: list[Floats], d: int) -> Floats:
    """Return the rows of all blocks; a single block is not copied."""
    return parts[0] if len(parts) == 1 else np.concatenate([np.empty((0, d)), *parts])


def _blocks(X: Rows, y: Labels, learner: Learner) -> Iterator[tuple[Floats, Floats]]:
    """Yield the stream as pairs of arrays: an array or a frame as one block, an iterable in several."""
    d, y = learner.d, labels_of(y)
    if is_frame(X):
        X = matrix_of(X, learner.names)
    for what, given in (("X", X), ("y", y)):
        if not isinstance(given, Iterable):
            raise ConfigError(f"{what} must be an array, a frame or an iterable, not {given!r}")
    if isinstance(X, np.ndarray):
        yield _checked(X, y if isinstance(y, np.ndarray) else list(y), d)
        return
    rows, labels, size = iter(X), iter(y), max(1, min(_BLOCK, _BYTES // (8 * d)))
    while block := [np.asarray(row) for row in islice(rows, size)]:
        yield _checked(block, list(islice(labels, len(block))), d)
    if next(labels, None) is not None:
        raise ConfigError("y has more labels than X has rows")


def _checked(X: "Floats | list[Floats]", y: "Floats | list[float]", d: int) -> tuple[Floats, Floats]:
    """Return rows and labels as arrays of equal length; raise a `ConfigError` if they do not match."""
    if any(np.iscomplexobj(part) for part in (*(X if isinstance(X, list) else [X]), y)):
        raise ConfigError("X and y must be real numbers; they are complex")
    try:
        rows, labels = np.asarray(X, dtype=np.float64), np.asarray(y, dtype=np.float64)
    except (TypeError, ValueError) as fault:
        raise ConfigError(f"X and y must be numbers: {fault}") from None
    if rows.ndim != 2 or rows.shape[1] != d:
        raise ConfigError(f"X must have {d} columns, one per attribute of the learner; its shape is {rows.shape}")
    if labels.shape != (rows.shape[0],):
        raise ConfigError(f"y must have one label per row of X: {rows.shape[0]} rows, labels of shape {labels.shape}")
    return rows, labels
