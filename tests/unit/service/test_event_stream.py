"""Listeners to the changes of a store."""

import asyncio
import json
from types import SimpleNamespace
from typing import ClassVar

import pytest

from keyhole.service.event_stream import EventPoller, changes
from keyhole.service.server import Settings
from keyhole.store.models import StoreUnavailable


class Counting:
    """A store that changes between any two polls, and sometimes does not answer."""

    n, away = 0, False

    def heads(self):
        self.n += 1
        if self.away:
            raise StoreUnavailable("it is away")
        return {"icu": self.n}


def played(scene):
    """What a scene comes to; one that hangs is ended."""
    return asyncio.run(asyncio.wait_for(scene(), 300))


def test_listeners_that_leave_do_not_disturb_the_others():
    """A listener whose connection breaks is cancelled, perhaps twice, while others wait for the same change."""

    async def scene():
        with EventPoller(Counting()) as poller:
            staying = [asyncio.create_task(poller.change()) for _ in range(3)]
            for _ in range(20):
                leaving = [asyncio.create_task(poller.change()) for _ in range(3)]
                await asyncio.sleep(0.02)
                for _ in range(2):
                    for task in leaving:
                        task.cancel()
                    await asyncio.sleep(0)
                staying = [asyncio.create_task(poller.change()) if task.done() else task for task in staying]
                await asyncio.gather(*leaving, return_exceptions=True)
            return await asyncio.gather(*staying)

    assert played(scene) == [None, None, None]


@pytest.mark.parametrize("when", ["before the first listener", "while they listen"])
def test_listeners_hear_of_changes_after_the_store_was_away(when):
    async def scene():
        store = Counting()
        poller, store.away = EventPoller(store), when.startswith("before")
        with poller:
            while store.n < 2:
                await asyncio.sleep(0.01)
            tried, store.away = store.n, True
            while store.n < tried + 2:
                await asyncio.sleep(0.01)
            back, store.away = store.n, False
            while poller.heads.get("icu", 0) <= back:
                await asyncio.sleep(0.01)
        return poller.listeners

    assert played(scene) == 0


def test_nobody_polls_when_nobody_listens():
    async def scene():
        store = Counting()
        poller = EventPoller(store)
        for _ in range(3):
            before = store.n
            with poller:
                polling = poller._task
                while store.n == before:
                    await asyncio.sleep(0.01)
            assert (poller.listeners, poller.heads) == (0, {})
            assert isinstance((await asyncio.gather(polling, return_exceptions=True))[0], asyncio.CancelledError)

    played(scene)


def test_a_store_that_was_away_does_not_make_every_learner_changed():
    """Before the first poll nothing is known of any learner, which is no change."""

    class Poller:
        heads: ClassVar = {}
        polls = iter([{}, {"icu": 3, "ward": 7}, {"icu": 4, "ward": 7}])

        async def change(self):
            self.heads = next(self.polls)

    async def scene():
        state = SimpleNamespace(settings=Settings("sqlite:///none.db"), poller=Poller())
        store = SimpleNamespace(heads=lambda: {"icu": 3, "ward": 7})
        stream = await changes(SimpleNamespace(app=SimpleNamespace(state=state)), store)
        return (await anext(stream.body_iterator)).data

    assert json.loads(played(scene)) == {"learner": "icu", "number": 4}
