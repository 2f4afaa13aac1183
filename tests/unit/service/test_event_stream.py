"""Listeners to the changes of a store."""

import asyncio

from keyhole.service.event_stream import EventPoller


def test_listeners_that_leave_do_not_disturb_the_others():
    """A listener whose connection breaks is cancelled, perhaps twice, while others wait for the same change."""

    class Counting:
        n = 0

        def heads(self):
            self.n += 1
            return {"icu": self.n}

    async def scene():
        async with EventPoller(Counting()) as poller:
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

    assert asyncio.run(asyncio.wait_for(scene(), 30)) == [None, None, None]
