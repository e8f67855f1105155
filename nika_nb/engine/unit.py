"""A unit of work, a task or one item: rendered, recalled or run."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from contextlib import nullcontext
from typing import Any

from nika_nb.authority.lifts import way_of
from nika_nb.engine.attempts import Attempts, error_of
from nika_nb.engine.budget import Budget
from nika_nb.engine.clock import Clock
from nika_nb.engine.contract import Lifted, StaysOpen
from nika_nb.engine.identify import Identifier
from nika_nb.engine.memory import Carried, Hit, Memory, Miss
from nika_nb.engine.outcome import Outcome, TaskError
from nika_nb.engine.recovery import MOVED, has_to_stand, recovered, sources, standing, usable
from nika_nb.engine.scope import Scopes, per_item
from nika_nb.engine.settle import Settler
from nika_nb.engine.turns import Turns
from nika_nb.engine.waits import Waits
from nika_nb.engine.work import Work
from nika_nb.errors import Fault
from nika_nb.language.cel import evaluate, parse
from nika_nb.language.model import Task
from nika_nb.language.template import references, render
from nika_nb.plan.identity import Identity
from nika_nb.plan.plan import TaskPlan
from nika_nb.values import type_name

AwaitTask = Callable[[str], Awaitable[None]]  # returns once that task has settled


class UnitRunner:
    """What tasks and items share: their bindings, their `when:`, recall, the verb run."""

    def __init__(
        self,
        scopes: Scopes,
        attempts: Attempts,
        identifier: Identifier,
        memory: Memory,
        settler: Settler,
        clock: Clock,
        turns: Turns,
        waits: Waits,
        await_task: AwaitTask,
        budget: Budget,
    ) -> None:
        self.scopes = scopes
        self.identifier = identifier
        self.settler = settler
        self.waits = waits
        self._attempts = attempts
        self._memory = memory
        self._clock = clock
        self._turns = turns
        self._await_task = await_task
        self._budget = budget

    def recall_item(self, identity: Identity | Fault, index: int) -> Hit | None:
        if isinstance(identity, Fault):
            return None
        found = self._memory.recall_item(identity, index)
        return found if isinstance(found, Hit) else None

    def carried_item(self, identity: Identity | Fault, index: int) -> Carried | None:
        return None if isinstance(identity, Fault) else self._memory.carried_item(identity, index)

    async def recalled(self, planned: TaskPlan, hit: Hit) -> tuple[Outcome, dict[str, Any]]:
        """A recorded success as if it had run: its bindings are extracted anew."""
        return self.outcome(hit), await self.bind(planned, hit.output)

    def outcome(self, hit: Hit) -> Outcome:
        """The outcome that a record stands for."""
        error = TaskError(**hit.error) if hit.error else None
        return Outcome("success", "recovered" if error else "normal", hit.output, error, hit.attempts)

    async def bind(self, planned: TaskPlan, output: Any) -> dict[str, Any]:
        """The named bindings of an output. Raises Fault."""
        return await self._attempts.bind(planned.task, output)

    async def live(
        self, planned: TaskPlan, work: Work, local: dict[str, Any], item: int | None
    ) -> tuple[Outcome, dict[str, Any]]:
        """Bindings, an item's own `when:`, then the verb. Raises Asks for an open prompt."""
        task = planned.task
        try:
            bindings = self.scopes.bindings(task, self.scopes.live, local)
            scope = self.scopes.live | {"with": bindings} | local
            with self.scopes.located(task):
                if item is not None and when_reads_item(task) and not decide(task, scope):
                    return Outcome("skipped", "gate"), {}
        except Fault as fault:
            error = error_of(fault, task.id, 1)
            return Outcome("failure", "verb_error", error=error), {}
        return await self.run(planned, work, scope, item)

    async def run(
        self,
        planned: TaskPlan,
        work: Work,
        scope: dict[str, Any],
        item: int | None,
        *,
        owed: bool = False,
    ) -> tuple[Outcome, dict[str, Any]]:
        """The verb, in its turn; over budget only what is `owed`, as cleanups are.

        A call of a workflow takes no turn: the tasks of the called one do. Raises StaysOpen.
        """
        try:
            return await self._run(planned, work, scope, item, owed=owed)
        except StaysOpen:
            if work.failed is not None and not owed:
                self.settler.failed_open(planned.task.id, item, work)
            raise

    async def _run(
        self, planned: TaskPlan, work: Work, scope: dict[str, Any], item: int | None, *, owed: bool
    ) -> tuple[Outcome, dict[str, Any]]:
        def body() -> dict[str, Any]:
            with self.scopes.located(planned.task):
                rendered: dict[str, Any] = render(planned.task.action.body, scope)
            return rendered

        async with nullcontext() if planned.task.called else self._turns:
            if self._budget.crossed and not owed:
                return Outcome("cancelled", "budget"), {}
            work.lifts |= dict.fromkeys(self._lifts(planned.task, scope))
            try:
                return await self._attempts.unit(
                    planned, work, body, lambda: self._recover(planned.task, scope), item, owed
                )
            finally:
                work.end(self._clock.now())

    def _lifts(self, task: Task, scope: dict[str, Any]) -> Iterator[Lifted]:
        for lift in task.lift:
            way = way_of(task, lift.origin) if lift.origin else ()
            yield Lifted(lift.law, lift.because, lift.origin, way, self._told(lift.origin, scope))

    def _told(self, origin: str | None, scope: dict[str, Any]) -> str | None:
        """The digest of what a binding is; None where there is none, or it cannot be told."""
        try:
            value = evaluate(parse(origin), scope | {"tasks": self.scopes.tasks}) if origin else None
        except Fault:
            return None
        return self.settler.digest(value) if origin else None

    async def _recover(self, task: Task, scope: dict[str, Any]) -> Any:
        for name, ref in sources(task):
            if not task.is_cleanup:  # what that reads has ended
                async with nullcontext() if task.called else self._turns.lent():
                    await self._await_task(name)
            usable(ref, self.scopes.tasks)
        return recovered(task, scope, self.scopes.tasks)

    async def standing(
        self, planned: TaskPlan, found: Hit | Miss, local: dict[str, Any] | None = None
    ) -> Hit | Miss:
        """A record that may be used: a recovery has to come to the same today, and waits for what it reads.

        Raises StaysOpen.
        """
        task = planned.task
        if isinstance(found, Miss) or not has_to_stand(planned, found):
            return found
        try:
            for name, _ in sources(task):
                await self._await_task(name)
        except Fault:
            return MOVED
        return standing(task, found, self.scopes, local or {})


def when_reads_item(task: Task) -> bool:
    """Whether `when:` speaks of the current item, itself or by a binding, and so is decided item by item."""
    inner = per_item(task)
    return any(
        ref.root in ("item", "index") or (ref.root == "with" and ref.name in inner)
        for ref in references(task.condition)
    )


def decide(task: Task, scope: dict[str, Any]) -> bool:
    """The value of `when:`, true where there is none. Raises Fault NIKA-VAR-006."""
    if task.when is None:
        return True
    if isinstance(task.when, bool):
        return task.when
    value = render(task.when, scope)
    if isinstance(value, bool):
        return value
    raise Fault(
        "NIKA-VAR-006",
        f"`when:` of `{task.id}` came out as {type_name(value)}, not as true or false",
        span=task.when.span,
    )
