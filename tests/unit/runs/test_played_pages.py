"""The grid of pages, and what a page remembers."""

import numpy as np
import pytest

import keyhole as kh
from keyhole.core.serialization import to_bytes
from keyhole.data.scaling import Scaling
from keyhole.data.streams import Batch, Schema, open_table
from keyhole.runs.played_pages import LARGEST, page_length, page_of, page_start, pages
from keyhole.simulation import play_rows


def starts(rows):
    found = [0]
    while found[-1] < rows:
        found.append(found[-1] + page_length(found[-1]))
    return found


def test_pages_never_cross_a_batch_and_are_about_a_sixtyfourth_of_what_came_before():
    for start in starts(1_000_000):
        n = page_length(start)
        assert start // LARGEST == (start + n - 1) // LARGEST
        assert 64 <= n <= LARGEST
        assert start < 4096 or n == LARGEST or start / 128 <= n <= start / 64


def test_every_row_is_on_the_page_that_page_start_names():
    grid = starts(300_000)
    for row in np.random.default_rng(0).integers(0, 300_000, 500).tolist():
        start = page_start(row)
        assert start in grid
        assert start <= row < start + page_length(start)


def test_pages_of_a_table_are_its_rows_whatever_the_start():
    pd = pytest.importorskip("pandas")
    table = open_table(pd.DataFrame({"a": np.arange(9000.0), "y": -np.arange(9000.0)}))
    for start in (0, 64, 4096, 8192, 8320):
        found = list(pages(table, ["a"], "y", start))
        assert [p.first for p in found] == [s for s in starts(9000) if start <= s < 9000]
        assert np.concatenate([p.X[:, 0] for p in found]).tolist() == list(range(start, 9000))
        assert np.concatenate([p.y for p in found]).tolist() == [-v for v in range(start, 9000)]


def play_page(learner, raw, scaling, begun=0, stop=None):
    """The page from row `begun` on, left after `stop` rows or later."""
    played = []
    for rows in play_rows(learner, scaling.rows(raw.X)[begun:], scaling.labels(raw.y)[begun:], raw.first + begun):
        played.append(rows)
        if stop is not None and sum(p.predictions.size for p in played) >= stop:
            break
    return page_of(raw, begun, played, scaling, labels_before=begun)


@pytest.mark.parametrize("name", ["ds-oslrc", "ds-poslrc"])
def test_a_page_left_in_the_middle_and_continued_is_the_page_played_through(name):
    X, y, _ = kh.streams.synthetic(9, 3, 200, seed=0)
    raw, scaling = Batch(0, X, y), Scaling(Schema.plain("y", [f"x{i}" for i in range(9)]), scaled=True, clip=True)
    k0 = 3 * (name == "ds-poslrc")

    def fresh():
        return kh.make(name, d=9, k=3, k0=k0, seed=0)

    learner = fresh()
    whole = play_page(learner, raw, scaling)
    assert whole.complete
    for stop in (1, 2, 50, 101):
        other = fresh()
        first = play_page(other, raw, scaling, stop=stop)
        rest = play_page(other, raw, scaling, begun=first.last)
        assert (rest.first, rest.last, rest.complete) == (first.last, 200, True)
        assert np.array_equal(np.concatenate([first.predictions, rest.predictions]), whole.predictions)
        bought = np.concatenate([first.before.attributes, rest.before.attributes])
        assert np.array_equal(bought, whole.before.attributes)
        assert to_bytes(other) == to_bytes(learner)


def test_a_page_holds_every_purchase_of_its_rows():
    X, y, _ = kh.streams.synthetic(9, 3, 150, seed=0)
    scaling = Scaling(Schema.plain("y", [f"x{i}" for i in range(9)]), scaled=True, clip=True)
    page = play_page(kh.make("ds-poslrc", d=9, k=3, k0=3, seed=0), Batch(0, X, y), scaling)
    history = kh.play(kh.make("ds-poslrc", d=9, k=3, k0=3, seed=0), X, y)
    pairs = [(i, j) for p in (page.before, page.after) for i, j in zip(p.rows, p.attributes, strict=True)]
    assert len(set(pairs)) == len(pairs)  # nothing is bought twice
    assert np.array_equal(np.bincount([j for _, j in pairs], minlength=9), history.bought)
    values = np.concatenate([page.before.values, page.after.values])
    assert np.array_equal(values, [X[i, j] for i, j in pairs])
    assert set(page.before.counts) == set(page.after.counts) == {3}
