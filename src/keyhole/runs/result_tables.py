"""What a run writes down, as Arrow tables: one row per round, and one per page and attribute."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from .._internal.typing import Bools, Floats
from .stream_blocks import Purchases, RunPage
from .totals import Totals

__all__ = ["CODED", "LEDGER", "ROUNDS", "ledger_of", "named", "rounds_of"]

_NAMES = pa.dictionary(pa.int32(), pa.string())

ROUNDS = pa.schema(
    [
        ("row", pa.int64()),
        ("explored", pa.bool_()),
        ("prediction", pa.float64()),
        ("label", pa.float64()),
        ("loss", pa.float64()),
        ("bought", pa.list_(_NAMES)),
        ("bought_after", pa.list_(_NAMES)),
        ("unobserved", pa.int32()),
        ("price", pa.float64()),
    ]
)
"""One row per round: `row` counts from 1; `bought_after` are the extras, after the label; `price` is of both.
`loss` is NaN where there is no label, and in the first labelled row unless the schema states the label's centre."""

CODED = pa.schema([(f.name, pa.list_(pa.int32()) if pa.types.is_list(f.type) else f.type) for f in ROUNDS])
"""The same with the attributes' numbers in place of their names: quicker to write, until a run is finished."""

LEDGER = pa.schema(
    [
        ("first_row", pa.int64()),
        ("last_row", pa.int64()),
        ("attribute", pa.string()),
        ("source", pa.string()),
        ("bought", pa.int64()),
        ("unobserved", pa.int64()),
        ("clipped", pa.int64()),
        ("price", pa.float64()),
        ("spent", pa.float64()),
        ("weight", pa.float64()),
    ]
)
"""One row per page and attribute that was bought in it or has a weight at its end. `source` is what was ordered, "" for
what is known; the money for a panel stands once, at its first attribute, so that `spent` adds up."""


def rounds_of(page: RunPage, predictions: Floats, prices: Floats, counts: Bools) -> pa.Table:
    """The new rows of a page, `CODED`; `predictions` are theirs, in the label's units; `counts`: those with a loss."""
    before, after, y = page.first_buys, page.extra_buys, page.raw_labels
    columns = {
        "row": np.arange(y.size, dtype=np.int64) + page.first + page.begun + 1,
        "explored": page.explored[page.new],
        "prediction": predictions,
        "label": y,
        "loss": np.where(counts, (predictions - y) ** 2, np.nan),
        "bought": _lists(before),
        "bought_after": _lists(after),
        "unobserved": (before.sums(np.isnan(before.values)) + after.sums(np.isnan(after.values))).astype(np.int32),
        "price": before.sums(prices[before.attributes]) + after.sums(prices[after.attributes]),
    }
    return pa.table(columns, schema=CODED)


def ledger_of(page: RunPage, totals: Totals, weights: Floats) -> pa.Table:
    """A complete page's purchases and the weights at its end."""
    bought, unobserved, clipped = totals.on_page
    i = np.flatnonzero((bought > 0) | (weights != 0))
    columns = {
        "first_row": np.full(i.size, page.first + 1),
        "last_row": np.full(i.size, page.first + page.played),
        "attribute": [totals.names[j] for j in i],
        "source": [totals.catalog.sources[s] if s >= 0 else "" for s in totals.catalog.of[i]],
        "bought": bought[i],
        "unobserved": unobserved[i],
        "clipped": clipped[i],
        "price": totals.prices[i],
        "spent": bought[i] * totals.prices[i],
        "weight": weights[i],
    }
    return pa.table(columns, schema=LEDGER)


def named(coded: pa.Table, names: Sequence[str]) -> pa.Table:
    """`CODED` as `ROUNDS`; the table is in one chunk."""
    texts = pa.array(names, pa.string())
    for i, field in enumerate(ROUNDS):
        if pa.types.is_list(field.type):
            lists = coded.column(i).chunk(0)
            words = pa.DictionaryArray.from_arrays(lists.values, texts)
            coded = coded.set_column(i, field, pa.ListArray.from_arrays(lists.offsets, words))
    return coded


def _lists(purchases: Purchases) -> pa.Array:
    """The purchases as a list of attributes per row."""
    offsets = np.zeros(purchases.counts.size + 1, dtype=np.int32)
    np.cumsum(purchases.counts, out=offsets[1:])
    return pa.ListArray.from_arrays(offsets, purchases.attributes.astype(np.int32))
