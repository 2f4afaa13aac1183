"""Many rows at once, predicted with a learner as it is: nothing is asked of it, and nothing learnt."""

from collections.abc import Iterable, Sequence

import numpy as np

from ._types import Floats
from .errors import ConfigError
from .frames import is_frame, matrix_of

__all__ = ["Batches"]


class Batches:
    """`predict_rows`, for every learner."""

    names: tuple[str, ...]

    def predict_rows(self, X: "Floats | Iterable[Sequence[float]]") -> Floats:
        """(n,) what the learner says now of each row, as in a round that exploits; reads its support and nothing else.

        X is a pandas, polars or pyarrow frame, matched by name, which needs only the columns of the support (and those
        that are known), or an (n, d) array, whose other columns may be NaN. NaN in the support takes no part in its
        row. A row's prediction does not depend on the rows beside it, and the learner does not change.

        >>> import keyhole as kh
        >>> X, y, w = kh.streams.synthetic(d=10, k=3, T=500, seed=0)
        >>> learner = kh.make("thrifty", d=10, k=3, seed=0)
        >>> _ = kh.play(learner, X, y)
        >>> bool(abs(learner.predict_rows(X) - X @ w).max() < 0.1)
        True
        """
        from .frozen import Frozen

        frozen = Frozen(self)  # type: ignore[arg-type]  # a learner: it alone is made of this
        if is_frame(X):
            return frozen.predict(matrix_of(X, frozen.names, only=False))
        return frozen.predict(_columns(X, frozen.attributes.tolist(), len(self.names)))


def _columns(X: "Floats | Iterable[Sequence[float]]", wanted: list[int], d: int) -> Floats:
    """The wanted columns of an array, or of rows; the others are not looked at, be they numbers or not."""
    try:
        rows = X if isinstance(X, np.ndarray) else [list(row) for row in X]
        width = rows.shape[1:] if isinstance(rows, np.ndarray) else {(len(row),) for row in rows} or {(d,)}
        if width not in ((d,), {(d,)}):
            raise ConfigError(f"X must have {d} columns, one per attribute of the learner")
        picked = rows[:, wanted] if isinstance(rows, np.ndarray) else [[row[i] for i in wanted] for row in rows]
        return np.asarray(picked, dtype=np.float64).reshape(len(rows), len(wanted))
    except (TypeError, ValueError) as fault:
        if isinstance(fault, ConfigError):
            raise
        raise ConfigError(f"X must be numbers: {fault}") from None
