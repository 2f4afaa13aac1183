"""Calls in threads: each comes back with what it gave or raised, many at once, whatever became of who asked."""

import asyncio
import threading

import pytest

from keyhole.service.executor import Threads


def test_what_a_call_gives_or_raises_comes_back():
    threads = Threads()

    async def calls():
        assert await threads.run(lambda: 6 * 7) == 42
        with pytest.raises(ZeroDivisionError):
            await threads.run(lambda: 1 / 0)
        assert await threads.run(threading.current_thread) is not threading.current_thread()

    asyncio.run(calls())


def test_calls_run_beside_each_other():
    threads, together = Threads(), threading.Barrier(20)

    async def calls():
        await asyncio.wait_for(asyncio.gather(*(threads.run(together.wait) for _ in range(20))), 30)

    asyncio.run(calls())


def test_more_calls_than_threads_all_come_back():
    threads = Threads()

    async def calls():
        return await asyncio.gather(*(threads.run(lambda i=i: i) for i in range(500)))

    assert asyncio.run(calls()) == list(range(500))


def test_who_leaves_stops_nobody_else():
    threads, go = Threads(), threading.Event()

    async def calls():
        left = asyncio.create_task(threads.run(go.wait))
        await asyncio.sleep(0.05)
        left.cancel()
        go.set()
        assert await threads.run(lambda: "still here") == "still here"
        with pytest.raises(asyncio.CancelledError):
            await left

    asyncio.run(calls())


def test_threads_that_went_come_again():
    threads = Threads()
    for _ in range(3):
        assert asyncio.run(threads.run(lambda: "here")) == "here"
        threads.close()
