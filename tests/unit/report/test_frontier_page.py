"""The page of a frontier: its advice is the frontier's, and every number stands with the basket it belongs to."""

import html
import re

import pytest

from keyhole._internal.output_folder import Folder
from keyhole.experiments.frontier_result import Choice, Frontier, Level, Point
from keyhole.report import frontier_cells, frontier_notes, write_frontier


def level(error_cost, price, mse, *baskets):
    best = Point(baskets[0].price, baskets[0].mse, baskets[0].sources, True, 0.0)
    return Level(error_cost, price, mse, mse, mse, {}, baskets, best)


@pytest.fixture
def found():
    """Three levels and one left out; the stop is the second, whose two seeds disagree between equals."""
    nothing, salt = Choice((), 0.0, 144.0, 2), Choice(("salt_diet",), 1.5, 121.0, 2)
    bmi, waist = Choice(("bmi",), 1.0, 100.0, 1), Choice(("waist",), 1.05, 101.0, 1)
    every = Choice(("bmi", "salt_diet", "lipids"), 14.5, 81.0, 2)
    levels = (level(0.01, 0.2, 150.0, nothing), level(0.1, 4.77, 108.16, bmi, waist), level(9.0, 20.0, 90.0, every))
    points = tuple(Point(b.price, b.mse, b.sources, True, 0.0) for b in (nothing, bmi, every))
    prices = {"bmi": 1.0, "waist": 1.05, "salt_diet": 1.5, "lipids": 12.0}
    left_out = (level(0.2, 5.0, 110.0, salt),)
    return Frontier(
        "c.csv", "bp", 400, 2, prices, (), levels, left_out, points, 1, "Buy bmi or waist: so.", "More.", "EUR", "mmHg"
    )


def test_each_line_has_the_price_and_the_error_of_the_basket_it_names(found):
    head, rows = frontier_cells(found)
    assert head[:2] == ["a row costs (EUR)", "error in hindsight (mmHg)"]
    assert head[-1] == "basket"
    assert [(row[0], row[1], row[-1]) for row in rows] == [
        ("0.00", "12.00", "nothing"),
        ("1.00 or 1.05", "10.00 or 10.05", "bmi or waist"),
        ("14.50", "9.000", "bmi, salt_diet and lipids"),
    ]
    assert [row[4:6] for row in rows] == [["0.20", "12.25"], ["4.77", "10.40"], ["20.00", "9.487"]]


def test_what_is_left_out_is_said(found):
    rule, note = frontier_notes(found)
    assert rule.startswith("The recommended basket is the knee of the curve")
    assert rule.endswith("; if none lies below it, the best.")
    assert note.startswith(
        "Not shown: error cost 0.2. There thrifty ended with salt_diet (1.50 EUR a row, error 11.0 mmHg), which costs"
    )


def test_the_page_gives_the_advice_and_every_dot_its_name(found, tmp_path):
    folder = Folder.claim(tmp_path / "f", "frontier")
    write_frontier(folder, found, "keyhole frontier c.csv")
    text = html.unescape((tmp_path / "f" / "report.html").read_text())
    assert found.headline in text
    assert found.details in text
    own = re.search(r'<tr[^>]*class="?own.*?</tr>', text, re.S)[0]
    assert "bmi or waist" in own
    assert "Not shown: error cost 0.2." in text
    svg = html.unescape((tmp_path / "f" / "figures" / "frontier.svg").read_text())
    names = ["advised: bmi", "advised: waist", "nothing", "+ salt_diet and lipids"]
    names += [f"error cost {one.error_cost:.3g}" for one in found.levels]
    assert not [name for name in names if f">{name}</text>" not in svg]
