"""Names stand beside their dots, and cover neither each other nor a dot."""

import itertools
import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest

from keyhole import figures
from keyhole.figures.frontier_chart import Box, crossings, label_box, place_labels

WIDTH, HEIGHT, FONT = 480.0, 300.0, 11.0


def boxes(labels):
    return [label_box(label.x, label.y, label.text, label.align, FONT) for label in labels]


def distance(dot, label):
    return float(np.hypot(label.x - dot[0], label.y - dot[1]))


@pytest.mark.parametrize("seed", range(6))
def test_sixteen_names_in_one_corner_do_not_cover_each_other_or_a_dot(seed):
    rng = np.random.default_rng(seed)
    places = np.column_stack([10 + 250 * rng.random(16), 120 + 150 * rng.random(16)])
    dots = [((float(x), float(y)), f"a name {i} of dots", "#000") for i, (x, y) in enumerate(places)]
    labels = place_labels(dots, [], WIDTH, HEIGHT, FONT)
    assert [label.text for label in labels] == [text for _, text, _ in dots]
    found = boxes(labels)
    assert all(a.overlap(b) == 0 for a, b in itertools.combinations(found, 2))
    assert all(box.overlap(Box(x - 3, y - 3, x + 3, y + 3)) == 0 for box in found for x, y in places)
    assert all(
        box.left >= -1 and box.right <= WIDTH + 1 and box.top >= -1 and box.bottom <= HEIGHT + 1 for box in found
    )
    for (dot, _, _), label in zip(dots, labels, strict=True):
        far = distance(dot, label) >= 20
        assert (label.leader is not None) == far  # a name that is not close is led to


def test_a_lonely_name_stands_close_and_an_empty_one_nowhere():
    (label,) = place_labels([((200.0, 100.0), "alone", "#000"), ((20.0, 20.0), "", "#000")], [], WIDTH, HEIGHT, FONT)
    assert distance((200.0, 100.0), label) < 10
    assert label.leader is None


def test_names_at_the_edges_stay_inside():
    corners = [(0.0, 0.0), (WIDTH, 0.0), (0.0, HEIGHT), (WIDTH, HEIGHT)]
    labels = place_labels([(corner, "a long enough name", "#000") for corner in corners], [], WIDTH, HEIGHT, FONT)
    assert [label.align for label in labels] == ["left", "right", "left", "right"]
    for box in boxes(labels):
        assert box.overlap(Box(0, 0, WIDTH, HEIGHT)) == pytest.approx((box.right - box.left) * (box.bottom - box.top))


def test_every_dot_of_a_frontier_has_its_name_beside_it():
    """Names and dots are read off the picture, in its own pixels."""
    prices, errors = (0.0, 1.0, 3.0, 4.0, 8.0), (8.0, 6.2, 4.3, 4.15, 4.09)
    way = [figures.Stop(p, e, f"basket {p:g}") for p, e in zip(prices, errors, strict=True)]
    prices, errors = (0.01, 1.8, 3.5, 6.3, 62.0), (8.1, 6.1, 4.6, 4.5, 4.5)
    beside = [figures.Stop(p, e, f"run {p:g}", word=f"worth {p:g}") for p, e in zip(prices, errors, strict=True)]
    root = ET.fromstring(figures.frontier("money", way, beside, "money", "error").svg)
    texts, dots = {}, {}
    for element in root.iter():
        place = re.fullmatch(r"translate\(([-\d.]+),([-\d.]+)\)", element.get("transform", ""))
        if place is not None and element.text:
            texts[element.text] = (float(place[1]), float(place[2]))
        if place is not None and " for " in element.get("aria-label", ""):
            dots[element.get("aria-label").split(":")[0]] = (float(place[1]), float(place[2]))
    for stop in (*way, *beside):
        x, y = dots[stop.name]
        across, down = texts[stop.name if stop.word is None else stop.word]
        assert np.hypot(across - x, down - y) < 80


def test_a_leader_crosses_a_box_if_one_of_its_points_is_inside():
    """Against a thousand points of each leader; also upright and level ones, and ones that end before the box."""
    rng = np.random.default_rng(3)
    leaders = rng.uniform(0, 100, (40, 4))
    leaders[:5, 2], leaders[5:10, 3] = leaders[:5, 0], leaders[5:10, 1]
    corners = rng.uniform(0, 70, (30, 2))
    boxes = np.hstack([corners, corners + rng.uniform(5, 30, (30, 2))])
    points = leaders[:, None, :2] + np.linspace(0, 1, 1000)[:, None] * (leaders[:, None, 2:] - leaders[:, None, :2])
    inside = (points[:, None] > boxes[:, None, :2]) & (points[:, None] < boxes[:, None, 2:])
    assert (crossings(leaders, boxes) == inside.all(axis=3).any(axis=2)).mean() > 0.99
    assert not crossings(np.array([[0.0, 0.0, 4.0, 4.0]]), np.array([[5.0, 5.0, 9.0, 9.0]])).any()
    assert not crossings(np.array([[9.5, 9.5, 12.0, 12.0]]), np.array([[5.0, 5.0, 9.0, 9.0]])).any()
    assert not crossings(np.full((1, 4), np.nan), boxes).any()
