"""Pictures: the numbers beside them are theirs, they follow the page, and names cannot break out of them."""

import re
import xml.etree.ElementTree as ET
from importlib import resources

import numpy as np
import pytest

from keyhole import KeyholeWarning, figures
from keyhole.figures import figure as figure_module
from keyhole.figures import theme

X = np.array([10.0, 100.0, 1000.0, 20000.0])
LINES = [
    figures.Curve("ours", np.array([4.0, 3.0, 2.0, 1.5])),
    figures.Curve("theirs", X, low=X / 2, high=X * 2),
]


def made():
    share = np.array([[0.0, 0.5, 1.0, 1.0], [1.0, 0.5, 0.0, 0.0]])
    return [
        figures.curves("loss", X, LINES, "row", "mse", levels=[("nothing", 5.0)]),
        figures.steps("alarms", X, LINES[:1], "row", "alarms"),
        figures.heat("bought", X, ["age", "bmi"], share, "row"),
        figures.bars("weights", ["age", "bmi"], np.array([1.0, -1.0]), "weight", X[:2] - 11, X[:2]),
        figures.scatter("said", X, X / 2, "predicted", "actual", ["a", "b", "c", "d"], diagonal=True, joined=True),
    ]


@pytest.mark.parametrize("figure", made(), ids=lambda f: f.title)
def test_a_figure_is_sound_xml_without_scripts_outside_addresses_or_variables(figure):
    root = ET.fromstring(figure.svg)
    assert not [e for e in root.iter() if e.tag.endswith("script")]
    assert not re.findall(r'(?:href|src)="(?!#)', figure.svg)
    assert 'fill="#1c2126"' in figure.svg
    assert "var(" not in figure.svg
    assert root.get("aria-label") == figure.title
    assert figure.svg == figure.svg


@pytest.mark.parametrize("figure", made(), ids=lambda f: f.title)
def test_a_figure_brings_its_numbers(figure):
    assert all(len(row) == len(figure.head) for row in figure.rows)
    assert figure.rows


def test_the_table_has_the_numbers_of_the_lines():
    figure = made()[0]
    assert figure.head == ["row", "ours", "theirs", "theirs 10 %", "theirs 90 %"]
    assert figure.rows[1] == ["100", "3", "100", "50", "200"]


def test_a_value_is_shown_where_a_pointer_rests():
    assert "<title>ours: mse 3 at row 100</title>" in made()[0].svg


def test_an_axis_is_logarithmic_where_it_spans_two_decades():
    wide = figures.curves("wide", X, [figures.Curve("a", X)], "row", "mse")
    grown = figures.curves("grown", X, [figures.Curve("a", X)], "row", "money", cumulative=True)
    assert ">row (log scale)<" in wide.svg
    assert ">mse (log scale)<" in wide.svg
    assert "log scale" not in grown.svg


def test_an_axis_that_goes_beyond_letters_has_none():
    def ticks(largest):
        x = np.geomspace(1e4, largest, 4)
        drawn = ET.fromstring(figures.curves("", x, [figures.Curve("a", x)], "T", "regret").svg)
        return {node.text for node in drawn.iter("{http://www.w3.org/2000/svg}text")} - {"T", "regret"}

    assert {"1M", "100k"} <= ticks(1e7)
    assert {"1e+10", "1e+20"} <= ticks(1e20)
    assert not any(label[-1] in "kMGT" for label in ticks(1e20))


def test_names_are_data_never_markup():
    evil = "</title><script>alert('x')</script>"
    for figure in (
        figures.curves(evil, X, [figures.Curve(evil, X)], evil, evil, levels=[(evil, 2.0)]),
        figures.bars(evil, [evil], np.ones(1), evil),
    ):
        root = ET.fromstring(figure.svg)
        assert not [e for e in root.iter() if e.tag.endswith("script")]


def test_long_names_are_never_cut():
    name = "a_very_long_attribute_name_that_would_not_fit_anywhere_at_all"
    assert name in figures.heat("bought", X, [name], np.ones((1, 4)), "row").svg


def test_a_saved_figure_brings_its_colours(tmp_path):
    path = tmp_path / "loss.svg"
    made()[0].save(path)
    text = path.read_text()
    ET.fromstring(text)
    dark = text.index("prefers-color-scheme:dark")
    assert 'svg [fill="#0072b2"]{fill:var(--c0)}' in text[dark:]
    assert "var(" not in text[:dark]


def test_the_page_of_the_service_repaints_its_figures_in_dark_mode_too():
    css = resources.files("keyhole.service") / "static" / "page.css"
    assert theme.repainted() in css.read_text()


def test_where_a_number_is_missing_the_rest_is_drawn(recwarn):
    """A run of one row has no error but its own: NaN is no JSON, and once cost the whole picture."""
    way = [figures.Stop(0.0, np.nan, "nothing")]
    nothing = figures.frontier("money", way, [*way, figures.Stop(2.0, 3.0, "this run")], "money", "error")
    assert "not drawn" not in nothing.svg
    assert not recwarn.list


def test_what_nobody_can_see_is_written_out():
    evil = "age\x1b[2J\u202etxt"
    for figure in (
        figures.curves(evil, X, [figures.Curve(evil, X), LINES[0]], evil, evil, levels=[(evil, 2.0)]),
        figures.heat(evil, X, [evil], np.ones((1, 4)), evil),
        figures.frontier(evil, [figures.Stop(0.0, 2.0, evil)], [figures.Stop(1.0, 1.0, evil)], evil, evil),
    ):
        ET.fromstring(figure.svg)
        assert not {"\x1b", "\u202e"} & set(figure.svg)
        assert "\\u202e" in figure.svg


def test_levels_that_would_meet_keep_their_names_apart():
    drawn = figures.curves("t", X, LINES[:1], "row", "mse", levels=[("best", 2.0), ("everything", 2.001)])
    places = dict.fromkeys(("best", "everything"))
    for name in places:
        places[name] = float(re.search(rf'translate\([\d.]+,([\d.]+)\)"[^>]*>{name}<', drawn.svg)[1])
    assert abs(places["best"] - places["everything"]) >= 12


def test_a_reference_is_grey_whatever_its_place():
    lines = [figures.Curve(f"a{i}", X) for i in range(8)] + [figures.Curve("vaw", X, reference=True)]
    drawn = figures.curves("t", X, lines, "row", "regret", end_names=True).svg
    fills = {name: re.search(rf'<text[^>]*fill="([^"]+)"[^>]*>{name}<', drawn)[1] for name in ("a0", "a5", "vaw")}
    assert fills == {"a0": "#0072b2", "a5": "#7f3b08", "vaw": "#565e66"}
    assert drawn.count('stroke="#565e66"') == 1  # the line itself


def test_a_native_fault_costs_a_picture_and_nothing_else(monkeypatch):
    """What the library aborts its process for; it is escaped before, so here it is not."""
    monkeypatch.setattr(figure_module, "_harmless", lambda spec: spec)
    wrong = figures.curves("wrong", X, LINES, "row\x00", "mse")
    with pytest.warns(KeyholeWarning, match=r"^the figure 'wrong' could not be drawn \(.*gave up\); its numbers"):
        svg = wrong.svg
    assert "not drawn: see the numbers below" in svg
    assert ET.fromstring(svg).get("aria-label") == "wrong"
    assert "ours: mse 3 at row 100" in made()[0].svg  # another process draws the next one


def test_a_chart_that_makes_no_sense_costs_no_more(monkeypatch):
    monkeypatch.setattr(figure_module, "_harmless", lambda spec: {"mark": "nonsense"})
    with pytest.warns(KeyholeWarning, match="could not be drawn"):
        assert "not drawn" in made()[0].svg


def test_a_drawing_that_does_not_end_is_given_up(monkeypatch):
    figure_module._renderer.stop()
    monkeypatch.setattr(figure_module, "_CHILD", "import time; print('ready', flush=True); time.sleep(600)")
    monkeypatch.setattr(figure_module, "_LONGEST", 0.2)
    with pytest.raises(figure_module.NotDrawn):
        figure_module.draw("{}")
