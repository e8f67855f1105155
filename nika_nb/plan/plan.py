"""`Workflow` → `Plan`: every task with its edges, its cleanups and its definition hash."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any

from nika_nb.language.model import Action, Task, Workflow
from nika_nb.language.skills import Skill
from nika_nb.language.template import Value, references
from nika_nb.plan.edges import Edge, by_consumer, by_producer, edges_of
from nika_nb.plan.identity import definition, definition_hash, definition_parts

RECOVER = "on_error.recover"  # what a recovery read, among the parts of an input


@dataclass(frozen=True, slots=True)
class TaskPlan:
    """One task as the engine sees it.

    incoming: the edges that must admit it, recovery and finally edges left out.
    consumers: the tasks that wait for it, each once. cleanups: the `unwind` tasks attached to it.
    origins: for every `with:` binding the producers it reads.
    definition: the payload, without this run's surroundings; None where it cannot be known.
    """

    task: Task
    note: str
    incoming: tuple[Edge, ...]
    consumers: tuple[str, ...]
    cleanups: tuple[str, ...]
    origins: dict[str, tuple[str, ...]]
    definition: dict[str, Any]
    def_hash: str
    definition_parts: dict[str, str] = field(default_factory=dict)

    @property
    def producers(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(edge.producer for edge in self.incoming))

    @property
    def reads_to_recover(self) -> bool:
        """Whether what it recovers to is read from somewhere, and so may be another value each time."""
        policy = self.task.on_error
        return policy is not None and any(references(policy.recover))

    def origins_of(self, part: str) -> tuple[str, ...]:
        """The tasks that a part of its input comes from, as a reason names the part."""
        if part == RECOVER and self.task.on_error is not None:
            return _producers(self.task.on_error.recover)
        return self.origins.get(part.removeprefix("with."), ()) if part.startswith("with.") else ()


@dataclass(frozen=True, slots=True)
class Callee:
    """A workflow that a task calls, ready to run.

    path: what makes it the same workflow again. name: what its text is called in a journal.
    digest: what it means, together with everything that it calls in turn.
    """

    path: str
    name: str
    plan: Plan
    digest: str


@dataclass(frozen=True, slots=True)
class Plan:
    """A workflow ready to run: `tasks` in document order, cleanups included.

    callees: the workflows that its tasks call, by target as written. skills: the files that its
    agents are sent with, by path as written.
    """

    workflow: Workflow
    tasks: dict[str, TaskPlan]
    edges: tuple[Edge, ...]
    model: str | None
    callees: dict[str, Callee] = field(default_factory=dict)
    skills: dict[str, Skill] = field(default_factory=dict)

    @property
    def scheduled(self) -> list[TaskPlan]:
        """The tasks that the graph schedules: all but cleanups."""
        return [planned for planned in self.tasks.values() if not planned.task.is_cleanup]

    def actions(self, names: Iterable[str] | None = None) -> Iterator[Action]:
        """What these tasks do, or all; behind each what the workflow does that it calls."""
        for name in self.tasks if names is None else names:
            task = self.tasks[name].task
            yield task.action
            callee = self.callees.get(task.called or "")
            if callee is not None:
                yield from callee.plan.actions()


def make_plan(
    workflow: Workflow,
    model: str | None = None,
    callees: Mapping[str, Callee] | None = None,
    skills: Mapping[str, Skill] | None = None,
) -> Plan:
    """The plan of a checked workflow; `model` overrides the envelope's default model."""
    callees, skills = dict(callees or {}), dict(skills or {})
    edges = edges_of(workflow)
    default_model = model or workflow.model
    scheduling = [edge for edge in edges if edge.schedules]
    incoming = by_consumer(workflow.tasks, scheduling)
    outgoing = by_producer(workflow.tasks, scheduling)
    unwinds = by_producer(workflow.tasks, (edge for edge in edges if edge.kind == "finally"))
    calls = {target: callee.digest for target, callee in callees.items()}
    texts = {path: skill.text for path, skill in skills.items()}
    tasks: dict[str, TaskPlan] = {}
    for name, task in workflow.tasks.items():
        payload = definition(task, workflow, model, calls, texts)
        tasks[name] = TaskPlan(
            task=task,
            note=note_of(task.action, default_model),
            incoming=incoming[name],
            consumers=_consumers(outgoing[name]),
            cleanups=_consumers(unwinds[name]),
            origins=_origins(task),
            definition=payload,
            def_hash=definition_hash(name, task.action.verb, payload),
            definition_parts=definition_parts(task.action.verb, payload),
        )
    return Plan(workflow, tasks, edges, default_model, callees, skills)


def _consumers(edges: tuple[Edge, ...]) -> tuple[str, ...]:
    """The tasks at the ends of some edges, each once."""
    return tuple(dict.fromkeys(edge.consumer for edge in edges))


def _origins(task: Task) -> dict[str, tuple[str, ...]]:
    """binding → the tasks it reads, a group by its name."""
    found: dict[str, tuple[str, ...]] = {}
    for name, value in task.with_.items():
        producers = _producers(value)
        if producers:
            found[name] = producers
    return found


def _producers(value: Value | None) -> tuple[str, ...]:
    producers = [
        f"group {ref.name}" if ref.root == "group" else ref.name
        for ref in references(value)
        if ref.root in ("tasks", "group") and ref.name is not None
    ]
    return tuple(dict.fromkeys(producers))


def note_of(action: Action, model: str | None) -> str:
    """What a task does in three words, as the console shows it: `exec · gzip`."""
    if action.verb == "exec":
        command = action.get("command") or {}
        argv = command.get("argv")
        return f"exec · {PurePath(str(argv[0])).name}" if argv else "exec · sh"
    if action.verb == "infer":
        return f"infer · {action.get('model') or model or 'no model'}"
    if action.verb == "invoke":
        return f"invoke · {action.get('tool') or action.get('workflow')}"
    most = action.get("max_turns") or 10
    return f"agent · up to {most} {'turn' if most == 1 else 'turns'}"
