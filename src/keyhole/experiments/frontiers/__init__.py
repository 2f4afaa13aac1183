"""What each amount of money buys: `thrifty` at several error costs, beside the best baskets in hindsight."""

from .frontier import frontier
from .frontier_result import FILE, Choice, Frontier, Level, Point, frontier_in
from .knee import named

__all__ = ["FILE", "Choice", "Frontier", "Level", "Point", "frontier", "frontier_in", "named"]
