"""The label guard, worked out by hand: how far a label may be off, and how that adapts."""

import math

import pytest

from keyhole._core import thrifty as core

LABELS = {"n_labels": 100, "y_var": 4.0, "y_low": -3.0, "y_high": 5.0}  # six standard deviations are 12


def test_before_eight_labels_everything_is_believed():
    guard = core.LabelGuard()
    assert guard.tolerance(7, 4.0, -3.0, 5.0) == 1e300
    assert guard.tolerance(8, 4.0, 2.0, 2.0) == 1e300  # all alike


def test_with_few_labels_the_tolerance_is_three_ranges():
    guard = core.LabelGuard()
    for n in (8, 29):
        assert guard.tolerance(n, 4.0, -3.0, 5.0) == 24.0
        assert guard.clip(-1e9, n, 4.0, -3.0, 5.0) == -24.0
        guard = core.LabelGuard()


def test_with_more_labels_it_is_six_standard_deviations():
    guard = core.LabelGuard()
    assert guard.tolerance(**LABELS) == 12.0
    for off in (-12.0, -0.5, 0.0, 11.9, 12.0):
        assert guard.clip(off, **LABELS) == off
    assert guard.clip(12.1, **LABELS) == 12.0
    assert guard.tolerance(**LABELS) == 24.0


def test_the_tolerance_doubles_where_it_is_exceeded_and_halves_in_two_hundred_rows():
    guard, tolerance = core.LabelGuard(), 12.0
    for _ in range(4):  # half of what exceeds six deviations is learnt, in logarithms
        assert guard.clip(1e6, **LABELS) == pytest.approx(math.sqrt(tolerance * 12.0), rel=1e-12)
        tolerance *= 2.0
        assert guard.tolerance(**LABELS) == pytest.approx(tolerance, rel=1e-12)
    for t in range(1, 1001):
        guard.clip(0.0, **LABELS)
        assert guard.tolerance(**LABELS) == pytest.approx(max(12.0, tolerance * 0.5 ** (t / 200.0)), rel=1e-12)
