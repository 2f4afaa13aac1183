"""The store of `keyhole serve --demo`: the rows, sources and prices of `keyhole demo`."""

from collections.abc import Callable

from ..store.store import Store
from ..store.transaction import LearnerTransaction

__all__ = ["fill"]

_DATASET, _ROWS, _OPEN_ROUNDS = "nhanes-panels", 2000, 5
_ERROR_COST = 2.0  # US dollars, as in `keyhole demo`


def fill(url: str, say: Callable[[str], None], rows: int = _ROWS) -> None:
    """Play a learner on the first rows of NHANES and leave the last rounds open; do nothing if it already exists."""
    with Store(url) as store:
        if _DATASET in store:
            return
        from .. import data

        found = data.load(_DATASET, fill=False)
        say(f"playing the first {rows} of {len(found.y)} people of NHANES 2017-18 ...")
        offer = {"sources": found.sources, "free": list(found.free), "prices": found.prices}
        note = {"label": found.target, "unit": found.unit, "currency": found.currency}
        stored = store.create(
            _DATASET, "thrifty", names=list(found.names), error_cost=_ERROR_COST, seed=0, note=note, **offer
        )
        place = {name: i for i, name in enumerate(found.names)}

        def play(transaction: LearnerTransaction) -> None:
            for i in range(rows):
                r = transaction.ask(f"person-{i + 1}")
                values = [float(found.X[i, place[name]]) for name in r.names]
                transaction.predict(r, values)
                if i < rows - _OPEN_ROUNDS:
                    transaction.tell(r, values, float(found.y[i]))

        stored.transact(play)
