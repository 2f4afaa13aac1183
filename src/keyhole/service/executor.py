"""Calls of the store, in threads: the loop that answers everybody waits for no disk and no lock."""

import asyncio
import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any, TypeAlias, TypeVar

from fastapi import Request
from fastapi.responses import Response
from pydantic import BaseModel

__all__ = ["Threads", "answer"]

A = TypeVar("A")
_MOST = 40
_Job: TypeAlias = "tuple[Callable[[], Any], asyncio.AbstractEventLoop, asyncio.Future[Any]]"


class Threads:
    """Threads that take calls from one queue, started as they are needed. Used from one loop.

    The usual way there and back (anyio's, which FastAPI takes twice for a call that is no coroutine) costs as much as
    what the store does.
    """

    def __init__(self) -> None:
        self._jobs: SimpleQueue[_Job | None] = SimpleQueue()
        self._started = self._waiting = 0

    async def run(self, call: Callable[[], A]) -> A:
        """What the call gives, or raises."""
        loop = asyncio.get_running_loop()
        done: asyncio.Future[A] = loop.create_future()
        self._waiting += 1
        if self._started < min(self._waiting, _MOST):
            self._started += 1
            threading.Thread(target=self._work, name=f"store-{self._started}", daemon=True).start()
        self._jobs.put((call, loop, done))
        return await done

    def close(self) -> None:
        """Let the threads go when they are done."""
        for _ in range(self._started):
            self._jobs.put(None)
        self._started = 0

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            call, loop, done = job
            given, fault = None, None
            try:
                given = call()
            except BaseException as raised:
                fault = raised
            try:
                loop.call_soon_threadsafe(self._finish, done, given, fault)
            except RuntimeError:  # the loop is closed: nobody waits for it any more
                return

    def _finish(self, done: "asyncio.Future[Any]", given: object, fault: BaseException | None) -> None:
        self._waiting -= 1
        if done.cancelled():
            return
        if fault is None:
            done.set_result(given)
        else:
            done.set_exception(fault)


async def answer(request: Request, call: Callable[[], BaseModel], status: int = 200) -> Response:
    """The answer to a call of the store. What the call made is a checked shape already, and is not checked again."""
    threads: Threads = request.app.state.threads
    body = await threads.run(lambda: call().model_dump_json())
    return Response(body, status, media_type="application/json")
