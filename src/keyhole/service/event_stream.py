"""Server-sent events: a stream of the store's events as any process writes them."""

import asyncio
import contextlib
import json
import time
from collections.abc import AsyncIterator, Callable
from typing import Annotated

from fastapi import APIRouter, Depends, Header, HTTPException, Query, Request
from fastapi.concurrency import run_in_threadpool
from sse_starlette import EventSourceResponse, ServerSentEvent
from starlette.types import Receive, Scope, Send

from ..errors import StateError
from ..store.store import Store
from .problems import problem
from .routes import NamePath
from .security import Opened, may, visible
from .server import max_connections

__all__ = ["EventPoller", "router"]

# Not in the OpenAPI document, which cannot describe an endless answer; the page /docs describes the streams.
router = APIRouter(prefix="/v1", include_in_schema=False)
_PAGE = 500
_may_read = may("read")
Number = Annotated[int | None, Query(ge=0, le=2**31 - 1)]


class EventPoller:
    """Polls the last event numbers of all learners a few times a second, once for all listeners.

    It does not poll while there are no listeners. While the store does not answer, it goes on trying.
    """

    def __init__(self, store: Store) -> None:
        self.store = store
        self.heads: dict[str, int] = {}
        """The last event numbers, from the first poll on."""
        self._changed = asyncio.Event()  # replaced at every change
        self.listeners = 0
        self._task: asyncio.Task[None] | None = None

    def __enter__(self) -> "EventPoller":
        self.listeners += 1
        if self._task is None:
            self._task = asyncio.create_task(self._poll())
        return self

    def __exit__(self, *_: object) -> None:
        self.listeners -= 1
        if self.listeners == 0 and self._task is not None:
            self._task.cancel()
            self._task, self.heads = None, {}

    async def change(self) -> None:
        """Wait until an event is written, for at most 5 seconds, so that streams check their tokens that often."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._changed.wait(), 5.0)

    async def _poll(self) -> None:
        while True:
            start = time.monotonic()
            with contextlib.suppress(StateError):
                heads = await run_in_threadpool(self.store.heads)
                if heads != self.heads:
                    self.heads = heads
                    self._changed.set()
                    self._changed = asyncio.Event()
            await asyncio.sleep(max(0.15, 10 * (time.monotonic() - start)))  # at most a tenth of one thread


class EventStream(EventSourceResponse):
    """A stream of events, which takes a place among the listeners when it starts and frees it when it ends."""

    def __init__(self, request: Request, lines: Callable[[EventPoller], AsyncIterator[ServerSentEvent]]) -> None:
        self._poller: EventPoller = request.app.state.poller
        self._most = max_connections(request.app.state.settings) // 2
        super().__init__(_until_refused(lines(self._poller)), ping=15)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Stream, unless other streams take half of the connections, because streams do not end by themselves."""
        # Nothing is awaited between the check and the entry, so that clients who arrive together are all counted.
        if self._poller.listeners >= self._most:
            detail = "too many clients listen to events; try again later"
            await problem(503, detail, headers={"Retry-After": "10"})(scope, receive, send)
            return
        with self._poller:
            await super().__call__(scope, receive, send)


async def _until_refused(lines: AsyncIterator[ServerSentEvent]) -> AsyncIterator[ServerSentEvent]:
    """End a stream whose caller may no longer read, or whose store or learner is gone.

    The client calls again, and the answer to that call says why.
    """
    with contextlib.suppress(HTTPException, StateError):
        async for line in lines:
            yield line


@router.get("/learners/{name}/events", response_class=EventSourceResponse, dependencies=[Depends(_may_read)])
async def events(
    request: Request,
    name: NamePath,
    store: Opened,
    after: Number = None,
    last_event_id: Annotated[str | None, Header()] = None,
) -> EventSourceResponse:
    """The events after a number (0 for all), followed by new events as they are written."""
    stored = await run_in_threadpool(store.__getitem__, name)
    start = _event_number(last_event_id)
    start = after or 0 if start is None else start

    async def lines(poller: EventPoller) -> AsyncIterator[ServerSentEvent]:
        number = start
        while True:
            page = await run_in_threadpool(stored.events, number, _PAGE)
            await _may_read(request)  # the token may have been revoked meanwhile
            for event in page:
                number = event.number
                data = {"number": number, "kind": event.kind, "round": f"{name}:{event.round}", "at": event.at}
                yield ServerSentEvent(json.dumps(data), id=str(number), event="event")
            if not page:
                await poller.change()

    return EventStream(request, lines)


@router.get("/events", response_class=EventSourceResponse)
async def changes(request: Request, store: Opened) -> EventSourceResponse:
    """For every learner that changes, the number of its last event."""
    await run_in_threadpool(visible, request)
    first = await run_in_threadpool(store.heads)

    async def lines(poller: EventPoller) -> AsyncIterator[ServerSentEvent]:
        before = first
        while True:
            await poller.change()
            now = poller.heads
            seen = await run_in_threadpool(visible, request)  # the token may have been revoked meanwhile
            for name in sorted(n for n in now if now[n] != before.get(n) and seen(n)):
                yield ServerSentEvent(json.dumps({"learner": name, "number": now[name]}), event="change")
            before = before | now

    return EventStream(request, lines)


def _event_number(text: str | None) -> int | None:
    """Parse the event number in `Last-Event-ID`; return None if it is invalid.

    >>> [_event_number(text) for text in ("17", "9" * 5000, "-1", "", None)]
    [17, None, None, None, None]
    """
    return int(text) if text and len(text) < 10 and text.isascii() and text.isdigit() else None
