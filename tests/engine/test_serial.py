"""Reproducible runs: one task at a time, and nothing of this machine in the frames."""

from __future__ import annotations

import asyncio
import random
from typing import Any

import pytest

from nika_nb.engine.contract import Call, Process
from tests.engine.scripted import fails, run

TASK = "invoke: {tool: 'nika:log', args: {message: m}}"

WIDE = f"""\
nika: wide
tasks:
  a: {{ {TASK} }}
  b: {{ for_each: {{items: [1, 2, 3], max_parallel: 3}}, {TASK} }}
  c: {{ retry: {{max_attempts: 3, backoff_ms: 50}}, {TASK} }}
  d: {{ after: {{a: success}}, {TASK} }}
  e: {{ with: {{b: "${{{{ tasks.b.output }}}}"}}, {TASK} }}
"""


async def dawdle(call: Call) -> str:
    """Takes a little while, never the same one."""
    call.witness(Process(random.randrange(2, 10**6), str(random.random())))
    await asyncio.sleep(random.random() / 50)
    return call.task


def flaky(call: Call) -> Any:
    return "well" if call.attempt == 3 else fails("NIKA-EXEC-001", transient=True)(call)


def lines(serial: bool) -> list[tuple[str, str, int, dict[str, Any]]]:
    ran = run(WIDE, serial=serial, width=1 if serial else 8, a=dawdle, b=dawdle, c=flaky, d=dawdle)
    return [(event.id, event.kind, event.at, event.fields) for event in ran.events]


def test_serial_frames_come_twice() -> None:
    """The same frames, ids, moments and order, however long the work took."""
    assert lines(serial=True) == lines(serial=True)


def test_a_process_is_of_the_moment() -> None:
    """Its group and its start time are what a reproducible journal leaves out."""
    invoked = [fields for _, kind, _, fields in lines(serial=True) if kind == "verb_invoked"]
    assert invoked
    assert not any("pgid" in fields or "started" in fields for fields in invoked)
    assert any("pgid" in fields for _, kind, _, fields in lines(serial=False) if kind == "verb_invoked")


def test_one_task_at_a_time() -> None:
    """A task's frames stand together: nothing of another one between its dispatch and its end."""
    told = [fields["task"] for _, kind, _, fields in lines(serial=True) if kind not in ("task_scheduled",)
            and "task" in fields]  # fmt: skip
    runs = [name for at, name in enumerate(told) if at == 0 or told[at - 1] != name]
    assert runs == ["a", "b", "c", "d", "e"]


@pytest.mark.parametrize("serial", [True, False])
def test_a_recovery_lends_its_turn(serial: bool) -> None:
    """What it waits for may run, also where only one may work at a time."""
    text = f"""\
nika: recovering
tasks:
  a: {{ on_error: {{recover: "${{{{ tasks.z.output }}}}"}}, {TASK} }}
  b: {{ on_error: {{recover: "${{{{ tasks.z.output }}}}"}}, {TASK} }}
  z: {{ {TASK} }}
"""
    ran = run(text, serial=serial, width=1, a=fails(), b=fails())
    assert ran.statuses() == {"a": "success", "b": "success", "z": "success"}
    assert ran.verdict.tasks["b"].value == "z done"
