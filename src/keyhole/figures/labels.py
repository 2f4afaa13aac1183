"""Label placement: a name beside each dot, where it covers neither another name nor a dot."""

from collections.abc import Sequence
from math import cos, pi, sin
from typing import NamedTuple

__all__ = ["Box", "Label", "label_box", "place_labels"]

# Pixels: half the size of a dot, the distances of a label from its dot that are tried, and the one from which on a
# thin line leads from the dot to its label.
_DOT = 5.0
_DISTANCES = (9.0, 14.0, 22.0, 32.0, 44.0, 58.0, 74.0, 92.0, 112.0, 134.0)
_LED = 20.0
# Mean width of a character of a sans-serif font, and the height of a line, per size of the font.
_WIDE, _TALL = 0.56, 1.15
# What a square pixel of overlap costs, and a pixel of distance: a far label is better than a covered one.
_OVER_LABEL, _OVER_DOT, _OVER_LINE, _OUTSIDE = 1000.0, 400.0, 4.0, 1000.0
# What it costs that a leader runs through a label or a dot.
_CROSSED = 150.0
_ROUNDS = 3


class Box(NamedTuple):
    """A rectangle in pixels; y grows downwards."""

    left: float
    top: float
    right: float
    bottom: float

    def overlap(self, other: "Box") -> float:
        """The area that two boxes share."""
        wide = min(self.right, other.right) - max(self.left, other.left)
        tall = min(self.bottom, other.bottom) - max(self.top, other.top)
        return wide * tall if wide > 0 and tall > 0 else 0.0


class Label(NamedTuple):
    """A text at (x, y): the middle of its left edge, of itself or of its right edge, as `align` says."""

    x: float
    y: float
    text: str
    align: str
    colour: str
    leader: tuple[tuple[float, float], tuple[float, float]] | None
    """From the dot to the text, where they are not close."""


def label_box(x: float, y: float, text: str, align: str, font: float) -> Box:
    """The rectangle that a text fills, by the mean width of characters."""
    wide, tall = _WIDE * font * len(text), _TALL * font
    left = x - {"left": 0.0, "center": wide / 2, "right": wide}[align]
    return Box(left, y - tall / 2, left + wide, y + tall / 2)


def place_labels(
    dots: Sequence[tuple[tuple[float, float], str, str]],
    lines: Sequence[Box],
    width: float,
    height: float,
    font: float,
) -> list[Label]:
    """Place the label of each dot ((x, y), text, colour), in the order given; an empty text has none.

    Of sixteen directions and ten distances the one with the least cost is taken: overlap with other labels, with dots,
    with `lines` (thin boxes) and with leaders, and what lies outside the plot, then distance. The first round takes one
    label after the other; two more rounds move each to where it is best beside all others.
    """
    points = [Box(x - _DOT, y - _DOT, x + _DOT, y + _DOT) for (x, y), _, _ in dots]
    drawn = [Box(b.left - 1, b.top - 1, b.right + 1, b.bottom + 1) for b in lines]
    plot = Box(0.0, 0.0, width, height)

    def box_of(label: Label) -> Box:
        return label_box(label.x, label.y, label.text, label.align, font)

    def cost(label: Label, distance: float, others: Sequence[Label]) -> float:
        box, boxes = box_of(label), [box_of(other) for other in others]
        outside = (box.right - box.left) * (box.bottom - box.top) - box.overlap(plot)
        crossed = sum(_crosses(label.leader, other) for other in (*boxes, *points))
        crossed += sum(_crosses(other.leader, box) for other in others)
        return (
            _OVER_LABEL * sum(map(box.overlap, boxes))
            + _OVER_DOT * sum(map(box.overlap, points))
            + _OVER_LINE * sum(map(box.overlap, drawn))
            + _OUTSIDE * outside
            + _CROSSED * crossed
            + _CROSSED / 5 * sum(_crosses(label.leader, other) for other in drawn)
            + distance
        )

    placed: dict[int, Label] = {}
    for _ in range(_ROUNDS):
        for i, ((x, y), text, colour) in enumerate(dots):
            if text:
                others = [label for j, label in placed.items() if j != i]
                places = _around(x, y, text, colour)
                costs = [cost(label, distance, others) for label, distance in places]
                placed[i] = places[costs.index(min(costs))][0]
    return list(placed.values())


def _crosses(leader: tuple[tuple[float, float], tuple[float, float]] | None, box: Box) -> bool:
    """Whether a leader runs through a box, looked at in twenty places."""
    if leader is None:
        return False
    (x0, y0), (x1, y1) = leader
    shares = [i / 20 for i in range(1, 20)]
    places = [(x0 + share * (x1 - x0), y0 + share * (y1 - y0)) for share in shares]
    return any(box.left < x < box.right and box.top < y < box.bottom for x, y in places)


def _around(x: float, y: float, text: str, colour: str) -> list[tuple[Label, float]]:
    """Where a label may stand, with its distance: nearer first, then above right, right, below right, and so on."""
    around: list[tuple[Label, float]] = []
    for distance in _DISTANCES:
        for turn in (-45, 0, 45, -135, 180, 135, -90, 90, -20, 20, -70, 70, -110, 110, -160, 160):
            dx, dy = distance * cos(turn * pi / 180), distance * sin(turn * pi / 180)
            align = "center" if abs(dx) < 1e-6 else "left" if dx > 0 else "right"
            stop = 2.0 if align != "center" else 8.0
            ends = [(x + share * dx, y + share * dy) for share in (1.5 * _DOT / distance, 1 - stop / distance)]
            leader = (ends[0], ends[1]) if distance >= _LED else None
            around.append((Label(x + dx, y + dy, text, align, colour, leader), distance))
    return around
