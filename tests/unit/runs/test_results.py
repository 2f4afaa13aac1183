"""Statistics of a run's records: the sums over parts are those over the whole."""

from dataclasses import fields

import numpy as np
import pyarrow as pa
import pytest

from keyhole.runs.results import LedgerSums, RoundSums, stretches

NAMES = ("a", "b", "c")


def rounds(n):
    rng = np.random.default_rng(0)
    label = rng.integers(0, 9, n).astype(float)
    label[::7] = np.nan
    bought = [list(rng.permutation(NAMES)[: rng.integers(0, 4)]) for _ in range(n)]
    return pa.table(
        {
            "row": np.arange(1, n + 1),
            "explored": rng.random(n) < 0.3,
            "prediction": rng.integers(0, 9, n).astype(float),
            "label": label,
            "loss": np.where(np.isnan(label), np.nan, rng.integers(0, 9, n)),
            "price": rng.integers(0, 5, n).astype(float),
            "bought": pa.array(bought, pa.list_(pa.string())),
        }
    )


@pytest.mark.parametrize("cut", [1, 640, 930, 999])
def test_sums_over_two_parts_are_those_over_the_whole(cut):
    table, borders = rounds(1000), stretches(1000)
    whole = RoundSums.of(table, borders, NAMES)
    parts = RoundSums.of(table.slice(0, cut), borders, NAMES) + RoundSums.of(table.slice(cut), borders, NAMES)
    for sums in (parts, RoundSums.zero(borders, 3) + whole):
        for field in fields(RoundSums):
            assert np.array_equal(getattr(sums, field.name), getattr(whole, field.name)), field.name
    late = table["bought"].to_pylist()[900:]
    assert whole.late_bought.tolist() == [sum(name in row for row in late) for name in NAMES]
    assert whole.late_rows == 100


def test_the_ledger_is_summed_in_stretches_and_keeps_the_weights_at_their_ends():
    borders = np.array([0, 128, 192])
    table = pa.table(
        {"last_row": [64, 128, 192], "attribute": ["a", "a", "c"], "bought": [3, 4, 5], "weight": [1, 2, 3.0]}
    )
    for cut in (0, 1, 2):
        sums = LedgerSums.of(table.slice(0, cut), borders, NAMES) + LedgerSums.of(table.slice(cut), borders, NAMES)
        assert sums.bought.tolist() == [[7, 0], [0, 0], [0, 5]]
        assert sums.weights.tolist() == [[2, 0], [0, 0], [0, 3]]
