"""A run stopped at any point of its life and resumed, in one process: quick enough to try many points."""

from dataclasses import asdict

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import keyhole as kh
from keyhole import runs
from keyhole._internal.atomic_io import write_json
from keyhole.core.registry.catalogue import from_config
from keyhole.runs.run_config import Settings

RESULTS = ("rounds.parquet", "ledger.parquet", "model.kh", "summary.json")


def publish(folder, data):
    pass


class Silent:
    """A watcher that stops a run at a row, if at all."""

    def __init__(self, stop=None):
        self.stop, self.rows, self.said = stop, 0, []

    def tick(self, rows, totals):
        self.rows = rows

    def look(self, read, size):
        pass

    def say(self, text):
        self.said.append(text)

    def wants_to_stop(self):
        return self.stop is not None and self.rows >= self.stop


@pytest.fixture(params=["ds-oslrc[explore=0.2]", "thrifty"])
def plan(tmp_path, request):
    X, y, _ = kh.streams.synthetic(8, 3, 700, seed=4)
    X[::5, 2] = np.nan
    y[::50] = np.nan
    columns = {f"x{i}": X[:, i] for i in range(8)} | {"y": np.clip(y, -1, 1)}
    pq.write_table(pa.table(columns), tmp_path / "a.parquet")
    return runs.prepare(runs.RunConfig(tmp_path / "a.parquet", "y", k=3, algorithm=request.param))


@pytest.fixture
def whole(plan, tmp_path):
    assert runs.begin(plan, tmp_path / "whole", Silent(), publish)
    return tmp_path / "whole"


def assert_same(folder, whole):
    for name in RESULTS:
        assert (folder / name).read_bytes() == (whole / name).read_bytes(), name


@pytest.mark.parametrize("every", [0.0, 60.0])
def test_stopped_anywhere_and_resumed_is_the_same_run(plan, whole, tmp_path, every):
    for stop in (1, 63, 64, 65, 300, 699, 700):
        folder = tmp_path / f"cut{stop}"
        assert not runs.begin(plan, folder, Silent(stop), publish, every)
        assert runs.resume(folder, Silent(), publish, every)
        assert_same(folder, whole)


def test_stopped_row_after_row_and_resumed_each_time_is_the_same_run(plan, whole, tmp_path):
    folder = tmp_path / "cut"
    ended = runs.begin(plan, folder, Silent(20), publish)
    for stop in range(40, 2000, 20):
        if ended:
            break
        ended = runs.resume(folder, Silent(stop), publish)
    assert ended
    assert_same(folder, whole)


def test_killed_while_the_results_are_written_loses_and_doubles_nothing(plan, whole, tmp_path):
    class Killed(BaseException):
        pass

    def die(folder, data):
        raise Killed

    folder = tmp_path / "cut"
    with pytest.raises(Killed):
        runs.begin(plan, folder, Silent(), die)
    with pytest.raises(Killed):
        runs.resume(folder, Silent(), die)
    assert runs.resume(folder, Silent(), publish)
    assert_same(folder, whole)
    assert runs.resume(folder, Silent(), die) is True


def test_the_books_agree_with_each_other_and_with_playing_the_array(plan, whole, tmp_path):
    table = pq.read_table(tmp_path / "a.parquet")
    X = np.column_stack([table[f"x{i}"].to_numpy() for i in range(8)])
    history = kh.play(from_config(plan.settings.learner), X, table["y"].to_numpy())
    rounds, ledger = (pq.read_table(whole / f"{name}.parquet").to_pydict() for name in ("rounds", "ledger"))
    assert np.allclose(rounds["prediction"], history.predictions, rtol=1e-9, atol=1e-12)
    assert rounds["explored"] == history.explored.tolist()
    bought = {f"x{i}": int(n) for i, n in enumerate(history.bought)}
    for books in (
        {n: sum(n in names for names in rounds["bought"]) for n in bought},
        {n: sum(b for a, b in zip(ledger["attribute"], ledger["bought"], strict=True) if a == n) for n in bought},
    ):
        assert books == bought
    assert sum(ledger["spent"]) == sum(rounds["price"]) == history.bought.sum()
    assert sum(ledger["unobserved"]) == sum(rounds["unobserved"])
    assert sum("x2" in names for names in rounds["bought"][::5]) == sum(rounds["unobserved"])


def test_the_price_of_a_round_is_that_of_all_it_bought_and_money_counts_prices(tmp_path):
    """Extras after the label are paid too, and the ledger's `spent` is in money, not in purchases."""
    X, y, _ = kh.streams.synthetic(9, 3, 300, seed=4)
    columns = {f"x{i}": X[:, i] for i in range(9)} | {"y": np.clip(y, -1, 1)}
    pq.write_table(pa.table(columns), tmp_path / "a.parquet")
    price = {f"x{i}": 0.5 + i for i in range(9)}
    (tmp_path / "prices.toml").write_text("".join(f"{name} = {p}\n" for name, p in price.items()))
    request = runs.RunConfig(
        tmp_path / "a.parquet", "y", 3, k0=3, algorithm="ds-poslrc", prices=tmp_path / "prices.toml"
    )
    data = runs.begin(runs.prepare(request), tmp_path / "out", Silent(), publish)
    rounds, ledger = (pq.read_table(tmp_path / "out" / f"{name}.parquet").to_pydict() for name in ("rounds", "ledger"))
    pairs = zip(rounds["bought"], rounds["bought_after"], strict=True)
    assert all(len(after) == 3 for after in rounds["bought_after"])
    paid = [sum(price[name] for name in (*before, *after)) for before, after in pairs]
    assert np.allclose(rounds["price"], paid)
    assert ledger["price"] == [price[name] for name in ledger["attribute"]]
    spent = [n * price[name] for n, name in zip(ledger["bought"], ledger["attribute"], strict=True)]
    assert np.allclose(ledger["spent"], spent)
    assert np.isclose(sum(paid), sum(ledger["spent"]))
    assert np.isclose(data.summary["spent"], sum(paid))
    assert np.isclose(data.money[-1], sum(paid))
    for facts in (data.summary["attributes"], data.summary["sources"]):
        assert all(np.isclose(f["spent"], f["bought"] * price[name]) for name, f in facts.items())


def test_settings_that_make_no_sense_are_one_sentence(plan, tmp_path):
    """Its digest is right, so somebody wrote it on purpose."""
    path = tmp_path / "run.json"
    for name, wrong in (("scaled", "yes"), ("learner", [1]), ("title", None), ("colour", "red")):
        write_json(path, asdict(plan.settings) | {name: wrong})
        with pytest.raises(kh.ConfigError, match=rf"run\.json cannot be used \({name}: .*; restore it from a copy"):
            Settings.read(path)
