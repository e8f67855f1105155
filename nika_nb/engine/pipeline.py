"""The dispatch pipeline of one task: bindings, `when:`, memory, verb; in that order, as the law says."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from typing import Any

from nika_nb.engine.attempts import UNANSWERED_CODE, error_of
from nika_nb.engine.clock import Clock
from nika_nb.engine.contract import Asks, CallOff, Prompt, StaysOpen
from nika_nb.engine.fanout import FanOut, aligned, fold, not_a_list
from nika_nb.engine.identify import recall, try_identity
from nika_nb.engine.memory import Carried, Hit, Memory
from nika_nb.engine.outcome import Outcome
from nika_nb.engine.scope import Scopes, per_item, reads
from nika_nb.engine.settle import Settler
from nika_nb.engine.unit import UnitRunner, decide, when_reads_item
from nika_nb.engine.work import Work
from nika_nb.errors import Fault
from nika_nb.language.model import Task
from nika_nb.language.template import render
from nika_nb.plan.identity import Identity
from nika_nb.plan.plan import TaskPlan
from nika_nb.values import dumps

CLEANUP_TIMEOUT_MS = 30_000
CLEANS_UP = Fault("NIKA-IMPL-001", "a cleanup runs whenever what it follows does")


@dataclass(frozen=True, slots=True)
class Ended:
    """A task that has settled; its frames are written."""

    outcome: Outcome
    bindings: dict[str, Any] = field(default_factory=dict)
    work: Work = field(default_factory=Work)


@dataclass(frozen=True, slots=True)
class Open:
    """A task that stays open behind its prompts; begun, call_offs: see `StaysOpen`."""

    prompts: tuple[Prompt, ...]
    begun: bool = True
    call_offs: tuple[CallOff, ...] = ()

    @classmethod
    def of(cls, waits: StaysOpen) -> Open:
        return cls(waits.prompts, waits.begun, (waits.call_off,) if waits.call_off else ())


Cleanups = Callable[[TaskPlan, Ended], Awaitable[None]]


class Pipeline:
    """Takes admitted tasks to their ends; scheduling is the engine's."""

    def __init__(
        self, scopes: Scopes, units: UnitRunner, memory: Memory, settler: Settler, clock: Clock, width: int
    ) -> None:
        self._scopes = scopes
        self._units = units
        self._memory = memory
        self._settler = settler
        self._clock = clock
        self._width = width

    async def process(self, planned: TaskPlan, work: Work, cleanups: Cleanups) -> Ended | Open:
        """`work` collects what happens, so that an interrupted task can still be told."""
        carried = self._memory.carried(planned.task.id)
        if carried is not None and carried.open:
            work.restore(carried)
        elif carried is not None:
            return self._carried(planned, carried)
        stage = "with"
        try:
            scope = self._boundary(planned)
            stage = "when"
            if not self._decided(planned, scope):
                return self._skipped(planned, "when: gate closed", _when_text(planned))
            stage = "for_each"
            items = None if planned.task.for_each is None else self._collection(planned, scope)
        except Fault as fault:
            return self._boundary_failure(planned, stage, fault)
        if items is None:
            return await self._single(planned, scope, work, cleanups)
        if not items:
            return self._skipped(planned, "for_each · empty collection", None)
        return await self._fan_out(planned, items, work, cleanups)

    def _boundary(self, planned: TaskPlan) -> dict[str, Any]:
        """The scope of the body. Before a fan-out only the bindings that speak of no item exist."""
        task = planned.task
        if task.for_each is not None:
            task = _without(task, per_item(task))
        return self._scopes.live | {"with": self._scopes.bindings(task, self._scopes.live, {})}

    def _decided(self, planned: TaskPlan, scope: dict[str, Any]) -> bool:
        task = planned.task
        with self._scopes.located(task):
            return (task.for_each is not None and when_reads_item(task)) or decide(task, scope)

    def _skipped(self, planned: TaskPlan, note: str, when: str | None) -> Ended:
        outcome = Outcome("skipped", "gate")
        self._settler.skipped(planned, note, when, outcome)
        return Ended(outcome)

    def _boundary_failure(self, planned: TaskPlan, stage: str, fault: Fault) -> Ended:
        """stage: the key of the task that failed."""
        outcome = Outcome("failure", "verb_error", error=error_of(fault, planned.task.id, 1))
        self._settler.before_start(planned, stage, outcome)
        return Ended(outcome)

    def _carried(self, planned: TaskPlan, carried: Carried) -> Ended:
        before = Work.of(carried)
        self._settler.carried(planned, carried.outcome, before)
        return Ended(carried.outcome, work=before)

    async def _cache_hit(
        self, planned: TaskPlan, identity: Identity | Fault, hit: Hit, fan_out: FanOut | None = None
    ) -> Ended:
        outcome = self._units.outcome(hit)
        try:
            if fan_out is None:
                bindings = await self._units.bind(planned, hit.output)
            else:
                bindings = aligned(planned, await fan_out.recall(hit.output))
        except Fault as fault:
            return self._boundary_failure(planned, "extract", fault)
        self._settler.cache_hit(planned, outcome, identity, hit)
        return Ended(outcome, bindings, Work.of(hit))

    async def _single(
        self, planned: TaskPlan, scope: dict[str, Any], work: Work, cleanups: Cleanups
    ) -> Ended | Open:
        identity = try_identity(self._units.identifier.task, planned)
        try:
            found = await self._units.standing(planned, recall(self._memory, identity))
            if isinstance(found, Hit):
                return await self._cache_hit(planned, identity, found)
            work.miss = found
            outcome, bindings = await self._units.run(planned, work, scope, None)
        except StaysOpen as waits:
            return Open.of(waits)
        if outcome.status == "cancelled" and not work.begun:
            return self.over_budget(planned)
        end = Ended(outcome, bindings, work)
        if work.begun:
            await cleanups(planned, end)
        self._settler.ran(planned, planned.note, outcome, work, identity)
        return end

    async def _fan_out(
        self, planned: TaskPlan, live: list[Any], work: Work, cleanups: Cleanups
    ) -> Ended | Open:
        marked = self._marked(planned, live)
        identity = try_identity(self._units.identifier.fan_out, planned, marked)
        fan_out = FanOut(self._units, planned, live, marked, work)
        try:
            found = await fan_out.standing(recall(self._memory, identity))
        except StaysOpen as waits:
            return Open.of(waits)
        if isinstance(found, Hit):
            return await self._cache_hit(planned, identity, found, fan_out)
        work.miss = found
        self._settler.fans_out(planned.task.id, len(live))
        items = await fan_out.run(self._width)
        work.ended = self._clock.now()
        if items.open and not items.stopped:
            return Open(tuple(items.prompts), items.begun, tuple(items.call_offs))
        for call_off in items.call_offs:
            await call_off()
        end = Ended(*fold(planned, items), work)
        if work.begun:
            await cleanups(planned, end)
        note = f"{planned.note} · {len(live)} items"
        self._settler.ran(planned, note, end.outcome, work, identity)
        return end

    def over_budget(self, planned: TaskPlan) -> Ended:
        """A task that had not started when the run crossed its cap."""
        outcome = Outcome("cancelled", "budget")
        self._settler.cancelled(planned.task.id, "over budget", None, outcome)
        return Ended(outcome)

    def _collection(self, planned: TaskPlan, scope: dict[str, Any]) -> list[Any]:
        assert planned.task.for_each is not None
        with self._scopes.located(planned.task):
            value = render(planned.task.for_each.items, scope)
            if not isinstance(value, list):
                raise not_a_list(planned, value)
        return value

    def _marked(self, planned: TaskPlan, live: list[Any]) -> list[Any]:
        """The collection as identities see it: the same, unless secrets take part in it."""
        task = planned.task
        assert task.for_each is not None
        if not any(reads(value, "secrets") for value in (task.for_each.items, *task.with_.values())):
            return live
        bindings = self._scopes.bindings(_without(task, per_item(task)), self._scopes.marked, {})
        found: list[Any] = render(task.for_each.items, self._scopes.marked | {"with": bindings})
        return found

    def idle(self, planned: TaskPlan) -> Ended:
        """An `unwind` task behind which there is nothing to clean up."""
        return self._skipped(planned, "unwind · nothing started", None)

    async def cleaned(self, planned: TaskPlan) -> Ended:
        """An `unwind` task whose producers did not run again: it stands as it ended behind them."""
        found = self._memory.cleaned(planned.task.id, planned.def_hash)
        if isinstance(found, Hit):
            return await self._cache_hit(planned, CLEANS_UP, found)
        return self.idle(planned) if found is None else self._carried(planned, found)

    async def cleanup(self, planned: TaskPlan, work: Work, cleanups: Cleanups) -> Ended:
        """An `unwind` task: bounded, run whenever what it follows is, and it cannot wait for a human."""
        task = planned.task
        bounded = replace(planned, task=replace(task, timeout_ms=task.timeout_ms or CLEANUP_TIMEOUT_MS))
        stage = "with"
        try:
            scope = self._scopes.live | {"tasks": self._scopes.tasks}
            scope |= {"with": self._scopes.bindings(task, scope, {})}
            stage = "when"
            with self._scopes.located(task):
                if not decide(task, scope):
                    return self._skipped(planned, "when: gate closed", _when_text(planned))
            outcome, bindings = await self._units.run(bounded, work, scope, None, owed=True)
        except Fault as fault:
            return self._boundary_failure(planned, stage, fault)
        except Asks as asks:
            if asks.call_off is not None:
                await asks.call_off()
            message = f"a cleanup cannot wait for an answer: {asks.prompt.message}"
            return self._boundary_failure(planned, "prompt", Fault(UNANSWERED_CODE, message))
        end = Ended(outcome, bindings, work)
        if work.begun:
            await cleanups(planned, end)
        self._settler.ran(planned, planned.note, outcome, work, CLEANS_UP)
        return end


def _without(task: Task, bindings: frozenset[str]) -> Task:
    return replace(task, with_={name: value for name, value in task.with_.items() if name not in bindings})


def _when_text(planned: TaskPlan) -> str | None:
    when = planned.task.when
    if when is None or isinstance(when, bool):
        return None if when is None else dumps(when)
    return str(when.raw)
