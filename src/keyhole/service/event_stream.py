"""Server-sent events: what was written, as it is written, by whichever process."""

import asyncio
import json
import time
from collections.abc import AsyncIterator
from typing import Annotated

from fastapi import APIRouter, Depends, Header, Query, Request
from fastapi.concurrency import run_in_threadpool
from sse_starlette import EventSourceResponse, ServerSentEvent

from ..store.store import Store
from .auth import Opened, may, visible
from .learner_routes import NamePath

__all__ = ["EventPoller", "router"]

# Not in the OpenAPI document, which cannot say that an answer never ends; the page of the documentation says it.
router = APIRouter(prefix="/v1", include_in_schema=False)
_PAGE = 500
Number = Annotated[int | None, Query(ge=0, le=2**31 - 1)]


class EventPoller:
    """Looks how far each learner is, a few times a second, once for all who listen; nobody listening, not at all."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.heads: dict[str, int] = {}
        self._changed = asyncio.Condition()
        self._listeners = 0
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> "EventPoller":
        self._listeners += 1
        if self._listeners == 1:
            self.heads = await run_in_threadpool(self.store.heads)
            self._task = asyncio.create_task(self._look())
        return self

    async def __aexit__(self, *_: object) -> None:
        self._listeners -= 1
        if self._listeners == 0 and self._task is not None:
            self._task.cancel()

    async def change(self) -> None:
        """Wait until something was written, but not for ever."""
        async with self._changed:
            try:
                await asyncio.wait_for(self._changed.wait(), 5.0)
            except TimeoutError:
                return

    async def _look(self) -> None:
        while True:
            start = time.monotonic()
            heads = await run_in_threadpool(self.store.heads)
            if heads != self.heads:
                self.heads = heads
                async with self._changed:
                    self._changed.notify_all()
            await asyncio.sleep(max(0.15, 10 * (time.monotonic() - start)))  # a tenth of one thread at most


@router.get("/learners/{name}/events", response_class=EventSourceResponse, dependencies=[Depends(may("read"))])
async def events(
    request: Request,
    name: NamePath,
    store: Opened,
    after: Number = None,
    last_event_id: Annotated[str | None, Header()] = None,
) -> EventSourceResponse:
    """What was written after the event of a number (0: everything), and then as it is written."""
    stored = await run_in_threadpool(store.__getitem__, name)
    resumed = int(last_event_id) if last_event_id and last_event_id.isascii() and last_event_id.isdigit() else None
    start = resumed if resumed is not None and resumed < 2**31 else after or 0

    async def lines() -> AsyncIterator[ServerSentEvent]:
        number = start
        async with _watch(request) as watch:
            while True:
                page = await run_in_threadpool(stored.events, number, _PAGE)
                for event in page:
                    number = event.number
                    data = {"number": number, "kind": event.kind, "round": f"{name}:{event.round}", "at": event.at}
                    yield ServerSentEvent(json.dumps(data), id=str(number), event="event")
                if not page:
                    await watch.change()

    return EventSourceResponse(lines(), ping=15)


@router.get("/events", response_class=EventSourceResponse)
async def changes(request: Request, store: Opened) -> EventSourceResponse:
    """The number of the last event of each learner that changes."""
    seen = await run_in_threadpool(visible, request)

    async def lines() -> AsyncIterator[ServerSentEvent]:
        async with _watch(request) as watch:
            before = watch.heads
            while True:
                await watch.change()
                now = watch.heads
                for name in sorted(n for n in now if now[n] != before.get(n) and seen(n)):
                    yield ServerSentEvent(json.dumps({"learner": name, "number": now[name]}), event="change")
                before = now

    return EventSourceResponse(lines(), ping=15)


def _watch(request: Request) -> EventPoller:
    watch: EventPoller = request.app.state.watch
    return watch
