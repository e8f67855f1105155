"""A conversation is pumped until it returns; whatever is raised on the way ends it."""

from __future__ import annotations

import asyncio
from collections.abc import Generator

import pytest

from nika_nb.verbs.talk import pump

closed: list[str] = []


def counting(to: int) -> Generator[int, int, str]:
    total = 0
    try:
        for number in range(to):
            total += yield number
    finally:
        closed.append("closed")
    return f"total {total}"


async def tenfold(number: int) -> int:
    return number * 10


def test_every_step_is_carried_out() -> None:
    """What a step brought goes back in, and what the conversation returns comes out."""
    assert asyncio.run(pump(counting(4), tenfold)) == "total 60"
    assert asyncio.run(pump(counting(0), tenfold)) == "total 0"


def test_a_step_that_fails_ends_it() -> None:
    """The failure comes through as it is, and the conversation is closed."""

    async def broken(number: int) -> int:
        raise LookupError(number)

    closed.clear()
    with pytest.raises(LookupError):
        asyncio.run(pump(counting(4), broken))
    assert closed == ["closed"]


def test_a_cancelled_step_ends_it() -> None:
    """A run that is ended from outside leaves no conversation open."""

    async def scenario() -> None:
        task = asyncio.create_task(pump(counting(2), lambda number: asyncio.sleep(60, number)))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    closed.clear()
    asyncio.run(scenario())
    assert closed == ["closed"]
