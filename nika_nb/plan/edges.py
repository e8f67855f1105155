"""The four edge sets of a workflow, each derived from one declaration surface and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from nika_nb.errors import Span
from nika_nb.language.cel import Reference
from nika_nb.language.model import Task, Workflow
from nika_nb.language.template import references
from nika_nb.plan.gates import PASS_SETS, EdgeKind, Status, pass_set, role_of


@dataclass(frozen=True, slots=True)
class Edge:
    """One edge, from the task that settles first to the task that waits for it.

    `binding` is the `with:` key that made it, `predicate` the word after the producer in
    `after:`. Recovery edges wait only at recovery time; finally edges never schedule.
    """

    producer: str
    consumer: str
    kind: EdgeKind
    span: Span
    binding: str | None = None
    predicate: str | None = None

    @property
    def schedules(self) -> bool:
        return self.kind not in ("recovery", "finally")

    @property
    def admits(self) -> frozenset[Status]:
        return pass_set(self.kind, self.predicate)


def edges_of(workflow: Workflow) -> tuple[Edge, ...]:
    """Every edge in document order, those with undeclared ends and unknown predicates left out."""
    found: list[Edge] = []
    for task in workflow.tasks.values():
        found += (edge for edge in _task_edges(task, workflow) if edge.producer in workflow.tasks)
    return tuple(found)


def by_consumer(tasks: Iterable[str], edges: Iterable[Edge]) -> dict[str, tuple[Edge, ...]]:
    """task → the edges that end there, in their order."""
    return _grouped(tasks, edges, lambda edge: edge.consumer)


def by_producer(tasks: Iterable[str], edges: Iterable[Edge]) -> dict[str, tuple[Edge, ...]]:
    """task → the edges that start there, in their order."""
    return _grouped(tasks, edges, lambda edge: edge.producer)


def _grouped(
    tasks: Iterable[str], edges: Iterable[Edge], end: Callable[[Edge], str]
) -> dict[str, tuple[Edge, ...]]:
    found: dict[str, list[Edge]] = {name: [] for name in tasks}
    for edge in edges:
        found[end(edge)].append(edge)
    return {name: tuple(listed) for name, listed in found.items()}


def _task_edges(task: Task, workflow: Workflow) -> Iterator[Edge]:
    # What a cleanup reads is what it follows, and that has ended when it runs.
    for binding, value in () if task.is_cleanup else task.with_.items():
        for reference in references(value):
            yield from _data_edges(task.id, binding, reference, workflow)
    for entry in task.after:
        if entry.predicate == "unwind":
            yield Edge(entry.producer, task.id, "finally", entry.span, predicate="unwind")
        elif ("control", entry.predicate) in PASS_SETS:
            yield Edge(entry.producer, task.id, "control", entry.span, predicate=entry.predicate)
    if task.on_error and task.on_error.recover is not None and not task.is_cleanup:
        for reference in references(task.on_error.recover):
            if reference.root == "tasks" and reference.name is not None:
                yield Edge(reference.name, task.id, "recovery", reference.span)


def _data_edges(consumer: str, binding: str, reference: Reference, workflow: Workflow) -> Iterator[Edge]:
    if reference.name is None:
        return
    if reference.root == "tasks" and len(reference.steps) > 1:
        kind = role_of(str(reference.steps[1]))
        yield Edge(reference.name, consumer, kind, reference.span, binding=binding)
    elif reference.root == "group":
        for member in workflow.groups.get(reference.name, ()):
            yield Edge(member, consumer, "fan-in", reference.span, binding=binding)
