"""`nika:wait`: time passes on the run's own clock, real or virtual."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest

from nika_nb.engine.clock import VIRTUAL_START, VirtualClock
from nika_nb.tools.base import Asking
from nika_nb.verbs.invoke import Invoke
from tests.tools.using import fault, use
from tests.verbs.calls import Recorder

NOW = "2026-01-01T00:00:00Z"  # where a virtual clock starts


@pytest.fixture
def virtual(recorder: Recorder) -> VirtualClock:
    clock = VirtualClock()
    recorder.clock = clock
    return clock


def passed(clock: VirtualClock) -> float:
    """Seconds."""
    return (clock.now() - VIRTUAL_START) / 10**9


DURATIONS = [
    ("500ms", 0.5),
    ("30s", 30),
    ("1h30m", 5400),
    ("72h", 259_200),
    ("0s", 0),
    ("1.5s", 1.5),
    ("10µs", 1e-5),
]


@pytest.mark.parametrize(("duration", "seconds"), DURATIONS)
def test_a_duration(recorder: Recorder, virtual: VirtualClock, duration: str, seconds: float) -> None:
    """So much time passes, and null comes back; on a virtual clock nobody waits for it."""
    assert use(recorder, "nika:wait", duration=duration) is None
    assert passed(virtual) == pytest.approx(seconds)


MOMENTS = [
    ("2026-01-01T00:00:05Z", 5),
    ("2026-01-01T00:00:05.25Z", 5.25),
    ("2026-01-01T02:00:05+02:00", 5),
    ("2026-01-01T00:01:00", 60),
    ("2026-01-02", 86_400),
    (NOW, 0),
]


@pytest.mark.parametrize(("until", "seconds"), MOMENTS)
def test_a_moment(recorder: Recorder, virtual: VirtualClock, until: str, seconds: float) -> None:
    """The clock stands at that moment afterwards."""
    assert use(recorder, "nika:wait", until=until, timeout="48h") is None
    assert passed(virtual) == seconds


def test_a_moment_without_a_zone(
    recorder: Recorder, virtual: VirtualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is one in UTC, wherever the machine stands."""
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    try:
        use(recorder, "nika:wait", until="2026-01-01T00:00:05")
    finally:
        monkeypatch.undo()
        time.tzset()
    assert passed(virtual) == 5


def test_a_moment_beyond_the_timeout(recorder: Recorder, virtual: VirtualClock) -> None:
    """The wait lasts as long as the timeout says, and then fails."""
    found = fault(recorder, "nika:wait", until="2026-01-01T00:02:00Z", timeout="90s")
    assert found.code == "NIKA-BUILTIN-WAIT-001"
    assert "still 30 s away" in found.message
    assert passed(virtual) == 90


BAD: list[tuple[dict[str, Any], str, str]] = [
    ({"until": "2025-12-31T23:59:00Z"}, "NIKA-BUILTIN-WAIT-002", "has passed 60 s ago"),
    ({}, "NIKA-BUILTIN-WAIT-003", "a wait needs an end"),
    ({"duration": None}, "NIKA-BUILTIN-WAIT-003", "a wait needs an end"),
    ({"duration": "1s", "until": NOW}, "NIKA-BUILTIN-WAIT-003", "exclude each other"),
    ({"duration": "1s", "timeout": "2s"}, "NIKA-BUILTIN-001", "`timeout:` caps `until:` only"),
    ({"duration": "soon"}, "NIKA-BUILTIN-001", "`duration: soon` is not a duration"),
    ({"duration": "5"}, "NIKA-BUILTIN-001", "is not a duration"),
    ({"duration": "5s "}, "NIKA-BUILTIN-001", "is not a duration"),
    ({"duration": "9999999h"}, "NIKA-BUILTIN-001", "longer than a year"),
    ({"duration": "9" * 400 + "h"}, "NIKA-BUILTIN-001", "longer than a year"),
    ({"duration": 5}, "NIKA-BUILTIN-001", "as a string, not integer"),
    ({"until": "tomorrow"}, "NIKA-BUILTIN-001", "`until: tomorrow` is not a moment"),
    ({"until": NOW, "timeout": "x"}, "NIKA-BUILTIN-001", "`timeout: x` is not a duration"),
]


@pytest.mark.parametrize(("arguments", "code", "sentence"), BAD, ids=[case[2] for case in BAD])
def test_bad_waits(
    recorder: Recorder, virtual: VirtualClock, arguments: dict[str, Any], code: str, sentence: str
) -> None:
    """What has no end, two ends or an end behind it fails at once."""
    found = fault(recorder, "nika:wait", **arguments)
    assert found.code == code
    assert sentence in found.message
    assert passed(virtual) == 0


def test_a_real_wait_takes_its_time(recorder: Recorder) -> None:
    """On the system's clock it is waited for, and never shorter than was asked."""
    before = time.monotonic()
    use(recorder, "nika:wait", duration="120ms")
    assert time.monotonic() - before >= 0.12


def test_a_cancelled_wait_ends_at_once(recorder: Recorder) -> None:
    """Nothing is left of it."""
    body = {"tool": "nika:wait", "args": {"duration": "1h"}}

    async def scenario() -> None:
        running = asyncio.create_task(Invoke(None, Asking()).run(recorder.call("invoke", body)))
        while not recorder.processes:
            await asyncio.sleep(0)
        await asyncio.sleep(0)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running

    asyncio.run(asyncio.wait_for(scenario(), 20))
