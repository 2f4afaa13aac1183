"""Exploration rounds, counted exactly."""

from math import isqrt

import pytest

from keyhole.estimation.exploration_schedule import Rate, Squares, parse


def rounds(schedule, T):
    t, found = schedule.next(0), []
    while t <= T:
        found.append(t)
        t = schedule.next(t)
    return found


def test_squares_are_the_squares():
    assert rounds(Squares(), 10_000) == [s * s for s in range(1, 101)]


@pytest.mark.parametrize("T", [1, 2, 3, 4, 5, 8, 9, 10, 15, 16, 17])
def test_there_are_isqrt_explorations(T):
    assert len(rounds(Squares(), T)) == isqrt(T)


def test_squares_are_exact_where_floating_point_is_not():
    s = 10**9 + 7
    assert Squares().next(s * s - 1) == s * s
    assert Squares().next(s * s) == (s + 1) ** 2


@pytest.mark.parametrize(
    "rate", [Rate(2.0, -1 / 3), Rate(1.0, -0.5), Rate(0.1, 0.0), Rate(4.0, -0.5), Rate(0.01, -0.9)]
)
def test_a_rate_explores_where_its_integral_passes_a_whole_number(rate):
    T = 3000
    slow = [1] + [t for t in range(2, T + 1) if rate._count(t) > rate._count(t - 1)]
    found = rounds(rate, T)
    assert found == sorted(set(slow))
    expected = min(T, rate.c * T ** (1 + rate.p) / (1 + rate.p))
    assert abs(len(found) - expected) <= 2


@pytest.mark.parametrize(
    ("text", "schedule"),
    [
        ("squares", Squares()),
        ("t^(-1/3)", Rate(1.0, -1 / 3)),
        ("2 t^(-1/3)", Rate(2.0, -1 / 3)),
        ("2*t**-0.5", Rate(2.0, -0.5)),
        ("1.5t^-1/2", Rate(1.5, -0.5)),
        (0.05, Rate(0.05, 0.0)),
        (Rate(3.0, -0.25), Rate(3.0, -0.25)),
    ],
)
def test_schedules_are_read(text, schedule):
    assert parse(text) == schedule
    assert parse(str(schedule)) == schedule
