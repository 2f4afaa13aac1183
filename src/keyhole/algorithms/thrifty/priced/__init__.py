"""`thrifty` with money: sources, known attributes, worth, a total; docs/money.md has the maths.

    state     what is known, as records             memory    the same as something that can be saved
    choose    what a row buys                       predict   y_hat from the bought values
    update    what a label teaches                  estimate  means, pooled covariances, least squares
    gram      the Gram of a new support             judge     what every source adds
    beside    a source that is not in the fit       calm      how much its rows can say
    belief    spike and slabs                       value     what more looks are worth
    determined  who says nothing of its own
    select    who joins, leaves, is swapped         pace      what may be spent, and the exchange rate
    explain   what is known, in words               steps     entries into the compiled parts

state <- estimate, predict <- update, gram, judge <- select <- learner.
"""

from .explain import SourceExplanation
from .learner import Priced

__all__ = ["Priced", "SourceExplanation"]
