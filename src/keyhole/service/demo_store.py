"""Something to look at: the people, orders and prices of `keyhole demo`, played into a store."""

from collections.abc import Callable

from ..store.store import Store
from ..store.transaction import LearnerTransaction

__all__ = ["fill"]

_SET, _PEOPLE, _WAITING = "nhanes-panels", 2000, 5
# What one unit of squared error is worth there, in dollars: as in `keyhole demo`.
_WORTH = 2.0


def fill(url: str, say: Callable[[str], None], people: int = _PEOPLE) -> None:
    """A learner that has met `people` of NHANES; a few wait for their label. A store that has it is left alone."""
    with Store(url) as store:
        if _SET in store:
            return
        from .. import data

        found = data.load(_SET, fill=False)
        say(f"playing the first {people} of {len(found.y)} people of NHANES 2017-18 ...")
        offer = {"sources": found.sources, "free": list(found.free), "prices": found.prices}
        note = {"label": found.target, "unit": found.unit, "currency": found.currency}
        stored = store.create(_SET, "thrifty", names=list(found.names), error_cost=_WORTH, seed=0, note=note, **offer)
        place = {name: i for i, name in enumerate(found.names)}

        def play(transaction: LearnerTransaction) -> None:
            for i in range(people):
                _, r = transaction.ask(f"person-{i + 1}", None, None)
                values = [float(found.X[i, place[name]]) for name in r.names]
                transaction.predict(r, values)
                if i < people - _WAITING:
                    transaction.tell(r, values, float(found.y[i]), None, None)

        stored.transact(play)
