"""Who may work: so many at once, in the order they came."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any


class Turns:
    """At most `width` work at once; `async with` takes a turn."""

    def __init__(self, width: int = 32) -> None:
        self._free = asyncio.Semaphore(width)

    async def __aenter__(self) -> None:
        await self._free.acquire()

    async def __aexit__(self, *ended: Any) -> None:
        self._free.release()

    @asynccontextmanager
    async def lent(self) -> AsyncIterator[None]:
        """The turn is another's while its holder waits: those it waits for may need it."""
        self._free.release()
        try:
            yield
        finally:
            await self._free.acquire()
