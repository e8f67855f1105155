"""What a verb tells while it works on one attempt: journaled at once, kept until its unit ends, or shown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from nika_nb.engine.budget import Budget
from nika_nb.engine.clock import Clock
from nika_nb.engine.contract import Permit, Process, Usage
from nika_nb.engine.emit import Emitter
from nika_nb.engine.places import Places
from nika_nb.engine.work import Work
from nika_nb.plan.plan import TaskPlan


@dataclass(frozen=True, slots=True)
class Telling:
    """One attempt of one unit. Its methods are what a `Call` hands to the verb."""

    planned: TaskPlan
    item: int | None
    attempt: int
    work: Work
    emitter: Emitter
    clock: Clock
    budget: Budget
    places: Places

    @property
    def task(self) -> str:
        return self.planned.task.id

    def witness(self, process: Process | None) -> None:
        if self.work.started is None:
            self.work.started = self.clock.now()
        self.emitter.emit(
            "verb_invoked",
            task=self.task,
            item=self.item,
            attempt=self.attempt,
            note=self.planned.note,
            pgid=process.pgid if process else None,
            started=process.started if process else None,
        )

    def permit(self, decision: Permit) -> None:
        self.work.permit(self.places.permit(decision))

    def show(self, stream: str, text: str) -> None:
        self.emitter.live("live_output", task=self.task, item=self.item, stream=stream, text=text)

    def tell(self, kind: str, fields: dict[str, Any]) -> None:
        self.emitter.emit(kind, task=self.task, item=self.item, attempt=self.attempt, **fields)

    def called(self, child: str) -> None:
        self.work.child = child

    def spend(self, usage: Usage) -> None:
        self.work.spend(usage)
        self.budget.add(usage)
