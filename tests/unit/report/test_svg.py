"""Axes and figures."""

import xml.etree.ElementTree as ET

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from keyhole.report.html import standalone, table
from keyhole.report.svg import Axis, Curve, heat_map, line_chart

SVG = "{http://www.w3.org/2000/svg}"
numbers = st.floats(-1e9, 1e9)


@given(st.lists(numbers, min_size=1, max_size=20))
def test_an_axis_holds_its_values_and_has_round_ticks_within(values):
    axis = Axis.fit(np.array(values), 0.0, 100.0)
    assert all(-0.1 <= axis(v) <= 100.1 for v in values)
    ticks = axis.ticks()
    assert 2 <= len(ticks) <= 12
    assert all(-0.1 <= axis(t) <= 100.1 for t in ticks)


@given(st.lists(st.floats(1e-6, 1e6), min_size=2, max_size=20))
def test_a_logarithmic_axis_holds_its_values(values):
    axis = Axis.fit(np.array(values), 0.0, 100.0, log=True)
    assert all(-0.1 <= axis(v) <= 100.1 for v in values)
    assert len(axis.ticks()) >= 2


@pytest.mark.parametrize(
    "y", [[1.0, 2.0, 3.0], [0.01, 5.0, 90.0], [0.0, 0.0, 0.0], [np.nan, 1.0, 2.0], [-1.0, 0.0, 4.0]]
)
def test_a_chart_is_well_formed_and_has_its_curves(y):
    x, y = np.array([1.0, 2.0, 3.0]), np.array(y)
    curves = [Curve("a <b>", y, y - 1, y + 1), Curve("c", y)]
    for text in (line_chart("t & t", x, curves, "row", "mse", [("all", 2.0)]),):
        root = ET.fromstring(standalone(text))
        assert len(root.findall(f"{SVG}polyline")) == 2
        assert len(root.findall(f"{SVG}polygon")) == 1
        assert root.get("aria-label") == "t & t"


def test_a_heat_map_has_a_cell_per_purchase():
    share = np.array([[1.0, 0.5, 0.0], [0.0, 0.0, 0.2]])
    root = ET.fromstring(heat_map("bought", np.array([10.0, 20.0, 30.0]), ["age", "<bmi>"], share, "row"))
    assert [cell.get("opacity") for cell in root.findall(f"{SVG}rect")] == ["1.000", "0.500", "0.200"]
    assert "<bmi>" in [t.text for t in root.findall(f"{SVG}text")]


def test_text_in_a_table_is_text():
    assert "<script>" not in table(["<script>"], [["<script>alert(1)</script>"]])
