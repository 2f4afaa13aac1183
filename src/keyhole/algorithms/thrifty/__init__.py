"""`thrifty`, our own learner, in one room; docs/thrifty.md has the maths.

    state     what is known, as records          memory    the same as something that can be saved
    acquire   what to buy                        explore   who may borrow a place
    predict   y_hat from the bought values       update    what a label teaches
    fit       least squares on the support       score     what every other attribute would be worth
    select    who joins, leaves, is swapped      judging   who should, and who gets a loan
    room      what is worth its price where      basket    the best of all baskets there
              money is short (knapsack, ranking)
    adopt     the trial becomes the support      explain   what is known, in words
    fresh     what a row says of those outside   steps     a round's steps, from Python
    idle      who is not bought again            block     many rows in one compiled call

state <- fit, score <- adopt <- select; state <- predict <- update; all of them <- steps, block <- learner.
"""

from .explain import Explanation
from .learner import Thrifty

__all__ = ["Explanation", "Thrifty"]
