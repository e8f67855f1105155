"""The run's one clock and the ids of its frames: the system's, or reproducible ones."""

from __future__ import annotations

import asyncio
import random
import time
import uuid
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import UTC, datetime
from heapq import heapify, heappush
from itertools import count
from typing import Protocol

PATIENCE = 30.0  # seconds by which real work may outlast a limit on the virtual clock
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


@dataclass(slots=True)
class _Deadline:
    """A limit that is being kept: when it is over, by the virtual clock, and what then ends the block."""

    at: int
    guard: asyncio.Timeout
    outer: _Deadline | None

    def first(self) -> _Deadline:
        """The one of all limits around the current work that is over first."""
        if self.outer is None:
            return self
        outer = self.outer.first()
        return outer if outer.at < self.at else self


_deadline: ContextVar[_Deadline | None] = ContextVar("nika_deadline", default=None)


class VirtualClock:
    """Time that passes only when the run sleeps; who sleeps shortest wakes first.

    A timeout is measured on this clock, on which real work takes no time: however fast this machine is,
    it decides nothing. Work that hangs is cut off all the same, once the wall clock is `patience` seconds
    beyond the limit; then the whole limit has passed.
    """

    def __init__(self, patience: float | None = None) -> None:
        self._patience = PATIENCE if patience is None else patience
        self._now = VIRTUAL_START
        self._sleepers: list[tuple[int, int]] = []
        self._numbers = count()

    def now(self) -> int:
        return self._now

    async def sleep(self, seconds: float) -> None:
        until = self._now + round(seconds * 10**9)
        limit = _deadline.get()
        first = limit.first() if limit is not None else None
        if first is None or first.at >= until:
            await self._wait(until)
            return
        await self._wait(first.at)
        first.guard.reschedule(asyncio.get_running_loop().time())
        await asyncio.Event().wait()  # until the limit ends the block that it was set for

    async def _wait(self, until: int) -> None:
        me = (until, next(self._numbers))
        heappush(self._sleepers, me)
        try:
            await asyncio.sleep(0)
            while self._sleepers[0] != me:
                await asyncio.sleep(0)
        finally:
            self._sleepers.remove(me)
            heapify(self._sleepers)
        self._now = max(self._now, until)

    @asynccontextmanager
    async def timeout(self, seconds: float) -> AsyncIterator[None]:
        at = self._now + round(seconds * 10**9)
        try:
            async with asyncio.timeout(seconds + self._patience) as guard:
                token = _deadline.set(_Deadline(at, guard, _deadline.get()))
                try:
                    yield
                finally:
                    _deadline.reset(token)
        except TimeoutError:
            self._now = max(self._now, at)
            raise


class Stamper:
    """UUIDv7 ids in time order; from a seed where the run declares one."""

    def __init__(self, clock: Clock, seed: int | None = None) -> None:
        self._clock = clock
        self._random = random.Random(seed) if seed is not None else random.SystemRandom()
        self._last = (0, 0)

    def stamp(self) -> tuple[str, int]:
        """(id, unix nanoseconds); ids of one run sort in the order they were made."""
        at = self._clock.now()
        millis, step = at // 10**6, 0
        if millis <= self._last[0]:
            millis, step = self._last[0], self._last[1] + 1
        if step > 0xFFF:
            millis, step = millis + 1, 0
        self._last = (millis, step)
        tail = self._random.getrandbits(62)
        number = (millis << 80) | (0x7 << 76) | (step << 64) | (0b10 << 62) | tail
        return str(uuid.UUID(int=number)), at


def rfc3339(at: int) -> str:
    """A moment as expressions see it: RFC 3339 in UTC, milliseconds."""
    moment = datetime.fromtimestamp(at / 10**9, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
