"""What would become of the tasks of one plan, as people are told it: their fates, ceilings and reach."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Collection, Coroutine, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any

from nika_nb.authority.effects import effects
from nika_nb.authority.secrets import Masker, SecretStore
from nika_nb.board.forecast import Ceiling, TaskForecast, Touch
from nika_nb.board.rows import reason_said
from nika_nb.engine.forecast import Expected, Forecaster
from nika_nb.engine.identify import Identifier
from nika_nb.engine.memory import Memory
from nika_nb.engine.reasons import parts_of
from nika_nb.engine.scope import Scopes
from nika_nb.engine.seen import Seen
from nika_nb.language.binding import bound
from nika_nb.language.folding import fold
from nika_nb.language.jq import JqWorker
from nika_nb.language.model import Action, Task
from nika_nb.language.template import islands
from nika_nb.plan.identity import secret_marker
from nika_nb.plan.plan import Callee, Plan, TaskPlan
from nika_nb.runs.ceilings import NOTHING, ceiling, paid_model
from nika_nb.runs.inputs import how_given
from nika_nb.runs.request import Request
from nika_nb.tools.prompt import NAME as PROMPT
from nika_nb.trace.memory import JournalMemory


def foretold(
    request: Request,
    plan: Plan,
    inputs: Mapping[str, Any],
    memory: Memory,
    answered: Collection[str] = (),
    doubtful: Collection[str] = (),
) -> list[TaskForecast]:
    """Every task with its fate. The memory is used up by it.

    answered: the prompts that are answered with the request. doubtful: the tasks that are asked about
    before they run again.
    """
    run = plan.workflow.run
    watched = run.clock != "virtual" and run.entropy == "ambient"
    seen = Seen(str(request.place.base), watched=watched)
    with closing(JqWorker()) as jq:
        ahead = _Ahead(request, plan, Masker(), jq, frozenset(answered), frozenset(doubtful), seen)
        return _alone(lambda: ahead.tasks(inputs, memory))


@dataclass(frozen=True, slots=True)
class _Ahead:
    """Looks ahead in one workflow of a request. above: how its tasks are called, `call/` in a called one.

    answered: the prompts that are answered with the request. doubtful: the tasks that are asked about
    before they run again. What is told of values is told without the secrets.
    """

    request: Request
    plan: Plan
    masker: Masker
    jq: JqWorker
    answered: frozenset[str]
    doubtful: frozenset[str]
    seen: Seen
    above: str = ""

    async def tasks(self, inputs: Mapping[str, Any], memory: Memory) -> list[TaskForecast]:
        """Every task, those of a called workflow right behind their call."""
        workflow = self.plan.workflow
        store = SecretStore(workflow.secrets, self.request.place.base, self.masker)
        store.arm()
        scopes = Scopes(workflow, inputs, store, store.markers(secret_marker))
        expected = Forecaster(self.plan, scopes, Identifier(scopes, self.masker), memory, self.jq)
        found: list[TaskForecast] = []
        for one in await expected.run():
            known = {root: scopes.live[root] for root in ("inputs", "const")} | {"with": one.bindings}
            task = self.plan.tasks[one.task].task
            action = replace(task.action, body=fold(task.action.body, known))
            below = await self._below(task, action, one, memory)
            found += [self._task(one, action, memory, bool(below)), *below]
        return found

    async def _below(
        self, task: Task, action: Action, expected: Expected, memory: Memory
    ) -> list[TaskForecast]:
        """The tasks of a called workflow, where it runs once and its arguments are known."""
        callee = self.plan.callees.get(task.called or "")
        args = action.value("args")
        if callee is None or expected.fate != "run" or task.for_each is not None or any(islands(args)):
            return []
        given = args.raw if args is not None else {}
        values, troubles = bound(
            callee.plan.workflow, given if isinstance(given, dict) else {}, how_given("var")
        )
        if troubles:
            return []
        ahead = replace(self, plan=callee.plan, above=f"{self.above}{task.id}/")
        return await ahead.tasks(values, memory.child(task.id, None))

    def _task(self, expected: Expected, action: Action, memory: Memory, told: bool) -> TaskForecast:
        """told: the tasks that it calls are told one by one."""
        planned = self.plan.tasks[expected.task]
        task, works = planned.task, expected.fate in ("run", "depends")
        callee = None if told else self.plan.callees.get(task.called or "")
        reach = dict.fromkeys(self._touches(action, callee)) if works and _has_work(expected) else ()
        touches = tuple(reach)
        fires = any(not touch.reads for touch in touches)
        name = f"{self.above}{task.id}"
        prompts = works and task.action.get("tool") == PROMPT
        return TaskForecast(
            task=name,
            verb=task.action.verb,
            note=planned.note,
            fate=expected.fate,
            why=self.masker.mask_text(_why(planned, expected)),
            upstream=tuple(f"{self.above}{name}" for name in expected.upstream),
            recorded=expected.recorded,
            items=expected.items,
            ceiling=self._ceiling(task, expected, action) if works and not told else NOTHING,
            models=tuple(self._models(task, action, callee)) if works else (),
            touches=touches,
            again=memory.began(task.id) if fires and isinstance(memory, JournalMemory) else "",
            asks=(prompts and name not in self.answered) or (works and name in self.doubtful),
            saved_usd=round(sum((hit.cost_usd or 0.0 for hit in expected.hits), 0.0), 10),
            saved_ms=sum(hit.duration_ms or 0 for hit in expected.hits),
            files_changed=tuple(
                dict.fromkeys(name for hit in expected.hits for name in self.seen.changed(hit))
            ),
        )

    def _touches(self, action: Action, callee: Callee | None) -> Iterator[Touch]:
        """callee: the workflow that it calls, as it is written, where its tasks are not told one by one."""
        for one in (action, *(callee.plan.actions() if callee is not None else ())):
            for effect in effects(one):
                yield Touch(effect.kind, self.masker.mask_text(effect.target or ""))

    def _models(self, task: Task, action: Action, callee: Callee | None) -> Iterator[str]:
        named = paid_model(task, action.body.raw, self.plan.model)
        if named is not None:
            yield self.masker.mask_text(_model_said(named))
        if callee is not None:
            yield from _models_below(callee.plan, f"{self.above}{task.id}/")

    def _ceiling(self, task: Task, expected: Expected, action: Action) -> Ceiling:
        if task.called is not None:
            callee = self.plan.callees.get(task.called)
            asks = callee is None or asks_a_model(callee.plan)
            return Ceiling(None, "what it calls is decided by the run") if asks else NOTHING
        units: int | None = 1
        if task.for_each is not None:
            units = None if expected.items is None else expected.items - (expected.recorded or 0)
        return ceiling(task, action.body.raw, self.plan.model, units)


def _models_below(plan: Plan, above: str) -> Iterator[str]:
    """The models that the tasks of a called workflow ask, each with the task."""
    for name, planned in plan.tasks.items():
        named = paid_model(planned.task, planned.task.action.body.raw, plan.model)
        if named is not None:
            yield f"{_model_said(named)} for {above}{name}"
        callee = plan.callees.get(planned.task.called or "")
        if callee is not None:
            yield from _models_below(callee.plan, f"{above}{name}/")


def _model_said(named: str) -> str:
    return "only the run knows" if "${{" in named else named or "none is named"


def _has_work(expected: Expected) -> bool:
    return expected.items is None or expected.recorded is None or expected.recorded < expected.items


def asks_a_model(plan: Plan) -> bool:
    """Whether a task of a workflow, or of what it calls, is answered by a model."""
    own = any(planned.task.action.verb in ("infer", "agent") for planned in plan.tasks.values())
    return own or any(asks_a_model(callee.plan) for callee in plan.callees.values())


def _why(planned: TaskPlan, expected: Expected) -> str:
    """Why it runs and what else is to say; empty where the fate says it all."""
    miss = expected.miss if expected.fate == "run" else None
    reason = reason_said(miss.reason, parts_of(planned, miss), miss.detail) if miss else ""
    return ", ".join(said for said in (reason, expected.why) if said)


def _alone(work: Callable[[], Coroutine[Any, Any, list[TaskForecast]]]) -> list[TaskForecast]:
    """The result of a coroutine, on a loop of its own: the caller's thread may be running one."""
    found: list[list[TaskForecast]] = []
    broken: list[BaseException] = []

    def run() -> None:
        try:
            found.append(asyncio.run(work()))
        except BaseException as error:  # noqa: BLE001 - raised again where it is waited for
            broken.append(error)

    thread = threading.Thread(target=run, name="nika-forecast", daemon=True)
    thread.start()
    while thread.is_alive():
        thread.join(0.05)
    if broken:
        raise broken[0]
    return found[0]
