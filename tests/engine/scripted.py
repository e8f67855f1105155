"""An engine over scripted verbs: what a task replies is written in the test, everything else is real."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from nika_nb.authority.secrets import Masker
from nika_nb.engine.budget import Budget
from nika_nb.engine.clock import VirtualClock
from nika_nb.engine.contract import Call, Reply
from nika_nb.engine.ending import Verdict
from nika_nb.engine.engine import Engine
from nika_nb.engine.events import Event
from nika_nb.engine.memory import Memory, NoMemory
from nika_nb.engine.setup import Setup
from nika_nb.engine.turns import Turns
from nika_nb.errors import Fault, Source
from nika_nb.language import load
from nika_nb.plan.plan import make_plan

Script = Callable[[Call], Any]


class ScriptedVerbs:
    """Replies what the script of a task returns; raises what it raises; awaits what it awaits."""

    def __init__(self, **scripts: Script) -> None:
        self.scripts = scripts
        self.calls: list[Call] = []

    async def run(self, call: Call) -> Reply:
        self.calls.append(call)
        call.witness(None)
        script = self.scripts.get(call.task)
        found = script(call) if script else f"{call.task} done"
        if asyncio.iscoroutine(found):
            found = await found
        return found if isinstance(found, Reply) else Reply(found)


class Paths:
    """`extract:` programs of the form `.name`, enough for the engine's own tests."""

    async def values(self, program: str, value: Any) -> list[Any]:
        if program == "empty":
            return []
        if not isinstance(value, dict):
            raise Fault("NIKA-VAR-004", f"{program} on {value!r}")
        return [value.get(program.removeprefix("."))]


class Ran:
    """A finished run: its verdict, its events and the calls that reached the verbs."""

    def __init__(self, verdict: Verdict, events: list[Event], verbs: ScriptedVerbs) -> None:
        self.verdict = verdict
        self.events = events
        self.calls = verbs.calls

    def kinds(self, task: str) -> list[str]:
        return [event.kind for event in self.events if event.get("task") == task]

    def frame(self, kind: str, task: str | None = None) -> Event:
        return next(e for e in self.events if e.kind == kind and task in (None, e.get("task")))

    def statuses(self) -> dict[str, str]:
        return {name: outcome.status for name, outcome in self.verdict.tasks.items()}


def run(
    text: str,
    *,
    memory: Memory | None = None,
    inputs: dict[str, Any] | None = None,
    width: int = 8,
    max_cost_usd: float | None = None,
    spent_usd: float = 0.0,
    serial: bool = False,
    during: Callable[[Engine], Any] | None = None,
    **scripts: Script,
) -> Ran:
    """Runs a workflow text; `during` is awaited beside the run with the engine in hand."""
    loaded = load(Source(text))
    assert loaded.workflow is not None
    assert not loaded.diagnostics, loaded.diagnostics
    verbs, events = ScriptedVerbs(**scripts), []
    setup = Setup(
        plan=make_plan(loaded.workflow),
        inputs=inputs or {},
        secrets={},
        markers={},
        verbs=verbs,
        extractor=Paths(),
        memory=memory or NoMemory(),
        clock=VirtualClock(patience=0),
        mask=Masker(),
        sink=events.append,
        base=".",
        manifest={"workflow": loaded.workflow.id},
        width=width,
        turns=Turns(width),
        serial=serial,
        seed=7,
        budget=Budget(max_cost_usd, spent_usd),
    )

    async def main() -> Verdict:
        engine = Engine(setup)
        if during is None:
            return await engine.run()
        running = asyncio.ensure_future(engine.run())
        await during(engine)
        return await running

    return Ran(asyncio.run(asyncio.wait_for(main(), 30)), events, verbs)


def fails(code: str = "NIKA-EXEC-001", **details: Any) -> Script:
    """A script that fails with a code."""

    def script(call: Call) -> Any:
        raise Fault(code, f"{call.task} broke", **details)

    return script
