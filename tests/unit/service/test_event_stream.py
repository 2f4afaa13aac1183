"""Listeners to the changes of a store."""

import asyncio
import json
from types import SimpleNamespace
from typing import ClassVar

import pytest
from starlette.requests import Request

import keyhole as kh
from keyhole.service.event_stream import EventPoller, changes, events
from keyhole.service.security import COOKIE
from keyhole.service.server import Settings
from keyhole.store.models import StoreUnavailable
from keyhole.store.tokens import create_token, list_tokens, revoke_token


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


class Impatient:
    """A poller that does not wait for changes; a stream that never ends fails instead."""

    def __init__(self, store):
        self.store, self.heads, self.left = store, {}, 20

    async def change(self):
        self.left -= 1
        assert self.left, "the stream goes on"
        self.heads = self.store.heads()


async def begun(store, path, headers=None):
    """The lines of a stream for a caller with these headers."""
    state = SimpleNamespace(settings=Settings(store.database.url, auth=True), poller=Impatient(store), store=store)
    fields = [(name.encode(), value.encode()) for name, value in (headers or {}).items()]
    scope = {"type": "http", "app": SimpleNamespace(state=state), "headers": fields}
    if path == "/v1/events":
        return (await changes(Request(scope), store)).body_iterator
    return (await events(Request(scope | {"path_params": {"name": "icu"}}), "icu", store)).body_iterator


@pytest.fixture
def store(sqlite_url):
    with kh.open_store(sqlite_url) as store:
        store.create("icu", "fixed-random", names=["age", "ldl", "pulse"], k=1, seed=0)
        yield store


PATHS = ["/v1/learners/icu/events", "/v1/events"]


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("header", ["authorization", "cookie"])
@pytest.mark.parametrize("learner", [None, "icu"])
def test_a_stream_ends_when_its_token_is_revoked(store, path, header, learner):
    text = create_token(store.database, learner, ("read",))

    async def scene():
        lines = await begun(
            store, path, {header: f"Bearer {text}" if header == "authorization" else f"{COOKIE}={text}"}
        )
        store["icu"].ask(key="before")
        assert json.loads((await anext(lines)).data)["number"] == 1
        revoke_token(store.database, list_tokens(store.database)[0].id)
        store["icu"].ask(key="after")
        return [line async for line in lines]

    assert played(scene) == []


@pytest.mark.parametrize("path", PATHS)
def test_a_stream_ends_without_a_fault_when_the_store_does_not_answer(store, path, monkeypatch):
    async def scene():
        lines = await begun(store, path, {"authorization": f"Bearer {create_token(store.database, None, ('read',))}"})
        store["icu"].ask(key="before")
        assert json.loads((await anext(lines)).data)["number"] == 1
        heads = store.heads()
        monkeypatch.setattr(store, "heads", lambda: heads)  # the last that a poller has seen
        monkeypatch.setattr("keyhole.store.database.Database.reading", away)
        return [line async for line in lines]

    def away(database):
        raise StoreUnavailable("it is away")

    assert played(scene) == []


def test_a_stream_ends_without_a_fault_when_its_learner_is_removed(store):
    async def scene():
        lines = await begun(
            store, PATHS[0], {"authorization": f"Bearer {create_token(store.database, None, ('read',))}"}
        )
        store["icu"].ask(key="before")
        assert json.loads((await anext(lines)).data)["number"] == 1
        with store.database.writing() as connection:
            for table in ("events", "rounds", "snapshots"):
                connection.run(f"DELETE FROM keyhole_{table}")
            connection.run("DELETE FROM keyhole_learners")
        return [line async for line in lines]

    assert played(scene) == []
