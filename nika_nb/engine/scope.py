"""What expressions see: the namespaces at the boundary, in a body, and as an identity sees them."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

from nika_nb.engine.clock import rfc3339
from nika_nb.engine.located import located
from nika_nb.engine.outcome import Outcome
from nika_nb.language.model import Task, Workflow
from nika_nb.language.template import Value, read_of, references, render
from nika_nb.plan.identity import ITEM_MARK


@dataclass(frozen=True, slots=True)
class Settled:
    """A task that has ended: its named bindings, its times (unix ns; of a cache hit the recorded ones)."""

    outcome: Outcome
    bindings: dict[str, Any]
    started: int | None = None
    ended: int | None = None

    @property
    def duration_ms(self) -> int:
        return (self.ended - self.started) // 10**6 if self.started and self.ended else 0


def record(task: Task, settled: Settled) -> dict[str, Any]:
    """The result record that `tasks.<id>` denotes; absent values are null."""
    outcome = settled.outcome
    fields: dict[str, Any] = {name: settled.bindings.get(name) for name in task.extract}
    return fields | {
        "output": outcome.value if outcome.status == "success" else None,
        "status": outcome.status,
        "cause": outcome.cause,
        "error": outcome.error.to_json() if outcome.error and outcome.status != "success" else None,
        "started_at": rfc3339(settled.started) if settled.started else None,
        "ended_at": rfc3339(settled.ended) if settled.ended else None,
        "duration_ms": settled.duration_ms,
    }


class Scopes:
    """Builds the scopes of one run."""

    def __init__(
        self,
        workflow: Workflow,
        inputs: Mapping[str, Any],
        secrets: Mapping[str, str],
        markers: Mapping[str, str],
    ) -> None:
        self._workflow = workflow
        values = {"inputs": dict(inputs), "const": {c.name: c.value for c in workflow.consts.values()}}
        self._plain: dict[str, Any] = values
        self.live: dict[str, Any] = values | {"secrets": secrets}
        self.marked: dict[str, Any] = values | {"secrets": markers}
        self.tasks: dict[str, dict[str, Any]] = {}

    def bindings(self, task: Task, base: dict[str, Any], local: Mapping[str, Any]) -> dict[str, Any]:
        """The task's `with:` values. Raises Fault where one does not resolve."""
        scope = base | {"tasks": self.tasks, "group": self._groups(task)} | dict(local)
        with self.located(task):
            return {name: render(value, scope) for name, value in task.with_.items()}

    def located(self, task: Task | None = None) -> AbstractContextManager[None]:
        """Faults of expressions meanwhile tell their place in the text. task: None for the envelope."""
        return located(self._workflow, task, self.tasks)

    def _groups(self, task: Task) -> dict[str, list[dict[str, Any]]]:
        names = {name for value in task.with_.values() for name in read_of(value, "group")}
        return {name: self._members(name) for name in names}

    def _members(self, group: str) -> list[dict[str, Any]]:
        fields = ("status", "output", "duration_ms", "error")
        members = self._workflow.groups.get(group, ())
        return [{"id": task} | {name: self.tasks[task][name] for name in fields} for task in members]

    def outputs(self) -> dict[str, Any]:
        return self._plain | {"tasks": self.tasks}


def reads(value: Value | None, root: str) -> bool:
    return any(ref.root == root for ref in references(value))


def per_item(task: Task) -> frozenset[str]:
    """The `with:` bindings that speak of the current item: there is one of them for each."""
    return frozenset(n for n, v in task.with_.items() if reads(v, "item") or reads(v, "index"))


def stand_in(items: list[Any]) -> Any:
    """One value shaped like every element of a collection, its leaves replaced by the item marker."""
    if items and all(isinstance(item, dict) for item in items):
        keys = dict.fromkeys(key for item in items for key in item)
        return {key: stand_in([item[key] for item in items if key in item]) for key in keys}
    if items and all(isinstance(item, list) for item in items):
        longest = max(len(item) for item in items)
        return [stand_in([item[at] for item in items if len(item) > at]) for at in range(longest)]
    return ITEM_MARK
