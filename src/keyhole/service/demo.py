"""Something to look at: the demo's people, played into a store."""

from collections.abc import Callable

from ..store.desk import Desk
from ..store.store import Store

__all__ = ["fill"]

_PEOPLE, _WAITING, _BUDGET = 2000, 5, 5


def fill(url: str, say: Callable[[str], None], people: int = _PEOPLE) -> None:
    """A learner that has met `people` of NHANES; a few wait for their label. A store that has it is left alone."""
    with Store(url) as store:
        if "nhanes" in store:
            return
        from .. import data

        found = data.load("nhanes")
        say(f"playing the first {people} of {len(found.y)} people of NHANES 2017-18 ...")
        note = {"label": found.target, "unit": "mmHg"}
        prices = None if found.prices is None else [float(p) for p in found.prices]
        names = [str(name) for name in found.names]
        icu = store.create("nhanes", "thrifty", names=names, k=_BUDGET, prices=prices, seed=0, note=note)
        place = {name: i for i, name in enumerate(names)}

        def play(desk: Desk) -> None:
            for i in range(people):
                _, r = desk.ask(f"person-{i + 1}", None, None)
                values = [float(found.X[i, place[name]]) for name in r.names]
                desk.predict(r, values)
                if i < people - _WAITING:
                    desk.tell(r, values, float(found.y[i]), None, None)

        icu.transact(play)
