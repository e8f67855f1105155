"""What is known of a run before it begins: which tasks have settled, and which values hang on others."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from nika_nb.engine.memory import Hit
from nika_nb.engine.outcome import Outcome
from nika_nb.engine.scope import Scopes, Settled, reads, record
from nika_nb.language.model import Task
from nika_nb.language.template import Value, read_of, references
from nika_nb.plan.gates import Status
from nika_nb.plan.plan import Plan, TaskPlan


class Known:
    """settled: how the tasks end of which that is certain. Their values stand in `scopes`."""

    def __init__(self, plan: Plan, scopes: Scopes) -> None:
        self._groups = plan.workflow.groups
        self._scopes = scopes
        self.settled: dict[str, Status] = {}

    def settle(
        self, planned: TaskPlan, outcome: Outcome, bindings: dict[str, Any], hit: Hit | None = None
    ) -> None:
        """From here on others know how it ends, and when it did."""
        times = (hit.started, hit.ended) if hit is not None else (None, None)
        self.settled[planned.task.id] = outcome.status
        self._scopes.tasks[planned.task.id] = record(planned.task, Settled(outcome, bindings, *times))

    def unknown(self, planned: TaskPlan) -> Iterator[str]:
        """The producers of which nobody knows how they will end."""
        return (name for name in planned.producers if name not in self.settled)

    def holds(self, task: Task, value: Value | None) -> bool:
        """Whether a value of a task reads no binding that waits."""
        return not any(self._open(task, name) for name in read_of(value, "with"))

    def bindings(self, task: Task, base: dict[str, Any]) -> dict[str, Any]:
        """The bindings that are known, and speak of no item."""
        outer = {
            name: value
            for name, value in task.with_.items()
            if not (reads(value, "item") or reads(value, "index") or self._open(task, name))
        }
        return self._scopes.bindings(replace(task, with_=outer), base, {})

    def waits(self, task: Task) -> tuple[str, ...]:
        """The tasks whose values this one's inputs need."""
        return tuple(dict.fromkeys(name for binding in task.with_ for name in self._open(task, binding)))

    def _open(self, task: Task, binding: str) -> tuple[str, ...]:
        """The tasks that a binding waits for."""
        found: list[str] = []
        for ref in references(task.with_.get(binding)):
            if ref.root == "tasks" and ref.name is not None:
                found.append(ref.name)
            elif ref.root == "group" and ref.name is not None:
                found += self._groups.get(ref.name, ())
        return tuple(name for name in dict.fromkeys(found) if name not in self.settled)
