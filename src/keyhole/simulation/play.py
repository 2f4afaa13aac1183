"""Play a stream: give a learner exactly the values it bought, and record the outcome."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from typing import TypeAlias

import numpy as np

from .._core import count_extremes
from .._internal.dataframes import is_frame, labels_of, matrix_of
from .._internal.typing import Floats
from ..core.learner import Learner, PlayedRows
from ..core.probability_calibration import ProbabilityCalibrator
from ..core.sources import LARGEST_PRICE
from ..core.validation import LARGEST, LEAST, MOST, clip_magnitude
from ..errors import ConfigError, ProtocolError
from .history import History, PurchaseCounts

__all__ = ["Progress", "play", "play_rows"]

Progress: TypeAlias = Callable[[int], None]

Rows: TypeAlias = "Floats | Iterable[Iterable[float]]"
Labels: TypeAlias = "Floats | Iterable[float]"

# An iterable is collected into blocks of at most this many rows or bytes, so that blocks can be played compiled.
_BLOCK, _BYTES = 4096, 1 << 24
# Rows given to a learner at a time: small enough to show progress and to react to an interrupt.
_ROWS = 4096


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
    purchases, blocks, first = PurchaseCounts(learner.d), [_Columns(np.empty(0))], 0
    kept = []
    for rows, labels in _blocks(X, y, learner):
        columns = _Columns(labels)
        with learner.locked():
            t = 0
            for played in play_rows(
                learner, rows, labels, first, _row_prices(prices, learner, first, labels.size), compiled
            ):
                columns.fill(t, played, learner)
                purchases.add(first + t, played.predictions.size, played.attributes, played.sizes.sum(axis=1))
                t += played.predictions.size
                if progress is not None:
                    progress(first + t)
        first += labels.size
        blocks.append(columns)
        if keep:
            kept.append(rows)
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
        rows=_join_rows(kept, learner.d) if keep else None,
        n_past_rows=learner.n_past_rows,
    )


class _Columns:
    """The columns of a history for one block of rows."""

    def __init__(self, labels: Floats) -> None:
        n = labels.size
        self.labels, self.predictions, self.levels, self.price = labels, np.empty(n), np.empty(n), np.zeros(n)
        self.explored = np.empty(n, dtype=np.bool_)

    def fill(self, start: int, played: PlayedRows, learner: Learner) -> None:
        """Enter the rows played from `start` on."""
        part = slice(start, start + played.predictions.size)
        self.predictions[part], self.explored[part], self.levels[part] = played[:3]
        if played.price is not None:
            self.price[part] = played.price
        elif learner.catalog.priced:
            self.price[part] = learner.catalog.price_of_rows(played.attributes, played.sizes.sum(axis=1))


def play_rows(
    learner: Learner,
    rows: Floats,
    labels: Floats,
    first: int = 0,
    prices: Floats | None = None,
    compiled: bool = True,
) -> Iterator[PlayedRows]:
    """Play a block of rows and yield the outcome of one or more rows at a time: here alone a learner meets data.

    The calls that a learner receives depend only on its state and on where the block ends. A caller that leaves the
    block after any of these calls, and plays the remaining rows later, even in another process, thus gets the same
    outcome bit for bit. The caller holds the learner's lock.

    Parameters
    ----------
    rows, labels
        (n, d) values and (n,) labels as the learner sees them.
    first
        The number of rows before this block, for messages.
    prices
        (n, sources) the price of each source in each row; None means the usual prices.
    compiled
        If False, every row is played through the protocol, which checks it. A block with a value or label that the
        protocol rejects is always played this way, so that the error names the row.
    """
    checked = None if not compiled or (learner.binary and _has_other_labels(labels)) else _as_passed_on(rows, labels)
    t = 0
    while t < labels.size:
        if checked is None:
            played = _by_protocol(
                learner, rows[t], float(labels[t]), first + t + 1, None if prices is None else prices[t]
            )
        else:
            part = slice(t, t + _ROWS)
            # The compiled core reads rows that lie one after the other; a frame keeps its columns so.
            X, y = (np.ascontiguousarray(one[part]) for one in checked)
            played = _by_learner(learner, X, y, None if prices is None else prices[part])
        t += played.predictions.size
        yield played


def _has_other_labels(labels: Floats) -> bool:
    """Return whether any label is not 0, 1 or NaN."""
    return bool(((labels != 0.0) & (labels != 1.0) & ~np.isnan(labels)).any())


def _as_passed_on(rows: Floats, labels: Floats) -> tuple[Floats, Floats] | None:
    """Return rows and labels as the protocol would pass them on, or None if it would reject any of them."""
    pieces = (rows[i : i + _ROWS].ravel("K") for i in range(0, len(rows), _ROWS))
    beyond, extreme = np.sum(
        [count_extremes(np.ascontiguousarray(x), LARGEST, MOST, LEAST) for x in (labels, *pieces)], axis=0
    )
    if beyond:
        return None
    return (clip_magnitude(rows), clip_magnitude(labels)) if extreme else (rows, labels)


def _by_learner(learner: Learner, rows: Floats, labels: Floats, prices: Floats | None) -> PlayedRows:
    """Play as many rows as the learner takes at a time, without the checks of the protocol, which have passed."""
    played = learner._play_block(rows, labels, prices)
    if isinstance(learner.calibrator, ProbabilityCalibrator):
        scores = played.predictions
        probabilities = learner.calibrator.run(scores, labels[: scores.size])
        played = played._replace(predictions=probabilities, levels=np.full(scores.size, np.nan))
    return played


def _by_protocol(learner: Learner, row: Floats, y: float, number: int, prices: Floats | None) -> PlayedRows:
    """Play one round through the protocol; `number` is that of the row, for messages."""
    named = None if prices is None else dict(zip(learner.catalog.sources, prices.tolist(), strict=True))
    r = learner.ask(prices=named)
    values, extra, level = row[r.attributes], learner.ask_more(r), np.nan
    try:
        prediction = learner.predict(r, values)
        if np.isnan(y):
            learner.abandon(r)
        else:
            learner.tell(r, values, y, extra_attributes=extra, extra_values=row[extra])
            level = np.nan if learner.binary else learner._level()
    except ProtocolError as fault:
        learner.abandon(r)
        raise ProtocolError(f"row {number}: {fault}") from None
    return PlayedRows(
        predictions=np.array([prediction]),
        explored=np.array([r.kind == "explore"]),
        levels=np.array([level]),
        attributes=np.concatenate([r.attributes, extra])[None],
        sizes=np.array([[r.attributes.size, extra.size]]),
        price=None if prices is None else np.array([r.price]),
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
        if column.shape != (n,) or not ((column >= 0.0) & (column <= LARGEST_PRICE)).all():
            raise ConfigError(f"the prices of '{name}' must be numbers from 0 to {LARGEST_PRICE:g}, one for every row")
        table[:, catalog.sources.index(name)] = column
    return table


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
