"""What each amount of money buys: `thrifty` told several worths, beside the best baskets in hindsight.

levels      which worths are played             playing    one of them with one seed: the unit of work
hindsight   the best basket at each price       reading    where the next unit of money stops paying, in words
made        the whole of it, in its folder      result     what comes out, and its file
"""

from .frontier import frontier
from .frontier_result import FILE, Choice, Frontier, Level, Point, frontier_in
from .knee import named

__all__ = ["FILE", "Choice", "Frontier", "Level", "Point", "frontier", "frontier_in", "named"]
