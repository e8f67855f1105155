"""A record against a second run of the same text: per task, what came of it and what that is owed to."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from nika_nb.board.reproduction import WORD, TaskReproduction, VerdictName
from nika_nb.catalog.builtins import PROMPT, UUID
from nika_nb.language.model import Task
from nika_nb.plan.plan import RECOVER, Plan, TaskPlan
from nika_nb.runs.diff import recover_differently
from nika_nb.trace.fields import shape_of
from nika_nb.trace.unit import Unit
from nika_nb.trace.units import Units
from nika_nb.values import loads, unequal

_NO_PROGRAM = "NIKA-EXEC-002"
_NO_MODEL = ("NIKA-PROVIDER-", "NIKA-INFER-001")  # nobody serves it, refuses, or cannot be reached
_NO_SECRET = "NIKA-VAR-001"
_ASKS = "it asks, and no answer is recorded"
_NO_ANSWER = "NIKA-BUILTIN-PROMPT-001"

# Tools whose result nothing but the moment decides.
_ANEW = {
    UUID: "an id is made anew",
    "nika:date": "it reads the clock",
    "nika:image_generate": "a model answers anew",
    "nika:tts_generate": "a model answers anew",
}

Said = tuple[VerdictName, str]  # the verdict, and a phrase


class Verdicts:
    """Judges the tasks of one plan. then, now: both runs. edits: by task, what today's text says otherwise.

    Of a task that today's text does not have it says nothing.
    """

    def __init__(self, plan: Plan, then: Units, now: Units, edits: Mapping[str, tuple[str, ...]]) -> None:
        self._plan = plan
        self._then = then.tasks
        self._now = now.tasks
        self._edits = edits
        self._known: dict[str, Said] = {}

    def __iter__(self) -> Iterator[TaskReproduction]:
        for task in self._plan.workflow.tasks:
            yield self._told(task)

    def _told(self, task: str) -> TaskReproduction:
        then, now = self._then.get(task), self._now.get(task)
        verdict, why = self._of(task)
        parts = self._edits.get(task, ())
        if task in self._edits:
            what = f"today's text differs: {', '.join(parts)}" if parts else "today's text does not have it"
            as_it_was = "it is reproduced" if verdict == "reproduced" else f"{WORD[verdict]}: {why}"
            verdict, why = "edited", f"{what}; as it was recorded, {as_it_was}"
        return TaskReproduction(
            task=task,
            verdict=verdict,
            why=why,
            parts=parts,
            before=then.state if then else None,
            after=now.state if now else None,
            recorded=then.output if then else None,
            again=now.output if now else None,
        )

    def _of(self, task: str) -> Said:
        """The verdict on the recorded text; once for each task."""
        if task not in self._known:
            self._known[task] = self._judged(self._plan.tasks[task])
        return self._known[task]

    def _judged(self, planned: TaskPlan) -> Said:
        then, now = self._then.get(planned.task.id), self._now.get(planned.task.id)
        if then is None or not then.settled:
            waited = ": it waited for an answer" if then is not None and then.state == "paused" else ""
            return "unverifiable", f"the record has no end of it{waited}"
        if now is None or not now.settled:
            asks = now is not None and now.state == "paused"
            return "unverifiable", _ASKS if asks else "it was not run again"
        if then.state != now.state:
            return self._other_end(planned, then, now)
        if then.state == "failure":
            return self._two_failures(planned, then, now)
        if then.state != "success":
            return "reproduced", f"{then.state} alike"
        return self._two_successes(planned, then, now)

    def _two_successes(self, planned: TaskPlan, then: Unit, now: Unit) -> Said:
        for unit, where in ((then, "in the record"), (now, "this time")):
            if unit.output is None:
                return "unverifiable", f"no output {where}: {unit.not_resumable or 'none was kept'}"
        if _same(then.output, now.output):
            return "reproduced", ""
        verdict, why = self._cause(planned, then, now)
        items = _items_said(then.output, now.output) if planned.task.for_each is not None else ""
        return verdict, why + items

    def _two_failures(self, planned: TaskPlan, then: Unit, now: Unit) -> Said:
        if then.error_code == now.error_code:
            return "reproduced", f"fails alike ({then.error_code})"
        return self._blamed(planned, f"failed with {then.error_code}, now with {_fault(now)}")

    def _other_end(self, planned: TaskPlan, then: Unit, now: Unit) -> Said:
        if now.state == "cancelled":
            return "unverifiable", "it was not run again: what it waits for did not succeed"
        if then.state == "cancelled":
            return "unverifiable", "it was not run when it was recorded"
        if now.state == "failure":
            return self._failing(planned, now)
        before = f"failed then ({then.error_code})" if then.state == "failure" else f"{then.state} then"
        return self._blamed(planned, f"{before}, {_DONE.get(now.state, now.state)} now")

    def _failing(self, planned: TaskPlan, now: Unit) -> Said:
        if now.error_code == _NO_ANSWER:
            return "unverifiable", _ASKS
        if now.error_code == _NO_SECRET and "secret" in (now.error_message or ""):
            return "unverifiable", f"a secret is not here: {now.error_message}"
        if now.error_code == _NO_PROGRAM:
            return "environment", f"missing: {now.error_message}"
        if (now.error_code or "").startswith(_NO_MODEL):
            return "environment", f"fails now: {_fault(now)}"
        return self._blamed(planned, f"fails now: {_fault(now)}")

    # -- causes --------------------------------------------------------------------------------

    def _cause(self, planned: TaskPlan, then: Unit, now: Unit) -> Said:
        """What the difference of two outputs is owed to."""
        other = (RECOVER,) if recover_differently(planned, then, now) else ()
        if then.input_hash is not None and then.input_hash == now.input_hash and not other:
            return self._own(planned, then, now)
        parts = (*unequal(shape_of(then.input_parts), shape_of(now.input_parts)), *other)
        found = [(part, *self._source(planned, part)) for part in parts]
        for verdict in ("environment", "unverifiable", "nature"):
            for part, source, said in found:
                if said == verdict:
                    return verdict, f"its input `{part}` comes from `{source}`"
        if anew(planned.task, self._plan):
            return "nature", anew(planned.task, self._plan)
        if any(source for _, source, _ in found):
            return "nature", f"its input `{found[0][0]}` is measured anew in every run"
        return "environment", _world(planned.task)

    def _source(self, planned: TaskPlan, part: str) -> tuple[str, VerdictName]:
        """(the task that a binding comes from, the verdict on it); of several the one that explains most."""
        producers = planned.origins_of(part)
        judged = [(producer, self._of(producer)[0]) for producer in producers]
        differing = [pair for pair in judged if pair[1] != "reproduced"]
        return (differing or judged or [("", "reproduced")])[0]

    def _own(self, planned: TaskPlan, then: Unit, now: Unit) -> Said:
        """What is owed to the task itself; of a call, to the task below it that explains most."""
        callee = self._plan.callees.get(planned.task.called or "")
        told = [
            one
            for pair in _called(then, now)
            for one in (Verdicts(callee.plan, *pair, {}) if callee is not None else ())
        ]
        for verdict in ("environment", "nature", "unverifiable"):
            for one in told:
                if one.verdict == verdict:
                    return verdict, f"in the workflow that it calls, of `{one.task}`: {one.why}"
        own = anew(planned.task, self._plan)
        return ("nature", own) if own else ("environment", _world(planned.task))

    def _blamed(self, planned: TaskPlan, said: str) -> Said:
        """Where no inputs are recorded to compare: what came before it, or its own kind, or the world."""
        for producer in planned.producers:
            verdict, _ = self._of(producer)
            if verdict != "reproduced":
                return verdict, f"{said}; `{producer}` before it differs"
        then, now = self._then[planned.task.id], self._now[planned.task.id]
        return self._own(planned, then, now)[0], said


_DONE = {"success": "succeeds", "failure": "fails"}


def _called(then: Unit, now: Unit) -> Iterator[tuple[Units, Units]]:
    """The workflow that a task called, in both runs; of a fan-out, item by item."""
    if then.below is not None and now.below is not None:
        yield then.below, now.below
    for index, below in (then.called or {}).items():
        again = (now.called or {}).get(index)
        if again is not None:
            yield below, again


def anew(task: Task, plan: Plan) -> str:
    """Why a task may say something else each time; empty where it has to say the same."""
    if task.action.verb in ("infer", "agent"):
        return "a model answers anew"
    callee = plan.callees.get(task.called or "")
    if callee is not None:
        inner = [name for name, one in callee.plan.tasks.items() if anew(one.task, callee.plan)]
        return f"in the workflow that it calls, `{inner[0]}` says something else each time" if inner else ""
    return _ANEW.get(str(task.action.get("tool")), "")


def _world(task: Task) -> str:
    """What outside the run a task of this kind depends on."""
    if task.action.verb == "exec":
        return (
            "the same command gives something else: its program, a file or a variable that it reads differs"
        )
    if task.called is not None:
        return "the same call gives something else: something that its tasks depend on differs"
    tool = str(task.action.get("tool"))
    if tool == PROMPT:
        return "it was answered otherwise"
    return f"`{tool}` gives something else: what it reads outside the run differs"


def _fault(unit: Unit) -> str:
    return f"{unit.error_code} · {unit.error_message}"


def _same(one: str | None, two: str | None) -> bool:
    """Whether two texts hold the same JSON, in whatever order an object has it."""
    if one == two:
        return True
    try:
        return bool(
            json.dumps(loads(one or ""), sort_keys=True) == json.dumps(loads(two or ""), sort_keys=True)
        )
    except (ValueError, RecursionError):
        return False


def _items_said(one: str | None, two: str | None) -> str:
    """Of two lists of the same length, which of their elements differ."""
    try:
        before, after = loads(one or ""), loads(two or "")
    except (ValueError, RecursionError):
        return ""
    if not (isinstance(before, list) and isinstance(after, list)) or len(before) != len(after):
        return ""
    differing = [at for at, (a, b) in enumerate(zip(before, after, strict=True)) if not _equal(a, b)]
    shown = ", ".join(map(str, differing[:8])) + (", …" if len(differing) > 8 else "")
    return f" ({len(differing)} of {len(before)} differ: {shown})"


def _equal(one: Any, two: Any) -> bool:
    return json.dumps(one, sort_keys=True) == json.dumps(two, sort_keys=True)
