"""A file with the prices of each row: every figure is what the file says was paid, to the cent, also after a stop."""

import csv
import json
from collections import defaultdict
from decimal import Decimal

import numpy as np
import pyarrow.parquet as pq
import pytest

from keyhole import runs
from keyhole._internal.formatting import Units
from keyhole.data.streams import DataError
from keyhole.errors import ConfigError
from keyhole.experiments import plan
from keyhole.report.run_page import write_report
from keyhole.runs.predict import Frozen

from .test_lifecycle import Silent, assert_same, publish

SCHEMA = """\
ignored = ["id"]
[label]
name = "y"
[money]
currency = "EUR"
[sources.lipids]
price = 12.0
price_column = "lipids_eur"
columns = ["ldl", "hdl"]
[attributes.age]
free = true
[attributes.glucose]
price = 3.0
price_column = "glucose_eur"
[attributes.bmi]
price = 0.1
[attributes.site]
type = "category"
price = 0.3
price_column = "glucose_eur"
"""
USUAL = {"lipids": Decimal(12), "glucose": Decimal(3), "bmi": Decimal("0.1"), "site": Decimal("0.3")}
COLUMN = {"lipids": "lipids_eur", "glucose": "glucose_eur", "site": "glucose_eur"}
SOURCE = {"ldl": "lipids", "hdl": "lipids", "glucose": "glucose", "bmi": "bmi", "site=a": "site", "site=b": "site"}
FIRST = {"lipids": "ldl", "glucose": "glucose", "bmi": "bmi", "site": "site=a"}


def write_rows(path, rows=700, seed=0):
    rng = np.random.default_rng(seed)
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "lipids_eur", "age", "ldl", "hdl", "glucose", "bmi", "site", "glucose_eur", "y"])
        for i in range(rows):
            age, ldl, hdl, glucose, bmi = rng.normal(size=5).round(3).tolist()
            y = round(0.3 * age + ldl + 0.5 * hdl + 0.8 * glucose + 0.1 * rng.normal(), 4)
            lipids_eur = "" if rng.random() < 0.1 else f"{rng.uniform(0, 24):.2f}"
            glucose_eur = "NA" if rng.random() < 0.1 else f"{rng.uniform(0, 6):.2f}"
            site = "ab"[int(rng.integers(2))]
            writer.writerow([i, lipids_eur, age, ldl, hdl, glucose, bmi, site, glucose_eur, y])
    return path


@pytest.fixture
def folder(tmp_path):
    write_rows(tmp_path / "visits.csv")
    (tmp_path / "s.toml").write_text(SCHEMA)
    return tmp_path


def prepare(folder, file="visits.csv", schema="s.toml", **options):
    return runs.prepare(runs.RunConfig(folder / file, "y", schema=schema and folder / schema, **options))


def price_of(row, source):
    """The price of a source in a row of the CSV."""
    cell = row[COLUMN[source]] if source in COLUMN else ""
    return Decimal(cell) if cell not in ("", "NA") else USUAL[source]


def paid(folder, out):
    """The price of each row, and what each page paid for each source, from the file and the purchases alone."""
    with open(folder / "visits.csv") as file:
        visits = list(csv.DictReader(file))
    rounds = pq.read_table(folder / out / "rounds.parquet").to_pylist()
    ledger = pq.read_table(folder / out / "ledger.parquet").to_pylist()
    page_of = {row: e["first_row"] for e in ledger for row in range(e["first_row"], e["last_row"] + 1)}
    totals, pages, counts = [], defaultdict(Decimal), defaultdict(int)
    for played in rounds:
        sources = {SOURCE[name] for name in (*played["bought"], *played["bought_after"])}
        prices = {source: price_of(visits[played["row"] - 1], source) for source in sources}
        totals.append(sum(prices.values(), Decimal(0)))
        for source, price in prices.items():
            pages[page_of[played["row"]], FIRST[source]] += price
            counts[page_of[played["row"]], FIRST[source]] += 1
    return rounds, ledger, totals, pages, counts


def assert_to_the_cent(folder, out):
    rounds, ledger, totals, pages, counts = paid(folder, out)
    for played, price in zip(rounds, totals, strict=True):
        assert played["price"] == pytest.approx(float(price), abs=1e-9)
    for entry in ledger:
        key = entry["first_row"], entry["attribute"]
        assert entry["spent"] == pytest.approx(float(pages[key]), abs=1e-9)
        if counts[key]:
            assert entry["bought"] == counts[key]
            assert entry["price"] == pytest.approx(float(pages[key]) / counts[key], abs=1e-9)
        elif entry["attribute"] in FIRST.values():
            assert entry["price"] == float(USUAL[entry["source"]])
    total = sum(totals, Decimal(0))
    assert sum(entry["spent"] for entry in ledger) == pytest.approx(float(total), abs=1e-6)
    summary = json.loads((folder / out / "summary.json").read_text())
    assert summary["spent"] == pytest.approx(float(total), abs=1e-9)
    assert summary["price_per_row"] == pytest.approx(float(total) / len(rounds), abs=1e-9)
    for source, first in FIRST.items():
        spent = float(sum((p for (_, name), p in pages.items() if name == first), Decimal(0)))
        bought = sum(n for (_, name), n in counts.items() if name == first)
        for facts in (summary["sources"][source], summary["attributes"][first]):
            assert facts["bought"] == bought
            assert facts["spent"] == pytest.approx(spent, abs=1e-9)
            assert facts["price"] == pytest.approx(spent / bought if bought else float(USUAL[source]), abs=1e-9)
    return summary, total


@pytest.mark.parametrize(
    "options",
    [
        {"k": 2},
        {"k": 2, "k0": 1},
        {"error_cost": 8.0},
        {"k": 2, "algorithm": "fixed-random"},
        {"algorithm": "vaw"},
    ],
)
def test_what_was_paid_is_what_the_file_says(folder, options):
    found = runs.begin(prepare(folder, **options), folder / "run", Silent(), write_report)
    summary, total = assert_to_the_cent(folder, "run")
    usual = sum(facts["bought"] * float(USUAL[name]) for name, facts in summary["sources"].items())
    assert abs(usual - float(total)) > 1.0  # the usual prices would be another sum
    assert found.money[-1] == pytest.approx(float(total), abs=1e-6)
    assert summary["baselines"]["everything"]["price"] == pytest.approx(15.4)
    page = (folder / "run" / "report.html").read_text()
    assert f"spent in all</dt><dd>{Units(currency='EUR').money(float(total))}</dd>" in page
    assert "15.40 EUR at usual prices" in page


def test_a_learner_that_plans_with_money_decides_by_the_prices_of_the_row(folder):
    assert runs.begin(prepare(folder, error_cost=16.0), folder / "run", Silent(), publish)
    with open(folder / "visits.csv") as file:
        visits = list(csv.DictReader(file))
    prices = defaultdict(list)
    for played in pq.read_table(folder / "run" / "rounds.parquet").to_pylist()[350:]:
        prices["ldl" in played["bought"]].append(float(price_of(visits[played["row"] - 1], "lipids")))
    assert np.mean(prices[True]) + 3.0 < np.mean(prices[False])  # at the usual prices they would be alike


def test_stopped_anywhere_and_resumed_is_the_same_run(folder):
    plan = prepare(folder, error_cost=8.0, k=2, k0=1)
    assert runs.begin(plan, folder / "whole", Silent(), publish)
    for stop in (1, 63, 64, 65, 101, 300, 699):
        cut = folder / f"cut{stop}"
        assert not runs.begin(plan, cut, Silent(stop), publish, 0.0)
        assert runs.resume(cut, Silent(), publish)
        assert_same(cut, folder / "whole")


def test_played_row_by_row_in_many_sessions_it_is_the_same_run(folder):
    """A learner that plays few rows at a time is stopped within a page again and again."""
    plan = prepare(folder, k=3, algorithm="fixed-random")
    assert runs.begin(plan, folder / "whole", Silent(), publish)
    ended = runs.begin(plan, folder / "cut", Silent(10), publish)
    for stop in range(20, 2000, 10):
        if ended:
            break
        ended = runs.resume(folder / "cut", Silent(stop), publish)
    assert ended
    assert_same(folder / "cut", folder / "whole")
    assert_to_the_cent(folder, "cut")


@pytest.mark.parametrize("limits", [{"budget_per_row": 13.0}, {"total_budget": 2000.0, "expected_rows": 700}])
def test_no_row_and_no_run_costs_more_than_its_budget(folder, limits):
    assert runs.begin(prepare(folder, **limits), folder / "run", Silent(), publish)
    _, _, totals, _, _ = paid(folder, "run")
    assert max(totals) <= limits.get("budget_per_row", np.inf)
    assert 0 < sum(totals) <= limits.get("total_budget", np.inf)
    assert_to_the_cent(folder, "run")


def with_price(path, row, cell):
    """The file with another price of the lipids in a row."""
    lines = path.read_bytes().split(b"\r\n")
    first, _, rest = lines[row].split(b",", 2)
    return b"\r\n".join([*lines[:row], b",".join([first, cell, rest]), *lines[row + 1 :]])


def test_a_run_stops_at_a_wrong_price_and_continues_when_only_that_is_corrected(folder):
    visits = write_rows(folder / "visits.csv", rows=4300)
    good, wrong, other = visits.read_bytes(), with_price(visits, 4200, b"-1"), with_price(visits, 7, b"99.5")
    assert runs.begin(prepare(folder, k=2), folder / "whole", Silent(), publish)
    visits.write_bytes(wrong)
    with pytest.raises(DataError, match=r"visits\.csv: row 4200 .*'lipids_eur': -1 is not a price") as caught:
        runs.begin(prepare(folder, k=2), folder / "run", Silent(), publish)
    assert (caught.value.row, caught.value.column) == (4200, "lipids_eur")
    visits.write_bytes(other)  # a price that has been paid
    with pytest.raises(ConfigError, match="changed since this run began"):
        runs.resume(folder / "run", Silent(), publish)
    visits.write_bytes(good)
    assert runs.resume(folder / "run", Silent(), publish)
    assert_same(folder / "run", folder / "whole")


def test_a_wrong_price_in_the_first_rows_is_named_before_the_run_begins(folder):
    (folder / "visits.csv").write_bytes(with_price(folder / "visits.csv", 3, b"dear"))
    with pytest.raises(DataError, match=r"row 3 \(without the header\), column 'lipids_eur': 'dear' is not a number"):
        prepare(folder, k=2)


def test_a_model_of_a_plan_pays_the_prices_of_new_rows(folder):
    found = plan(folder / "visits.csv", schema=folder / "s.toml", error_cost=8.0, out=folder / "plan")
    assert found.prices == {name: float(price) for name, price in USUAL.items()}
    request = runs.RunConfig(folder / "visits.csv", None, model=folder / "plan" / "model.kh")
    assert runs.begin(runs.prepare(request), folder / "run", Silent(), publish)
    assert_to_the_cent(folder, "run")
    assert 'price_column = "lipids_eur"' in (folder / "run" / "schema.toml").read_text()
    text = (folder / "visits.csv").read_text().replace("lipids_eur", "lipids_usd")
    (folder / "other.csv").write_text(text)
    with pytest.raises(DataError, match="there is no column 'lipids_eur'"):
        runs.prepare(runs.RunConfig(folder / "other.csv", None, model=folder / "plan" / "model.kh"))


def test_past_rows_need_no_prices(folder):
    lines = list(csv.reader((folder / "visits.csv").read_text().splitlines()))
    keep = [j for j, name in enumerate(lines[0]) if not name.endswith("_eur")]
    with open(folder / "past.csv", "w", newline="") as file:
        csv.writer(file).writerows([line[j] for j in keep] for line in lines)
    for past in ("past.csv", "visits.csv"):
        out = f"run-{past}"
        assert runs.begin(prepare(folder, past=folder / past, error_cost=8.0), folder / out, Silent(), publish)
        assert json.loads((folder / out / "summary.json").read_text())["past_rows"] == 700


def test_the_mean_is_the_usual_price_where_none_is_stated(folder):
    (folder / "s.toml").write_text(SCHEMA.replace("price = 12.0\n", ""))
    asked = prepare(folder, k=2)
    with open(folder / "visits.csv") as file:
        cells = [row["lipids_eur"] for row in csv.DictReader(file) if row["lipids_eur"]]
    mean = sum(map(Decimal, cells)) / len(cells)
    assert asked.schema.source_prices["lipids"] == pytest.approx(float(mean), abs=1e-12)
    assert runs.begin(asked, folder / "run", Silent(), publish)
    assert f"price = {asked.schema.source_prices['lipids']!r}" in (folder / "run" / "schema.toml").read_text()


def test_the_format_of_numbers_and_the_words_for_missing_hold_for_prices_too(folder):
    text = "glucose;glucose_eur;y\n" + "".join(f"{i},5;{'ask' if i % 2 else '1.000,25'};{i},0\n" for i in range(100))
    (folder / "german.csv").write_text(text)
    (folder / "g.toml").write_text('[label]\nname = "y"\n[attributes.glucose]\nprice_column = "glucose_eur"\n')
    asked = prepare(folder, "german.csv", "g.toml", numbers="1.234,56", na=["ask"], k=1)
    assert asked.schema.source_prices == {"glucose": 1000.25}
    (folder / "p.toml").write_text("glucose = 2.0\n")
    asked = prepare(folder, "german.csv", "g.toml", numbers="1.234,56", na=["ask"], prices=folder / "p.toml", k=1)
    assert runs.begin(asked, folder / "run", Silent(), publish)
    assert pq.read_table(folder / "run" / "rounds.parquet")["price"].to_pylist() == [1000.25, 2.0] * 50


def test_options_that_take_a_source_away_take_its_prices_away(folder):
    (folder / "p.toml").write_text("lipids = 7.5\n")
    asked = prepare(folder, k=1, free=["glucose"], ignored=["site"], prices=folder / "p.toml")
    assert asked.schema.price_columns == ("lipids_eur",)
    assert asked.schema.source_prices == {"lipids": 7.5, "bmi": 0.1}
    assert runs.begin(asked, folder / "run", Silent(), publish)


def test_a_learner_that_takes_no_prices_refuses_them(folder):
    lines = list(csv.reader((folder / "visits.csv").read_text().splitlines()))
    keep = [lines[0].index(name) for name in ("glucose", "glucose_eur", "bmi", "y")]
    with open(folder / "plain.csv", "w", newline="") as file:
        csv.writer(file).writerows([line[j] for j in keep] for line in lines)
    text = '[label]\nname = "y"\n[attributes.glucose]\nprice = 3.0\nprice_column = "glucose_eur"\n[attributes.bmi]\n'
    (folder / "plain.toml").write_text(text)
    with pytest.raises(ConfigError, match="'support-bandit' takes no prices, and the schema has prices that differ"):
        prepare(folder, "plain.csv", "plain.toml", k=1, algorithm="support-bandit")


def test_a_frozen_model_predicts_at_the_usual_price_with_or_without_the_column(folder):
    assert runs.begin(prepare(folder, k=2), folder / "run", Silent(), publish)
    frozen = Frozen.read(folder / "run" / "model.kh")
    assert frozen.price == pytest.approx(sum(float(USUAL[s]) for s in {SOURCE[n] for n in frozen.names if n != "age"}))
