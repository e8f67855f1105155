"""`Plan` → events: starts each task once its producers have settled, and sees the run to its end."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterable
from typing import Any

from nika_nb.engine.clock import Stamper
from nika_nb.engine.contract import StaysOpen, Usage
from nika_nb.engine.emit import Emitter
from nika_nb.engine.ending import Ending, Verdict
from nika_nb.engine.outcome import Outcome
from nika_nb.engine.pipeline import Ended, Open
from nika_nb.engine.scope import Scopes, Settled, record
from nika_nb.engine.settle import Settler, note_of
from nika_nb.engine.setup import Setup, looks, pipeline
from nika_nb.engine.turns import Turns
from nika_nb.engine.unwind import Unwinding
from nika_nb.engine.waits import Waits
from nika_nb.engine.work import Work
from nika_nb.errors import Fault
from nika_nb.plan.edges import Edge
from nika_nb.plan.plan import TaskPlan
from nika_nb.values import dumps


class Engine:
    """One run. `run()` on one event loop; `cancel()` on the same loop, at any time."""

    def __init__(self, setup: Setup) -> None:
        self._setup = setup
        self._plan = setup.plan
        self._emitter = Emitter(
            setup.sink, setup.clock, Stamper(setup.clock, setup.seed), setup.mask, timeless=setup.serial
        )
        seen = looks(setup)
        self._settler = Settler(self._emitter, setup.mask, seen)
        self._scopes = Scopes(setup.plan.workflow, setup.inputs, setup.secrets, setup.markers)
        self._budget = setup.budget
        self._halt = setup.halt
        self._waits = Waits(setup.plan.tasks)
        self._pipeline = pipeline(
            setup, self._emitter, self._settler, self._scopes, self._waits, self._await_task, seen
        )
        self._ending = Ending(setup.plan, self._emitter, self._settler, self._scopes, setup.budget)
        self._turn = Turns(1 if setup.serial else max(1, len(setup.plan.tasks)))
        self._entry = Turns(setup.width)
        self._settled: dict[str, Outcome] = {}
        self._missing = {planned.task.id: len(planned.producers) for planned in setup.plan.scheduled}
        self._unwinding = Unwinding(setup.plan, setup.memory)
        self._active: dict[str, asyncio.Task[None]] = {}
        self._cleaning: dict[str, asyncio.Task[None]] = {}
        self._works: dict[str, Work] = {}
        self._opened: dict[str, Open] = {}
        self._usages: list[Usage] = []
        self._crash: BaseException | None = None

    async def run(self) -> Verdict:
        """Every task to its end, then the run's own last frame."""
        self._open()
        for planned in self._plan.scheduled:
            if not self._missing[planned.task.id]:
                self._start(planned)
        await self._at_rest()
        if self._setup.called_off and len(self._settled) < len(self._plan.tasks):
            self._halt.times = self._halt.times or 1
        return await self._close()

    async def call_off(self) -> Verdict:
        """Ends a run that has paused: what stood open is cancelled, and cleaned up after."""
        self._halt.times = 1
        return await self._close()

    async def _at_rest(self) -> None:
        await self._waits.rest()
        while self._waits.waiting:
            self._waits.call_off()
            await self._waits.rest()
        if self._crash is not None:
            raise self._crash

    async def _close(self) -> Verdict:
        if self._cancelled or self._ending.over_budget(self._settled):
            await self._unwind(Outcome("cancelled", "operator" if self._cancelled else "budget"))
        elif self._opened:
            for cleanup, worked in self._unwinding.owing():
                self._emitter.emit("nb_owed", task=cleanup, worked=dumps(worked))
        prompts = [prompt for found in self._opened.values() for prompt in found.prompts]
        return self._ending.close(self._settled, prompts, self._used(), cancelled=self._cancelled)

    @property
    def _cancelled(self) -> bool:
        return self._halt.times > 0

    def _used(self) -> list[Usage]:
        """Every model call of the run, those of tasks that are still open included."""
        return self._usages + [usage for work in self._works.values() for usage in work.usages]

    def ask_to_end(self, loop: asyncio.AbstractEventLoop) -> None:
        """`cancel` from any thread: nothing begins any more, and the loop it runs on hears of it next.

        Raises RuntimeError where that loop has closed.
        """
        self._halt.ask()
        loop.call_soon_threadsafe(self.cancel)

    def cancel(self) -> None:
        """Ends everything at once: processes, waiting tasks, the run. Cleanups still run.

        A second call ends the cleanups too.
        """
        self._halt.hear()
        cleanups = self._cleaning.values() if self._halt.times > 1 else ()
        for task in [*self._active.values(), *cleanups]:
            task.cancel()

    def _open(self) -> None:
        self._emitter.emit("workflow_started", **self._setup.manifest)
        for kind, fields in self._setup.preamble:
            self._emitter.emit(kind, **fields)
        needs: dict[str, list[list[str | None]]] = {name: [] for name in self._plan.tasks}
        for edge in self._plan.edges:
            needs[edge.consumer].append([edge.producer, edge.kind, edge.binding or edge.predicate])
        for name, planned in self._plan.tasks.items():
            verb = planned.task.action.verb
            self._emitter.emit(
                "task_scheduled", task=name, verb=verb, note=planned.note, needs=dumps(needs[name])
            )

    # -- tasks -----------------------------------------------------------------------------

    def _start(self, planned: TaskPlan) -> None:
        self._set_to_work(planned.task.id, self._guarded(planned), self._active)

    def _set_to_work(
        self, name: str, work: Coroutine[Any, Any, None], among: dict[str, asyncio.Task[None]]
    ) -> asyncio.Task[None]:
        task = among[name] = asyncio.ensure_future(work)
        self._waits.join(task)
        task.add_done_callback(lambda done: self._finished(name, done, among))
        return task

    def _finished(self, name: str, task: asyncio.Task[None], among: dict[str, asyncio.Task[None]]) -> None:
        del among[name]
        if not task.cancelled() and task.exception() is not None:
            self._crash = self._crash or task.exception()
            self.cancel()
        self._waits.leave(task)

    async def _await_task(self, name: str) -> None:
        """Until that task has settled.

        Raises StaysOpen where it waits behind a question, Fault where it waits for the one that asks.
        """
        if name in self._settled:
            return
        async with self._turn.lent():
            await self._waits.until(name)
        if name not in self._settled and self._opened:
            raise StaysOpen
        if name not in self._settled:
            raise Fault("NIKA-VAR-001", f"`{name}` waits for this recovery itself: it has no value to give")

    async def _guarded(self, planned: TaskPlan) -> None:
        try:
            async with self._turn:
                async with self._entry:
                    await asyncio.sleep(0)  # a stop is heard, however many tasks are done in no time
                await self._process(planned)
        except asyncio.CancelledError:
            if self._cancelled and planned.task.id not in self._settled:
                await self._interrupted(planned, Outcome("cancelled", "operator"))
            raise

    async def _process(self, planned: TaskPlan) -> None:
        if self._budget.crossed:
            self._settle(planned, self._pipeline.over_budget(planned))
            return
        edge = self._blocking(planned)
        if edge is not None:
            self._dead_path(planned, edge)
            return
        work = self._works.setdefault(planned.task.id, Work())
        end = await self._pipeline.process(planned, work, self._cleanups)
        if isinstance(end, Open):
            self._opened[planned.task.id] = end
        else:
            self._settle(planned, end)

    def _blocking(self, planned: TaskPlan) -> Edge | None:
        """The first edge whose producer settled outside its pass-set."""
        for edge in planned.incoming:
            if self._settled[edge.producer].status not in edge.admits:
                return edge
        return None

    def _dead_path(self, planned: TaskPlan, edge: Edge) -> None:
        outcome = Outcome("cancelled", "upstream")
        note = f"upstream {self._settled[edge.producer].sentence}"
        self._settler.cancelled(planned.task.id, note, edge.producer, outcome)
        self._settle(planned, Ended(outcome))

    async def _interrupted(self, planned: TaskPlan, outcome: Outcome) -> None:
        """A task that was under way, or open, when the run was ended.

        What it had begun with is told as well: the decisions at the boundary, and what it cost.
        """
        work = self._works.get(planned.task.id, Work())
        if work.begun:
            await self._cleanups(planned, Ended(outcome, work=work))
        if work.started is None:
            self._settler.cancelled(planned.task.id, note_of(outcome), None, outcome)
        else:
            called_off = Fault("NIKA-IMPL-001", "it was called off")
            self._settler.ran(planned, planned.note, outcome, work, called_off)
        self._settle(planned, Ended(outcome, work=work))

    # -- cleanups --------------------------------------------------------------------------

    async def _cleanups(self, planned: TaskPlan, end: Ended) -> None:
        """The `unwind` tasks that are due behind a started producer, before it settles outward.

        In declaration order. Cancelled once they go on, and are waited for again.
        """
        name = planned.task.id
        self._remember(planned, end)
        self._unwinding.worked(name)
        for cleanup in planned.cleanups:
            if self._unwinding.take(cleanup):
                self._set_to_work(cleanup, self._clean_up(self._plan.tasks[cleanup]), self._cleaning)
            if cleanup in self._cleaning:
                await asyncio.shield(self._cleaning[cleanup])

    async def _clean_up(self, cleanup: TaskPlan) -> None:
        edge = self._blocking(cleanup)
        if edge is not None:
            self._dead_path(cleanup, edge)
            return
        if self._unwinding.has_work(cleanup.task.id):
            work = self._works.setdefault(cleanup.task.id, Work())
            end = await self._pipeline.cleanup(cleanup, work, self._cleanups)
        else:
            end = await self._pipeline.cleaned(cleanup)
        self._settle(cleanup, end)

    def _unwound(self, names: Iterable[str]) -> None:
        """A task has settled on which these cleanups may have waited: one after the other, as they stand."""
        before: asyncio.Task[None] | None = None
        for name in names:
            if not self._unwinding.take(name):
                continue
            cleanup = self._plan.tasks[name]
            if self._unwinding.has_work(name) or self._unwinding.stands(name):
                before = self._set_to_work(name, self._clean_up_late(cleanup, before), self._cleaning)
            else:
                self._settle(cleanup, self._pipeline.idle(cleanup))

    async def _clean_up_late(self, cleanup: TaskPlan, before: asyncio.Task[None] | None) -> None:
        if before is not None:
            await asyncio.wait({before})
        async with self._turn:
            await self._clean_up(cleanup)

    async def _unwind(self, outcome: Outcome) -> None:
        """What a run that ends before its tasks owes its cleanups: what stands open is over, and so is all
        that they wait for."""
        for name, found in list(self._opened.items()):
            if name not in self._settled and self._halt.times < 2:
                closed = self._closed(self._plan.tasks[name], found, outcome)
                self._set_to_work(name, closed, self._active)
        await self._at_rest()
        while self._halt.times < 2 and (left := next(self._unwinding.left(), None)):
            self._settler.cancelled(left, note_of(outcome), None, outcome)
            self._settle(self._plan.tasks[left], Ended(outcome))
            await self._at_rest()

    async def _closed(self, planned: TaskPlan, found: Open, outcome: Outcome) -> None:
        """A task that stood open, and will not be answered any more."""
        async with self._turn:
            for call_off in found.call_offs:
                await call_off()
            if not found.begun:
                self._works.pop(planned.task.id, None)
            await self._interrupted(planned, outcome)

    def _remember(self, planned: TaskPlan, end: Ended) -> None:
        settled = Settled(end.outcome, end.bindings, end.work.started, end.work.ended)
        self._scopes.tasks[planned.task.id] = record(planned.task, settled)

    def _settle(self, planned: TaskPlan, end: Ended) -> None:
        """Records the end and starts every consumer that only waited for it."""
        name = planned.task.id
        self._settled[name] = end.outcome
        self._opened.pop(name, None)
        self._remember(planned, end)
        self._usages += end.work.usages
        self._works.pop(name, None)
        self._waits.end(name)
        self._unwinding.settled(name, stood=end.work.stood)
        self._unwound(one for one in (*planned.cleanups, *planned.consumers) if one in self._unwinding)
        for consumer in planned.consumers:
            if consumer in self._unwinding:
                continue
            self._missing[consumer] -= 1
            if not self._missing[consumer] and not self._cancelled:
                self._start(self._plan.tasks[consumer])
