"""`thrifty`, our own learner, described in docs/thrifty.md.

`learner` implements the protocol, `engine_state` holds the arrays of the compiled engine (cpp/thrifty), and `explain`
reports the estimates for each source.
"""

from .explain import Explanation
from .learner import Thrifty

__all__ = ["Explanation", "Thrifty"]
