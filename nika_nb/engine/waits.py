"""Who works in a run, and who only waits for another task to settle: a run at rest goes no further."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable


class Waits:
    """Counts whoever can go on by itself: every task under way, every worker of a fan-out.

    A recovery that waits for a task (`until`) does not count until that task has settled. One event
    loop only.
    """

    def __init__(self, tasks: Iterable[str]) -> None:
        self._ends = {name: asyncio.Event() for name in tasks}
        self._waiting: Counter[str] = Counter()  # by what is waited for
        self._working = 0
        self._rest = asyncio.Event()

    @property
    def any(self) -> bool:
        """Whether somebody waits."""
        return self._waiting.total() > 0

    def join(self, count: int = 1) -> None:
        self._working += count

    def leave(self, count: int = 1) -> None:
        self._working -= count
        if not self._working:
            self._rest.set()

    async def rest(self) -> None:
        """Until nobody works."""
        while self._working:
            self._rest.clear()
            await self._rest.wait()

    async def until(self, name: str) -> None:
        """Until that task has settled, or waiting for it was called off."""
        end = self._ends[name]
        self._waiting[name] += 1
        self.leave()
        try:
            await end.wait()
        finally:
            if not end.is_set():
                self._waiting[name] -= 1
                self.join()

    def end(self, name: str) -> None:
        """That task has settled: who waited for it is at work from now on, not from its next step."""
        self.join(self._waiting.pop(name, 0))
        self._ends[name].set()

    def call_off(self) -> None:
        """Everybody goes on without what they waited for."""
        for name in list(self._waiting):
            self.end(name)

    def crew(self, size: int) -> Crew:
        """Workers under one task, which itself does nothing but wait for them."""
        self.join(size - 1)
        return Crew(self, size)


class Crew:
    """The workers of one fan-out. A worker counts until the task has seen it end."""

    def __init__(self, waits: Waits, size: int) -> None:
        self._waits = waits
        self._size = size

    def shrink(self, by: int) -> None:
        self._size -= by
        self._waits.leave(by)

    def disband(self) -> None:
        """The task itself is at work again."""
        self.shrink(self._size - 1)
        self._size = 1
