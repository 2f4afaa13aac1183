"""Values as the wire has them, and back."""

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING
from urllib.parse import quote

import numpy as np

from ..._internal.formatting import from_iso
from ...core.round import Round
from ...errors import ProtocolError, StateError
from ...store.models import PredictionEvent, StoredRound

if TYPE_CHECKING:
    from ..._internal.typing import Floats
    from ...core.learner import Values

__all__ = ["by_name", "entry", "plain", "quoted"]


def entry(row: object) -> StoredRound:
    """A round that the server described."""
    if not isinstance(row, dict):
        raise StateError("the server's answer is not a round; is the address right?")
    prediction, values = row["last_prediction"], row["values"]
    return StoredRound(
        id=row["id"],
        index=row["index"],
        key=row["key"],
        status=row["status"],
        round=Round.from_plain(row["round"]),
        sources=tuple(row["sources"]),
        price=row["price"],
        asked_at=from_iso(row["asked_at"]),
        deadline=None if row["deadline"] is None else from_iso(row["deadline"]),
        last_prediction=None if prediction is None else PredictionEvent(**prediction),
        values=None if values is None else {n: math.nan if x is None else x for n, x in values.items()},
        told_at=None if row["told_at"] is None else from_iso(row["told_at"]),
        label=row["label"],
    )


def by_name(values: "Values", names: Sequence[str]) -> dict[str, float | None]:
    """Values for the wire, which knows no NaN."""
    try:
        pairs = {str(name): float(x) for name, x in values.items()} if isinstance(values, Mapping) else {}
        given: Floats = np.array([] if isinstance(values, Mapping) else values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise ProtocolError(f"the values must be numbers, one each for {', '.join(names)}") from None
    if not isinstance(values, Mapping):
        if given.shape != (len(names),):
            raise ProtocolError(f"expected {len(names)} values, one each for {', '.join(names)}; got {given.shape}")
        pairs = dict(zip(names, given.tolist(), strict=True))
    if any(math.isinf(x) for x in pairs.values()):
        raise ProtocolError("a value is infinite; pass NaN for one that was not observed")
    return {name: None if math.isnan(x) else x for name, x in pairs.items()}


def plain(value: object) -> object:
    """An argument as JSON has it."""
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value if isinstance(value, bool | int | float | str) else str(value)


def quoted(text: str) -> str:
    """A name as part of a path."""
    return quote(str(text), safe="")
