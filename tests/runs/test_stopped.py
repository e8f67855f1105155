"""Runs of every shape, stopped through every door at some moment: nothing further begins, nothing is left."""

from __future__ import annotations

import asyncio
import os
import random
from collections.abc import Callable
from pathlib import Path

import pytest

import nika_nb
from nika_nb.runs.calling_off import call_off
from tests.doors import alive, frames, newest, program, traces, wait_for

MOST = 4  # that work at once
ENOUGH = 300  # that would take seconds, whatever the machine
ITEMS = f"{{items: {list(range(ENOUGH))}, max_parallel: {MOST}, fail_fast: false}}"
QUICK = f"{{items: {list(range(60 * ENOUGH))}, max_parallel: {MOST}, fail_fast: false}}"
SAY = 'exec: {command: ["./say", "x"]}'
RETRY = "retry: {max_attempts: 500, backoff_ms: 1, backoff_strategy: fixed, jitter: false, on_codes: [CODE]}"

HEAD = """\
nika: stopped
model: mock/echo
permits: {exec: ["./say", "./late", "./fail"], tools: ["nika:*"], fs: {write: ["./out/*"]}}
tasks:
"""

SHAPES = {
    "a chain": "".join(
        f"  t{at}: {{{f'after: {{t{at - 1}: success}}, ' if at else ''}{SAY}}}\n" for at in range(ENOUGH)
    ),
    "side by side": "".join(f"  t{at}: {{{SAY}}}\n" for at in range(ENOUGH)),
    "one after the other": f"  e: {{for_each: {ITEMS.replace(f'parallel: {MOST}', 'parallel: 1')}, {SAY}}}\n",
    "items": f"  e: {{for_each: {ITEMS}, {SAY}}}\n",
    "late words": f'  e: {{for_each: {ITEMS}, exec: {{command: ["./late"]}}}}\n',
    "input": f'  e: {{for_each: {ITEMS}, exec: {{command: ["./say", "x"], stdin: "words"}}}}\n',
    "retries": f'  e: {{{RETRY.replace("CODE", "NIKA-EXEC-001")}, exec: {{command: ["./fail"]}}}}\n',
    "limits": f'  e: {{for_each: {ITEMS}, timeout: "9ms", on_error: {{skip: true}}, {SAY}}}\n',
    "recoveries": f'  e: {{for_each: {ITEMS}, on_error: {{recover: x}}, exec: {{command: ["./fail"]}}}}\n',
    "jq": f'  e: {{for_each: {ITEMS}, {SAY}, extract: {{n: "[range(999)] | length"}}}}\n',
    "files": f"  e: {{for_each: {QUICK}, invoke: {{tool: nika:write, args: "
    '{path: "out/${{ index }}", content: x, create_dirs: true}}}\n',
    "agents": f'  e: {{for_each: {QUICK}, agent: {{prompt: x, tools: ["nika:log"], max_turns: 5}}}}\n',
    "no time": f"  e: {{for_each: {QUICK}, invoke: {{tool: nika:log, args: {{message: x}}}}}}\n",
    "calls": f'  e: {{for_each: {ITEMS}, invoke: {{workflow: "./called.nika.yaml"}}}}\n',
}

CALLED = f"""\
nika: called
permits: {{exec: ["./say"]}}
tasks:
  a: {{{SAY}}}
  b: {{after: {{a: success}}, {SAY}}}
"""


@pytest.fixture
def here(folder: Path) -> Path:
    program(folder, "say", "sleep 0.05; echo x")
    program(folder, "late", "(sleep 0.01; echo late; sleep 9) &\necho early")
    program(folder, "fail", "sleep 0.02; exit 1")
    (folder / "called.nika.yaml").write_text(CALLED, encoding="utf-8")
    return folder


def begun(trace: Path) -> int:
    """How much was set to work, in called workflows too."""
    return trace.read_bytes().count(b"verb_invoked")


def stop(run: nika_nb.Run, trace: Path) -> None:
    run.stop()


def ask(run: nika_nb.Run, trace: Path) -> None:
    call_off(run.id, trace)


@pytest.mark.parametrize("door", [stop, ask])
@pytest.mark.parametrize("shape", SHAPES)
def test_nothing_begins_behind_a_stop(
    here: Path, shape: str, door: Callable[[nika_nb.Run, Path], None]
) -> None:
    """From this process at once; as another one asks for it, as soon as that is heard."""
    moment = random.Random(f"{shape} {door.__name__}").choice((1, 2, 5, 19))
    (here / "stopped.nika.yaml").write_text(HEAD + SHAPES[shape], encoding="utf-8")
    run = nika_nb.run(here / "stopped.nika.yaml", background=True)
    wait_for(lambda: traces(here) and begun(newest(here)) >= moment, "work")
    trace = newest(here)
    door(run, trace)
    by_then = begun(trace)
    run.wait()
    ended(run, here, shape)
    if door is stop:
        assert begun(trace) <= by_then + MOST


@pytest.mark.parametrize("shape", ["items", "no time", "calls"])
def test_an_await_that_is_cancelled_ends_its_run(here: Path, shape: str) -> None:
    """The run that it waited for goes on no more than any other that is stopped."""
    (here / "stopped.nika.yaml").write_text(HEAD + SHAPES[shape], encoding="utf-8")

    async def scenario() -> None:
        task = asyncio.ensure_future(nika_nb.arun(here / "stopped.nika.yaml"))
        while not (traces(here) and begun(newest(here)) >= MOST):
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(scenario())
    run = nika_nb.attach(newest(here))
    run.wait()
    ended(run, here, shape)


def ended(run: nika_nb.Run, folder: Path, shape: str) -> None:
    """It ended as what was stopped, long before its own end, and nothing of it works any more."""
    trace = newest(folder)
    assert run.state == "cancelled"
    assert frames(trace)[-1]["kind"] == "workflow_cancelled"
    assert begun(trace) < (60 if QUICK in SHAPES[shape] else 1) * ENOUGH
    assert not [path for path in trace.parent.iterdir() if path.suffix != ".ndjson"]
    wait_for(lambda: not at_home(folder), "the end of everything that works in the folder")


def at_home(folder: Path) -> list[int]:
    """The other processes whose working folder this is, where the system tells it."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            home = os.readlink(process / "cwd") == str(folder)
        except OSError:
            continue
        if home and int(process.name) != os.getpid() and alive(int(process.name)):
            found.append(int(process.name))
    return found
