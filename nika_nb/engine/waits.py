"""Who works in a run, and who only waits for another task to settle: a run at rest goes no further."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Any

Hand = asyncio.Task[Any] | asyncio.Future[Any]  # whatever can go on by itself: a task, a worker of a fan-out


class Waits:
    """Knows whoever works. A recovery that waits for a task does not, until that task has settled.

    One event loop only. Whoever joins twice works once: a cancellation may strike anywhere.
    """

    def __init__(self, tasks: Iterable[str]) -> None:
        self._ends = {name: asyncio.Event() for name in tasks}
        self._waiting: dict[str, set[Hand]] = {}  # by what is waited for
        self._working: set[Hand] = set()
        self._rest = asyncio.Event()

    @property
    def waiting(self) -> bool:
        """Whether somebody waits."""
        return any(self._waiting.values())

    def join(self, *hands: Hand) -> None:
        self._working.update(hands)

    def leave(self, *hands: Hand) -> None:
        self._working.difference_update(hands)
        if not self._working:
            self._rest.set()

    async def rest(self) -> None:
        """Until nobody works."""
        while self._working:
            self._rest.clear()
            await self._rest.wait()

    async def until(self, name: str) -> None:
        """Until that task has settled, or waiting for it was called off."""
        me = _current()
        waiting = self._waiting.setdefault(name, set())
        waiting.add(me)
        self.leave(me)
        try:
            await self._ends[name].wait()
        finally:
            waiting.discard(me)
            self.join(me)

    def end(self, name: str) -> None:
        """That task has settled: who waited for it is at work from now on, not from its next step."""
        self.join(*self._waiting.pop(name, ()))
        self._ends[name].set()

    def call_off(self) -> None:
        """Everybody goes on without what they waited for."""
        for name in list(self._waiting):
            self.end(name)

    def crew(self, workers: Iterable[Hand]) -> Crew:
        """Workers under the current task, which itself does nothing but wait for them."""
        return Crew(self, _current(), list(workers))


class Crew:
    """The workers of one fan-out. One that has ended counts until its leader has seen it."""

    def __init__(self, waits: Waits, leader: Hand, workers: list[Hand]) -> None:
        self._waits = waits
        self._leader = leader
        self._workers = workers
        waits.join(*workers)
        waits.leave(leader)

    def ended(self, done: Iterable[Hand]) -> None:
        """These have, and the leader goes on waiting for the others."""
        self._waits.leave(*done)

    def disband(self) -> None:
        """The leader is at work again; a worker that is still ending counts no more."""
        self._waits.join(self._leader)
        self._waits.leave(*self._workers)
        for worker in self._workers:
            worker.add_done_callback(self._waits.leave)


def _current() -> Hand:
    found = asyncio.current_task()
    assert found is not None
    return found
