"""Time as a run sees it: the virtual clock's sleeps and limits, and ids in time order."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from nika_nb.engine.clock import VIRTUAL_START, Stamper, SystemClock, VirtualClock

S = 10**9


def on(main: Callable[[VirtualClock], Awaitable[None]], patience: float | None = None) -> int:
    """Runs a coroutine over a virtual clock; the nanoseconds that passed on it."""
    clock = VirtualClock(patience)

    async def guarded() -> None:
        await asyncio.wait_for(main(clock), 20)

    asyncio.run(guarded())
    return clock.now() - VIRTUAL_START


def test_time_passes_by_sleeping_alone() -> None:
    """An hour is slept in no time; what else happens takes none."""

    async def main(clock: VirtualClock) -> None:
        await asyncio.sleep(0.01)
        await clock.sleep(3600)

    assert on(main) == 3600 * S


def test_sleeps_beside_each_other_overlap() -> None:
    """Who sleeps shortest wakes first, and nobody pays for the other."""
    woken: list[tuple[str, int]] = []

    async def nap(clock: VirtualClock, name: str, seconds: float) -> None:
        await clock.sleep(seconds)
        woken.append((name, (clock.now() - VIRTUAL_START) // S))

    async def main(clock: VirtualClock) -> None:
        await asyncio.gather(nap(clock, "long", 10), nap(clock, "short", 5), nap(clock, "same", 5))

    assert on(main) == 10 * S
    assert woken == [("short", 5), ("same", 5), ("long", 10)]


def test_a_sleep_beyond_the_limit_ends_at_the_limit() -> None:
    """The block that set the limit gets the TimeoutError, and exactly the limit has passed."""

    async def main(clock: VirtualClock) -> None:
        with pytest.raises(TimeoutError):
            async with clock.timeout(2):
                await clock.sleep(3600)
        assert clock.now() - VIRTUAL_START == 2 * S
        await clock.sleep(1)

    assert on(main) == 3 * S


def test_the_limit_that_is_over_first_ends_its_own_block() -> None:
    """An inner block with a longer limit does not take the outer one's end for its own."""
    ends: list[str] = []

    async def main(clock: VirtualClock) -> None:
        try:
            async with clock.timeout(1):
                try:
                    async with clock.timeout(5):
                        await clock.sleep(60)
                except TimeoutError:
                    ends.append("inner")
        except TimeoutError:
            ends.append("outer")

    assert on(main) == 1 * S
    assert ends == ["outer"]


def test_a_limit_holds_for_what_is_started_inside_it() -> None:
    """A task begun within the block sleeps under its limit; a task beside it does not."""
    ends: list[str] = []

    async def inside(clock: VirtualClock) -> None:
        try:
            await clock.sleep(60)
        except asyncio.CancelledError:
            ends.append("cancelled")
            raise

    async def limited(clock: VirtualClock) -> None:
        with pytest.raises(TimeoutError):
            async with clock.timeout(1):
                await asyncio.ensure_future(inside(clock))

    async def main(clock: VirtualClock) -> None:
        await asyncio.gather(limited(clock), clock.sleep(60))

    assert on(main) == 60 * S
    assert ends == ["cancelled"]


def test_real_work_that_hangs_is_cut_off() -> None:
    """Then the whole limit has passed; work that only outlasts it takes none of it."""

    async def main(clock: VirtualClock) -> None:
        async with clock.timeout(0.001):
            await asyncio.sleep(0.05)
        assert clock.now() == VIRTUAL_START
        with pytest.raises(TimeoutError):
            async with clock.timeout(0.05):
                await asyncio.Event().wait()

    assert on(main, patience=1) == 5 * 10**7


def test_a_cancelled_sleep_holds_nobody_up() -> None:
    """Who was called off takes no part in the order any more."""

    async def main(clock: VirtualClock) -> None:
        short = asyncio.ensure_future(clock.sleep(1))
        await asyncio.sleep(0)
        short.cancel()
        await clock.sleep(5)

    assert on(main) == 5 * S


def test_seeded_ids_come_twice_and_sort() -> None:
    """The same seed makes the same ids; ids of one run sort in the order they were made."""
    first = [Stamper(VirtualClock(), 7).stamp() for _ in range(2)]
    assert first[0] == first[1]
    stamper = Stamper(VirtualClock(), 7)
    ids = [stamper.stamp()[0] for _ in range(5000)]
    assert ids == sorted(set(ids))
    assert Stamper(SystemClock()).stamp()[0] != Stamper(SystemClock()).stamp()[0]
