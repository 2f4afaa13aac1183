"""A laboratory's file from diagnose to run, frontier, predict and compare; every number is computed apart."""

import csv
import json
import re
import shlex

import numpy as np
import pyarrow.parquet as pq
import pytest

import keyhole as kh
from keyhole._internal.formatting import join_names
from tests.messy_clinic import FREE, HEADER, LIPIDS, PANELS, PRICES, ROWS, filled_in, write_messy_clinic

from .conftest import typed  # noqa: F401


def final_prediction_error(numbers, sources):
    """Of least squares on these sources and the free columns, a gap at its column's mean: computed with numpy alone."""
    panels = {"lipid": LIPIDS, "cbc": ("cbc_wbc", "cbc_hb", "cbc_plt")}
    columns = [numbers["age"], numbers["male"]]
    for source in sources:
        if source == "site":  # three values, so two weights beside the constant
            columns += [numbers["site"] == 0, numbers["site"] == 1]
        else:
            columns += [numbers[name] for name in panels.get(source, (source,))]
    X = np.column_stack([np.where(np.isnan(c), np.nanmean(c), c) for c in columns])
    V, y = np.column_stack([np.ones(ROWS), X]), numbers["sbp"]
    mse = np.mean((y - V @ np.linalg.lstsq(V, y, rcond=None)[0]) ** 2)
    p = X.shape[1]
    return float(mse * (ROWS + p + 1) / (ROWS - p - 1))


def reported(error):
    """An error as pages write it."""
    return f"{error:.3g}"


@pytest.fixture
def clinic(typed, tmp_path):  # noqa: F811
    """The file, diagnosed, and its schema with what diagnose asks for."""
    numbers = write_messy_clinic(tmp_path / "clinic.csv")
    code, said, errors = typed("diagnose", "clinic.csv", "--target", "sbp")
    assert code == 0, errors
    schema = tmp_path / "clinic.schema.toml"
    schema.write_text(filled_in(schema.read_text()))
    return numbers, said


def test_diagnose_names_what_is_wrong_and_what_to_do(clinic, typed, tmp_path):  # noqa: F811
    numbers, said = clinic
    assert len(HEADER) == 27
    assert "3 000 rows, 27 columns" in said
    assert "'potassium': 12 cells are not numbers: \"hemolyzed\" 12" in said
    assert "'crp': 8 cells are not numbers: \"<0.3\" 8" in said
    assert "proposed for 'visit': date" in said
    assert "proposed for 'income': numbers written as 1,234.56" in said
    gone = int(np.isnan(numbers["lipid_ldl"]).sum())
    assert f"perhaps one order: {join_names(LIPIDS)} (missing in the same {gone} rows)" in said
    schema = kh.streams.Schema.read(tmp_path / "clinic.schema.toml")
    assert schema.source_prices == {**PANELS, **PRICES}
    assert schema.free == ("age", "sex=f", "sex=m")
    table = kh.streams.open_table(tmp_path / "clinic.csv", schema)
    X = np.concatenate([b.X for b in table.batches(["income", "crp", "potassium", "glucose", "visit"], "sbp")])
    for j, name in enumerate(("income", "crp", "potassium", "glucose")):
        assert np.array_equal(X[:, j], numbers[name], equal_nan=True)
    assert np.array_equal(X[:, 4], numbers["visit"] - numbers["visit"][0])
    last = shlex.split(said.splitlines()[-1].removeprefix(" next: keyhole "))
    assert typed(*last)[0] == 0
    assert (tmp_path / "runs" / "clinic" / "report.html").exists()


def test_run_frontier_predict_and_compare_say_what_is_computed_apart(clinic, typed, tmp_path):  # noqa: F811
    numbers, _ = clinic
    y, schema = numbers["sbp"], ("--schema", "clinic.schema.toml")
    code, said, errors = typed("run", "clinic.csv", *schema, "--error-cost", "0.5", "--out", "run")
    assert code == 0, errors
    summary = json.loads((tmp_path / "run" / "summary.json").read_text())
    rounds = pq.read_table(tmp_path / "run" / "rounds.parquet").to_pydict()

    # The first row is paid for, and its error is left out.
    loss = (np.array(rounds["prediction"]) - y) ** 2
    assert np.isnan(rounds["loss"][0])
    assert summary["mse"] == pytest.approx(loss[1:].mean(), rel=1e-12)
    assert summary["spent"] == pytest.approx(sum(rounds["price"]))
    prices = {**PRICES, **PANELS}
    home = dict.fromkeys(LIPIDS, "lipid") | dict.fromkeys(("cbc_wbc", "cbc_hb", "cbc_plt"), "cbc")
    for bought, price in list(zip(rounds["bought"], rounds["price"], strict=True))[::97]:
        ordered = {home.get(n, n.split("=")[0]) for n in bought}
        assert price == pytest.approx(sum(prices[s] for s in ordered))
    page = (tmp_path / "run" / "report.html").read_text()
    assert "its error is left out" in page
    assert f"{100 * (1 - summary['mse'] / y.var()):.0f} %" in page
    for told in (
        f"{reported(loss[1:].mean() ** 0.5)} mmHg",
        f"{sum(rounds['price']) / ROWS:.2f} EUR",
        f"{sum(rounds['price']):,.0f} EUR".replace(",", " "),
        f"{ROWS * sum(prices.values()) - sum(rounds['price']):,.0f} EUR".replace(",", " "),
    ):
        assert f"<dd>{told}" in page

    # One error in hindsight on every page: of nothing, of what is bought, of everything.
    nothing, everything = (final_prediction_error(numbers, s) for s in ((), (*PRICES, *PANELS)))
    assert summary["baselines"]["nothing"]["hindsight"] == pytest.approx(nothing, rel=1e-6)
    # Gaps are filled with the mean so far, not with that of the whole file.
    assert summary["baselines"]["everything"]["hindsight"] == pytest.approx(everything, rel=5e-4)
    advised = re.match(r"Buy ([^:]+): ([\d.]+) EUR a row, typical error ([\d.]+) mmHg in hindsight", summary["verdict"])
    names = re.split(", | and ", advised[1])
    assert float(advised[2]) == pytest.approx(sum(prices[n] for n in names))
    assert advised[3] == reported(final_prediction_error(numbers, names) ** 0.5)
    assert {"bmi", "waist"} & set(names)

    code, said, errors = typed("frontier", "clinic.csv", *schema, "--seeds", "2", "--levels", "4", "--out", "f")
    assert code == 0, errors
    found = kh.experiments.frontier_in(tmp_path / "f")
    assert found.hindsight[0].mse == pytest.approx(summary["baselines"]["nothing"]["hindsight"], rel=1e-12)
    for basket in [*found.hindsight, *(b for level in found.levels for b in level.baskets)]:
        assert basket.price == pytest.approx(sum(prices[n] for n in basket.sources))
        assert basket.mse == pytest.approx(final_prediction_error(numbers, basket.sources), rel=5e-4)
    advised = re.match(r"Buy (.+?): ([\d.]+) EUR a row, typical error ([\d.]+) mmHg in hindsight", found.headline)
    basket = found.levels[found.stop].basket
    assert float(advised[2]) == pytest.approx(basket.price)
    assert advised[3] == reported(basket.typical_error)
    page = (tmp_path / "f" / "report.html").read_text()
    for level in found.levels:
        error = final_prediction_error(numbers, level.basket.sources) ** 0.5
        cells = re.search(rf"<td[^>]*>{level.basket.price:.2f}</td><td>([\d.]+)</td><td>([\d.]+)( or less)?</td>", page)
        assert float(cells[1]) == pytest.approx(error, rel=1e-3)
        assert float(cells[2]) <= float(cells[1])

    # What makes the label is found at each price, and nothing that only looks useful.
    chain = {(), ("bmi",), ("bmi", "salt_diet"), ("bmi", "salt_diet", "lipid")}
    assert chain <= {point.sources for point in found.hindsight} <= chain | {("bmi", "lipid")}

    code, said, errors = typed("predict", "run/model.kh", "clinic.csv", "--id", "patient_id", "--out", "p.csv")
    assert code == 0, errors
    with open(tmp_path / "p.csv") as file:
        predicted = np.array([float(row["prediction"]) for row in csv.DictReader(file)])
    # The model is as good as least squares on what it buys, but for rounding to whole mmHg.
    hindsight = final_prediction_error(numbers, summary["basket"])
    assert np.mean((predicted - y) ** 2) == pytest.approx(hindsight, rel=0.02)

    names = "thrifty,fixed-random,vaw"
    words = ("compare", "clinic.csv", *schema, "--algorithms", names, "-k", "3", "--seeds", "2", "--out", "c")
    code, said, errors = typed(*words)
    assert code == 0, errors
    results = pq.read_table(tmp_path / "c" / "results.parquet").to_pylist()
    assert {r["algorithm"]: r["reference"] for r in results} == {"thrifty": False, "fixed-random": False, "vaw": True}
    assert "Of 2 learners with k = 3, thrifty has the smallest regret" in said
    vaw = [r["price_per_row"] for r in results if r["algorithm"] == "vaw"]
    assert vaw == pytest.approx([sum(prices.values())] * 2)
    assert all(8 < r["loss"] ** 0.5 < 14 for r in results)  # noise of 9, spread of 15
    page = (tmp_path / "c" / "report.html").read_text()
    for name, shown in (("thrifty", "thrifty"), ("fixed-random", "fixed-random"), ("vaw", "vaw (reference)")):
        mine = [r for r in results if r["algorithm"] == name]
        error, regret = (np.median([f(r) for r in mine]) for f in (lambda r: r["loss"] ** 0.5, lambda r: r["regret"]))
        line = re.search(rf"<td[^>]*>{re.escape(shown)}</td>(.*?)</tr>", page)[1]
        cells = re.findall(r"<td>([-\d. ]+)", line)
        assert float(cells[0].replace(" ", "")) == pytest.approx(regret, rel=1e-3)
        assert f"<td>{error:.4g}".rstrip("0") in line


def test_predict_warns_of_impossible_values(clinic, typed, tmp_path):  # noqa: F811
    numbers, _ = clinic
    words = ("--schema", "clinic.schema.toml", "-k", "3", "--out", "run")
    assert typed("run", "clinic.csv", *words)[0] == 0
    with open(tmp_path / "clinic.csv") as file:
        rows = list(csv.DictReader(file))
    bought = json.loads((tmp_path / "run" / "summary.json").read_text())["support"]
    name = next(n for n in ("bmi", "waist") if n in bought)
    rows[0][name] = "2700"
    with open(tmp_path / "new.csv", "w", newline="") as file:
        writer = csv.DictWriter(file, HEADER)
        writer.writeheader()
        writer.writerows(rows)
    code, said, _ = typed("predict", "run/model.kh", "new.csv", "--id", "patient_id", "--out", "p.csv")
    assert code == 0
    low, high = numbers[name].min(), numbers[name].max()
    assert f"'{name}' is outside its range {low:g}..{high:g} in 1 of 3000 values (largest seen 2700): clipped" in said
    with open(tmp_path / "p.csv") as file:
        found = list(csv.DictReader(file))
    assert [row["patient_id"] for row in found[:2]] == ["P00000", "P00001"]
    error = np.array([float(row["prediction"]) for row in found[1:]]) - numbers["sbp"][1:]
    assert np.sqrt(np.mean(error**2)) < 9.6
    assert FREE == ("age", "sex")
