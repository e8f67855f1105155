"""A run that is ended begins nothing more: however quick its work is, and wherever a cancellation is lost."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any

import pytest

from nika_nb.engine.contract import Call
from nika_nb.engine.engine import Engine
from nika_nb.engine.halt import Halt
from nika_nb.engine.memory import Hit, NoMemory
from nika_nb.errors import Fault
from nika_nb.plan.identity import Identity
from tests.engine.scripted import Ran, run

WIDTH = 8
MANY = 500
EACH = f'nika: each\ntasks:\n  e: {{for_each: {{items: {list(range(MANY))}}}, exec: {{command: ["x"]}}}}\n'
TASKS = "nika: wide\ntasks:\n" + "".join(f'  t{n}: {{exec: {{command: ["x"]}}}}\n' for n in range(MANY))
RETRY = "retry: {max_attempts: 9, backoff_ms: 1, jitter: false, on_codes: [NIKA-EXEC-001]}"


def ended(text: str, reached: asyncio.Event, **options: Any) -> Ran:
    """The run, which is ended by a callback of its loop once this comes."""

    async def stop(engine: Any) -> None:
        await reached.wait()
        engine.cancel()

    ran = run(text, during=stop, width=WIDTH, **options)
    assert ran.verdict.state == "cancelled"
    return ran


@pytest.mark.parametrize("text", [EACH, TASKS], ids=["items", "tasks"])
def test_what_is_done_in_no_time_leaves_room_for_a_stop(text: str) -> None:
    """Verbs that never wait: the stop is heard after as many as may work at once."""
    reached = asyncio.Event()
    names = [f"t{n}" for n in range(MANY)] + ["e"]
    ran = ended(text, reached, **dict.fromkeys(names, lambda call: reached.set()))
    assert len(ran.calls) <= 3 * WIDTH


@pytest.mark.parametrize("text", [EACH, TASKS], ids=["items", "tasks"])
def test_nothing_begins_once_the_end_was_asked_for(text: str) -> None:
    """From another thread, say, while the loop is at it: those whose turn it is already wait for its word."""
    engines: list[Engine] = []

    async def take(engine: Engine) -> None:
        engines.append(engine)

    def script(call: Call) -> None:
        engines[0].ask_to_end(asyncio.get_running_loop())

    names = [f"t{n}" for n in range(MANY)] + ["e"]
    ran = run(text, during=take, width=WIDTH, **dict.fromkeys(names, script))
    assert ran.verdict.state == "cancelled"
    assert len(ran.calls) == 1


def test_a_called_workflow_heeds_the_run_that_calls_it() -> None:
    """Nothing begins in it once that is to end, until its own cancellation comes; its cleanups do."""

    async def scenario() -> None:
        caller = Halt()
        called = Halt(caller)
        await called.heed(owed=False)
        caller.ask()
        await called.heed(owed=True)
        waits = asyncio.ensure_future(called.heed(owed=False))
        await asyncio.sleep(0.01)
        assert not waits.done()
        caller.hear()
        await asyncio.sleep(0.01)
        assert not waits.done()
        called.hear()
        with pytest.raises(asyncio.CancelledError):
            await waits
        await called.heed(owed=True)
        called.ask()
        called.hear()
        with pytest.raises(asyncio.CancelledError):
            await called.heed(owed=True)

    asyncio.run(scenario())


@pytest.mark.parametrize(("text", "kind"), [(EACH, "nb_item_completed"), (TASKS, "task_cache_hit")])
def test_what_is_recalled_leaves_room_for_a_stop(text: str, kind: str) -> None:
    """A record of everything does not hold the loop for all of the items, or for all of the tasks."""
    reached = asyncio.Event()

    class Knows(NoMemory):
        def recall(self, identity: Identity) -> Hit:  # type: ignore[override]
            if text == TASKS:
                reached.set()
            return Hit(list(range(MANY)), "trace", "frame")

        def recall_item(self, identity: Identity, index: int) -> Hit:  # type: ignore[override]
            reached.set()
            return Hit(index, "trace", "frame")

    ran = ended(text, reached, memory=Knows())
    assert 0 < sum(event.kind == kind for event in ran.events) <= 3 * WIDTH


async def deaf(reached: asyncio.Event) -> None:
    """Work that loses a cancellation, as a library may."""
    reached.set()
    with contextlib.suppress(asyncio.CancelledError):
        await asyncio.sleep(60)


def test_a_cancellation_that_an_item_loses_ends_the_fan_out() -> None:
    """It comes to its own end, and the next item does not begin."""
    reached = asyncio.Event()

    async def script(call: Call) -> str:
        await deaf(reached)
        return "done"

    text = EACH.replace("for_each: {", "for_each: {max_parallel: 1, ")
    ran = ended(text, reached, e=script)
    assert [call.item for call in ran.calls] == [0]


@pytest.mark.parametrize("cleanup", [False, True])
def test_a_cancellation_that_an_attempt_loses_ends_its_task(cleanup: bool) -> None:
    """No further attempt, no backoff; and of a cleanup none once the run was ended twice."""
    reached = asyncio.Event()

    async def script(call: Call) -> None:
        await deaf(reached)
        raise Fault("NIKA-EXEC-001", "no")

    async def stop(engine: Any) -> None:
        await reached.wait()
        for _ in range(2 if cleanup else 1):
            engine.cancel()

    text = f'nika: r\ntasks:\n  a: {{exec: {{command: ["x"]}}}}\n  b: {{after: {{a: AFTER}}, {RETRY}, '
    text = text.replace("AFTER", "unwind" if cleanup else "success") + 'exec: {command: ["x"]}}\n'
    ran = run(text, during=stop, b=script)
    assert ran.verdict.state == "cancelled"
    assert [call.task for call in ran.calls] == ["a", "b"]
    assert "task_retrying" not in ran.kinds("b")


def test_a_cleanup_tries_again_when_the_run_is_ended_once() -> None:
    """It is owed: what ends the run does not end it."""
    reached, tries = asyncio.Event(), 3

    async def script(call: Call) -> str:
        reached.set()
        await asyncio.sleep(0)
        if call.attempt < tries:
            raise Fault("NIKA-EXEC-001", "no")
        return "clean"

    text = f'nika: r\ntasks:\n  a: {{exec: {{command: ["x"]}}}}\n  b: {{after: {{a: unwind}}, {RETRY}, '
    ran = ended(text + 'exec: {command: ["x"]}}\n', reached, b=script)
    assert ran.statuses()["b"] == "success"
    assert len(ran.calls) == 1 + tries
