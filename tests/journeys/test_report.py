"""The report in a real browser: offline, on a phone and a desk, light and dark."""

import pytest

from .browser import CHROMIUM, Browser
from .conftest import stream, write

FIGURES = {"frontier", "loss", "predicted", "standardised", "bought", "weights"}  # without prices no money

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed to look at the report")


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    browser = Browser(tmp_path_factory.mktemp("profile"))
    yield browser
    browser.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1200])
def test_the_report_of_a_run_looks_right(typed, tmp_path, browser, width, scheme):
    file = write(tmp_path / "a.parquet", stream(2000))
    typed("run", file, "--target", "y", "-k", "3", "--algorithm", "ds-oslrc", "--out", "out")
    look_at(browser, tmp_path / "out" / "report.html", width, scheme)
    assert browser.value("document.querySelectorAll('figure svg').length") >= 4
    assert browser.value("[...document.querySelectorAll('figure')].every(f => f.querySelector('table tbody tr'))")
    assert {p.stem for p in (tmp_path / "out" / "figures").iterdir()} == FIGURES


def test_the_report_of_a_comparison_looks_right(typed, tmp_path, browser):
    words = ("--algorithms", "fixed-random,vaw", "--rounds", "200", "--seeds", "3", "--out", "a")
    typed("compare", "synthetic:d=8,k=3", *words)
    look_at(browser, tmp_path / "a" / "report.html", 390, "light")
    assert browser.value("document.querySelectorAll('figure svg .mark-area path').length") >= 4  # a band per curve


def test_every_table_is_on_paper(typed, tmp_path, browser):
    file = write(tmp_path / "a.parquet", stream(500))
    typed("run", file, "--target", "y", "-k", "3", "--algorithm", "ds-oslrc", "--out", "out")
    browser.look(tmp_path / "out" / "report.html", 800, media="print")
    hidden = "[...document.querySelectorAll('table')].filter(t => t.getBoundingClientRect().height == 0).length"
    assert browser.value(hidden) == 0
    assert browser.value("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"


def test_the_demo_is_at_most_four_pages_of_paper_and_two_megabytes(typed, tmp_path, browser):
    assert typed("demo", "--out", "demo")[0] == 0
    page = tmp_path / "demo" / "report.html"
    browser.look(page, 800, media="print")
    assert 1 < browser.printed() <= 4
    assert page.stat().st_size < 2_000_000


def look_at(browser, page, width, scheme):
    """No message in the console, nothing fetched, nothing beyond the edge, and the colours that were asked for."""
    browser.look(page, width, scheme)
    assert browser.faults() == []
    assert browser.value("document.documentElement.scrollWidth") <= width
    red = int(browser.value("getComputedStyle(document.body).backgroundColor").split("(")[1].split(",")[0])
    assert (red > 200) == (scheme == "light")
    picture = page.with_suffix(f".{width}.{scheme}.png")
    browser.screenshot(picture)
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert picture.stat().st_size > 20_000  # not a blank page
