"""`invoke: {workflow: …}`: the called workflow, run by an engine of its own under both boundaries."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import os
from collections.abc import Coroutine, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from nika_nb.authority.secrets import Masker, SecretStore
from nika_nb.catalog.frames import GENESIS, LIVE_ONLY
from nika_nb.engine.budget import CROSSED_CODE, Budget
from nika_nb.engine.clock import Clock, SystemClock
from nika_nb.engine.contract import Asks, Call, OverBudget, Permit, Reply, StaysOpen, Verbs, unit_key
from nika_nb.engine.ending import Verdict
from nika_nb.engine.engine import Engine
from nika_nb.engine.events import Event
from nika_nb.engine.halt import Halt
from nika_nb.engine.memory import Memory, NoMemory
from nika_nb.engine.outcome import TaskError
from nika_nb.engine.setup import Setup
from nika_nb.engine.turns import Turns
from nika_nb.errors import Fault
from nika_nb.language.binding import bound
from nika_nb.language.jq import JqWorker
from nika_nb.plan.identity import secret_marker
from nika_nb.plan.meaning import semantic_hash
from nika_nb.plan.plan import Callee, Plan
from nika_nb.values import dumps, loads, type_name

DEEPEST = 8  # calls inside calls
DEPTH_CODE = "NIKA-SEC-003"
MISFIT_CODE = "NIKA-COMP-004"


@dataclass(frozen=True, slots=True)
class Around:
    """What a called workflow shares with the run that calls it.

    memory: what the caller had settled earlier. seed: None where chance is real. above: the paths of
    the workflows that are under way, from the run's own down to the one whose tasks these are.
    called_off: the run goes on only to be ended.
    """

    clock: Clock = field(default_factory=SystemClock)
    masker: Masker = field(default_factory=Masker)
    memory: Memory = field(default_factory=NoMemory)
    turns: Turns = field(default_factory=Turns)
    budget: Budget = field(default_factory=Budget)
    width: int = 32
    seed: int | None = None
    above: tuple[str, ...] = ("",)
    called_off: bool = False


class Nested(Protocol):
    """Makes the verbs of a called workflow."""

    def __call__(self, callee: Callee, call: Call, around: Around) -> Verbs: ...


class Calling:
    """Runs the calls of one workflow. interactive: a human can answer what is asked below."""

    def __init__(self, plan: Plan, around: Around, nested: Nested, jq: JqWorker, interactive: bool) -> None:
        self._plan = plan
        self._around = around
        self._nested = nested
        self._jq = jq
        self._interactive = interactive

    async def run(self, call: Call) -> Reply:
        """The child's outputs. Raises Asks for its open questions, OverBudget where the run's cap cut it
        off, and Fault as its own failure."""
        callee = self._admitted(call)
        inputs = _inputs(callee, call)
        call.witness(None)
        told = _Told(call, callee)
        engine = Engine(self._setup(call, callee, inputs, told))
        return self._reply(call, told, engine, await _to_the_end(engine, engine.run(), told))

    def _admitted(self, call: Call) -> Callee:
        """The called workflow. Raises Fault NIKA-COMP-001 or -SEC-003 where it may not be launched."""
        target = str(call.body["workflow"])
        callee = self._plan.callees.get(target)
        if callee is None:
            raise Fault("NIKA-COMP-001", f"the called workflow `{target}` is not known here")
        above, why = self._around.above, ""
        if callee.path in above:
            why = "it is under way already and would launch itself"
        elif len(above) > DEEPEST:
            why = f"calls may be {DEEPEST} deep; call it from further up"
        allowed = "it runs within this workflow's boundary and its own"
        call.permit(Permit("workflow", target, not why, why or allowed))
        if why:
            raise Fault(DEPTH_CODE, f"`{target}` is not launched: {why}", details={"workflow": target})
        return callee

    def _setup(self, call: Call, callee: Callee, inputs: dict[str, Any], told: _Told) -> Setup:
        above = self._around
        workflow = callee.plan.workflow
        store = SecretStore(workflow.secrets, call.base, above.masker)
        store.arm()
        around = replace(
            above,
            memory=above.memory.child(call.task, call.item) if call.attempt == 1 else NoMemory(),
            budget=above.budget.below(call.spend),
            seed=None if above.seed is None else call.chance.getrandbits(64),
            above=(*above.above, callee.path),
        )
        return Setup(
            plan=callee.plan,
            inputs=inputs,
            secrets=store,
            markers=store.markers(secret_marker),
            verbs=self._nested(callee, call, around),
            extractor=self._jq,
            memory=around.memory,
            clock=above.clock,
            mask=above.masker,
            sink=told,
            base=call.base,
            manifest=_manifest(callee, above.masker.mask(inputs), deterministic=above.seed is not None),
            width=above.width,
            turns=above.turns,
            halt=Halt(call.halt),
            serial=above.seed is not None,
            seed=around.seed,
            budget=around.budget,
            called_off=around.called_off,
        )

    def _reply(self, call: Call, told: _Told, engine: Engine, verdict: Verdict) -> Reply:
        if verdict.state == "paused":
            asked = [
                replace(prompt, task=call.task, item=call.item, inner=prompt.key)
                for prompt in verdict.prompts
            ]
            raise Asks(
                asked[0],
                *asked[1:],
                unattended=not self._interactive,
                call_off=lambda: _to_the_end(engine, engine.call_off(), told),
            )
        if verdict.state == "cancelled":
            raise StaysOpen
        if told.cut_off(verdict):
            raise OverBudget
        if verdict.state != "completed":
            raise _failure(told, verdict)
        return Reply(verdict.outputs)


def _inputs(callee: Callee, call: Call) -> dict[str, Any]:
    """The child's inputs, bound from `args:`. Raises Fault NIKA-COMP-004."""
    given = call.body.get("args") or {}
    if not isinstance(given, Mapping):
        raise Fault(MISFIT_CODE, f"`args:` is an object, not {type_name(given)}")
    values, troubles = bound(
        callee.plan.workflow, given, lambda name, value: f"`args: {{ {name}: {value} }}`"
    )
    if troubles:
        target = call.body["workflow"]
        raise Fault(MISFIT_CODE, f"`{target}` cannot be called so: {'; '.join(troubles)}")
    return values


def _manifest(callee: Callee, inputs: Mapping[str, Any], *, deterministic: bool) -> dict[str, Any]:
    workflow = callee.plan.workflow
    return {
        "workflow": workflow.id,
        "workflow_sha256": hashlib.sha256(workflow.source.text.encode("utf-8")).hexdigest(),
        "semantic_hash": semantic_hash(workflow),
        "input_values": dumps(dict(inputs)) if inputs else None,
        "stamper_kind": "deterministic" if deterministic else None,
    }


async def _to_the_end(engine: Engine, work: Coroutine[Any, Any, Verdict], told: _Told) -> Verdict:
    """Runs the child, and has its caller record it however it ended.

    When called off, ends it first: its processes, then, called off again, its cleanups.
    """
    running = asyncio.ensure_future(told.recorded(work))
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        while not running.done():
            engine.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.wait({running})
        if not running.cancelled():
            running.exception()
        raise


def _failure(told: _Told, verdict: Verdict) -> Fault:
    """The child's own failure: of the task that failed first, or of its outputs."""
    found = told.failures(verdict)
    if not found:
        code, _, message = (verdict.detail or "").partition(" · ")
        return Fault(code, message, details={"child": told.summary(verdict)})
    task, error = next(iter(found.items()))
    return _of_task(error, told.summary(verdict) | {"task": task})


def _of_task(error: TaskError, child: dict[str, Any]) -> Fault:
    inner = error.details.get("child")
    details = {key: value for key, value in error.details.items() if key != "child"}
    child |= {"child": inner} if inner else {}
    return Fault(error.code, error.message, details=details | {"child": child}, transient=error.transient)


class _Told:
    """Hands what the child says on to its caller's journal as it comes, and keeps its chain."""

    def __init__(self, call: Call, callee: Callee) -> None:
        self._call = call
        self._callee = callee
        self._first = ""
        self._head = hashlib.sha256(GENESIS.encode("ascii")).hexdigest()

    def __call__(self, event: Event) -> None:
        if event.kind in LIVE_ONLY:
            return
        self._first = self._first or event.id
        text = dumps({"kind": event.kind, "fields": event.fields})
        self._head = hashlib.sha256(f"{self._head}\n{text}".encode("utf-8", "surrogatepass")).hexdigest()
        self._see(event)
        self._call.tell("nb_child", _passed_on(event) or {"child": self._id, "event": text})

    def _see(self, event: Event) -> None:
        """What a task below was about to read, the call of it was as well."""
        for name in loads(event.get("files_seen") or "{}"):
            self._call.saw(os.path.join(self._call.base, name))

    @property
    def _id(self) -> str:
        return self._callee.plan.workflow.id

    def tidies(self, task: str) -> bool:
        """Whether a task is a cleanup, whose failure fails nobody."""
        return self._callee.plan.tasks[task].task.is_cleanup

    def failures(self, verdict: Verdict) -> dict[str, TaskError]:
        """The errors of the tasks that failed, in the order of the text."""
        ended = verdict.tasks.items()
        failed = {name: end.error for name, end in ended if end.status == "failure" and end.error}
        return {name: error for name, error in failed.items() if not self.tidies(name)}

    def cut_off(self, verdict: Verdict) -> bool:
        """Whether it ended because the run had cost what it may, and for nothing else."""
        over = (verdict.detail or "").startswith(CROSSED_CODE)
        return verdict.state == "failed" and over and not self.failures(verdict)

    async def recorded(self, work: Coroutine[Any, Any, Verdict]) -> Verdict:
        """The verdict of the child, which its caller has recorded by then unless it pauses."""
        verdict = await work
        if verdict.state != "paused":
            self._call.called(dumps(self.summary(verdict)))
        return verdict

    def summary(self, verdict: Verdict) -> dict[str, Any]:
        """What the caller records of the child: which it was, what it wrote, how it ended."""
        return {
            "workflow": self._id,
            "semantic_hash": semantic_hash(self._callee.plan.workflow),
            "plan_id": self._callee.digest,
            "trace_id": self._first,
            "chain_head": self._head,
            "outcome": self._outcome(verdict),
        }

    def _outcome(self, verdict: Verdict) -> dict[str, str]:
        """How the child ended, as a task does: by class and cause."""
        if verdict.state == "completed":
            return {"class": "success", "cause": "normal"}
        if self.cut_off(verdict):
            return {"class": "cancelled", "cause": "budget"}
        status = "failure" if verdict.state == "failed" else "cancelled"
        ends = {name: end.cause for name, end in verdict.tasks.items() if end.status == status}
        causes = [cause for name, cause in ends.items() if not self.tidies(name)]
        if status == "failure":
            return {"class": status, "cause": causes[0] if causes else "verb_error"}
        only_budget = "budget" in causes and "operator" not in causes
        return {"class": status, "cause": "budget" if only_budget else "operator"}


def _passed_on(event: Event) -> dict[str, Any] | None:
    """A grandchild's event, one step further up; None for the child's own."""
    if event.kind != "nb_child":
        return None
    step = [event.get("task"), event.get("item"), event.get("attempt")]
    below = event.get("within")
    within = f"[{dumps(step)},{below[1:]}" if below else dumps([step])
    return {"child": event.get("child"), "within": within, "event": event.get("event")}


def answers_below(answers: Mapping[str, Any], call: Call) -> dict[str, Any]:
    """The answers that are meant for the workflow that a call runs, by their keys in there."""
    prefix = f"{unit_key(call.task, call.item)}/"
    return {key.removeprefix(prefix): answer for key, answer in answers.items() if key.startswith(prefix)}
