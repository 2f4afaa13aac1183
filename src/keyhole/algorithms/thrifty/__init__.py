"""`thrifty`, our own learner: `learner` speaks the protocol, `engine_state` holds the arrays that the engine in
cpp/thrifty works on, `explain` says what it knows of a source. docs/thrifty.md has the algorithm."""

from .explain import Explanation
from .learner import Thrifty

__all__ = ["Explanation", "Thrifty"]
