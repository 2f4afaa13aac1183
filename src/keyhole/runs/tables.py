"""What a run writes down, as Arrow tables: one row per round, and one per page and attribute."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from .._types import Bools, Floats
from .pages import Purchases, RunPage
from .tally import Tally

if TYPE_CHECKING:
    from ..protocol import Learner

__all__ = ["LEDGER", "ROUNDS", "ledger_of", "rounds_of"]

_NAMES = pa.dictionary(pa.int32(), pa.string())

ROUNDS = pa.schema(
    [
        ("row", pa.int64()),
        ("explored", pa.bool_()),
        ("prediction", pa.float64()),
        ("label", pa.float64()),
        ("loss", pa.float64()),
        ("bought", pa.list_(pa.string())),
        ("bought_after", pa.list_(pa.string())),
        ("unobserved", pa.int32()),
        ("price", pa.float64()),
    ]
)
"""One row per round: `row` counts from 1; `bought_after` are the extras, after the label; `price` is of both."""

LEDGER = pa.schema(
    [
        ("first_row", pa.int64()),
        ("last_row", pa.int64()),
        ("attribute", pa.string()),
        ("bought", pa.int64()),
        ("unobserved", pa.int64()),
        ("clipped", pa.int64()),
        ("price", pa.float64()),
        ("spent", pa.float64()),
        ("weight", pa.float64()),
    ]
)
"""One row per page and attribute that was bought in it or has a weight at its end."""


def rounds_of(page: RunPage, predictions: Floats, names: Sequence[str], prices: Floats) -> pa.Table:
    """The new rows of a page; `predictions` are theirs, in the label's units."""
    before, after, y = page.first_buys, page.extra_buys, page.raw_labels
    missing = np.isnan(page.raw.X[page.new])
    columns = {
        "row": np.arange(y.size, dtype=np.int64) + page.first + page.begun + 1,
        "explored": page.explored[page.new],
        "prediction": predictions,
        "label": y,
        "loss": (predictions - y) ** 2,
        "bought": _lists(before, names),
        "bought_after": _lists(after, names),
        "unobserved": (_sums(before, missing) + _sums(after, missing)).astype(np.int32),
        "price": _sums(before, np.broadcast_to(prices, missing.shape))
        + _sums(after, np.broadcast_to(prices, missing.shape)),
    }
    return pa.table(columns, schema=ROUNDS)


def ledger_of(page: RunPage, tally: Tally, learner: "Learner") -> pa.Table:
    """A complete page's purchases and the weights at its end."""
    bought, unobserved, clipped = tally.on_page
    weights = learner.weights
    i = np.flatnonzero((bought > 0) | (weights != 0))
    columns = {
        "first_row": np.full(i.size, page.first + 1),
        "last_row": np.full(i.size, page.first + page.played),
        "attribute": [tally.names[j] for j in i],
        "bought": bought[i],
        "unobserved": unobserved[i],
        "clipped": clipped[i],
        "price": tally.prices[i],
        "spent": bought[i] * tally.prices[i],
        "weight": weights[i],
    }
    return pa.table(columns, schema=LEDGER)


def _lists(purchases: Purchases, names: Sequence[str]) -> pa.Array:
    """The purchases as a list of names per row."""
    offsets = np.concatenate([[0], np.cumsum(purchases.counts)]).astype(np.int32)
    coded = pa.DictionaryArray.from_arrays(purchases.attributes.astype(np.int32), pa.array(names, pa.string()))
    return pa.ListArray.from_arrays(offsets, coded.cast(pa.string()))


def _sums(purchases: Purchases, per_entry: Floats | Bools) -> Floats:
    """(n,) the sum over a row's purchases of an (n, d) quantity."""
    chosen = per_entry[purchases.rows, purchases.attributes].astype(np.float64)
    sums: Floats = np.bincount(purchases.rows, weights=chosen, minlength=purchases.counts.size).astype(np.float64)
    return sums
