"""The run's one clock and the ids of its frames: the system's, or reproducible ones."""

from __future__ import annotations

import asyncio
import random
import time
import uuid
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import UTC, datetime
from typing import Protocol

VIRTUAL_START = 1_767_225_600 * 10**9  # 2026-01-01T00:00:00Z, in nanoseconds


class Clock(Protocol):
    """Time as the run sees it."""

    def now(self) -> int:
        """Unix nanoseconds."""
        ...

    async def sleep(self, seconds: float) -> None: ...

    def timeout(self, seconds: float) -> AbstractAsyncContextManager[None]:
        """Raises TimeoutError inside the block once the time is over."""
        ...


class SystemClock:
    """The wall clock, held monotonic: it never runs backwards within one run."""

    def __init__(self) -> None:
        self._offset = time.time_ns() - time.monotonic_ns()

    def now(self) -> int:
        return time.monotonic_ns() + self._offset

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)

    @asynccontextmanager
    async def timeout(self, seconds: float) -> AsyncIterator[None]:
        async with asyncio.timeout(seconds):
            yield


class VirtualClock:
    """Time that passes only when the run sleeps; real work that hangs is still cut off."""

    def __init__(self) -> None:
        self._now = VIRTUAL_START
        self._deadlines: list[int] = []

    def now(self) -> int:
        return self._now

    async def sleep(self, seconds: float) -> None:
        until = self._now + round(seconds * 10**9)
        deadline = min(self._deadlines, default=until)
        self._now = min(until, max(deadline, self._now))
        await asyncio.sleep(0)
        if deadline < until:
            raise TimeoutError

    @asynccontextmanager
    async def timeout(self, seconds: float) -> AsyncIterator[None]:
        deadline = self._now + round(seconds * 10**9)
        self._deadlines.append(deadline)
        try:
            async with asyncio.timeout(seconds):
                yield
        finally:
            self._deadlines.remove(deadline)


class Stamper:
    """UUIDv7 ids in time order; from a seed where the run declares one."""

    def __init__(self, clock: Clock, seed: int | None = None) -> None:
        self._clock = clock
        self._random = random.Random(seed) if seed is not None else random.SystemRandom()
        self._last = (0, 0)

    def stamp(self) -> tuple[str, int]:
        """(id, unix nanoseconds); ids of one run sort in the order they were made."""
        at = self._clock.now()
        millis, count = at // 10**6, 0
        if millis <= self._last[0]:
            millis, count = self._last[0], self._last[1] + 1
        if count > 0xFFF:
            millis, count = millis + 1, 0
        self._last = (millis, count)
        tail = self._random.getrandbits(62)
        number = (millis << 80) | (0x7 << 76) | (count << 64) | (0b10 << 62) | tail
        return str(uuid.UUID(int=number)), at


def rfc3339(at: int) -> str:
    """A moment as expressions see it: RFC 3339 in UTC, milliseconds."""
    moment = datetime.fromtimestamp(at / 10**9, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
