"""What every judgment reads: the sound part of a workflow, its edges, and what could not be read."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from nika_nb.check.children import Family
from nika_nb.errors import Diagnostic, Span
from nika_nb.files import here
from nika_nb.language import yaml
from nika_nb.language.cel import Reference
from nika_nb.language.findings import Findings
from nika_nb.language.model import Task, Workflow
from nika_nb.language.nodes import Map, Node, Seq
from nika_nb.language.strays import names_in
from nika_nb.plan.edges import Edge, by_consumer, by_producer, edges_of


@dataclass(frozen=True)
class Subject:
    """A workflow under judgment.

    found: what reading the text has brought to light already. base: the folder that relative paths
    count from. folder: where the workflow's own file lies, from which the workflows that it calls
    are found. family: reads those. model: what the caller sets for the whole run.
    """

    workflow: Workflow
    found: tuple[Diagnostic, ...]
    base: str
    folder: str
    family: Family
    model: str | None

    @cached_property
    def edges(self) -> tuple[Edge, ...]:
        return edges_of(self.workflow)

    @cached_property
    def scheduling(self) -> tuple[Edge, ...]:
        """The edges over which one task waits for another."""
        return tuple(edge for edge in self.edges if edge.schedules)

    @cached_property
    def incoming(self) -> dict[str, tuple[Edge, ...]]:
        """task → the scheduling edges that end there."""
        return by_consumer(self.workflow.tasks, self.scheduling)

    @cached_property
    def outgoing(self) -> dict[str, tuple[Edge, ...]]:
        """task → the scheduling edges that start there."""
        return by_producer(self.workflow.tasks, self.scheduling)

    @property
    def unwinding(self) -> Iterator[Edge]:
        """The edges to cleanups from what they follow."""
        return (edge for edge in self.edges if edge.kind == "finally")

    @cached_property
    def following(self) -> dict[str, tuple[Edge, ...]]:
        """task → the edges to all that comes after it: what waits for it, and its cleanups."""
        return by_producer(self.workflow.tasks, (edge for edge in self.edges if edge.kind != "recovery"))

    @cached_property
    def nexts(self) -> dict[str, tuple[str, ...]]:
        """task → the tasks that come right after it, its cleanups among them."""
        return {name: tuple(edge.consumer for edge in edges) for name, edges in self.following.items()}

    @cached_property
    def broken(self) -> frozenset[str]:
        """The tasks in which something is wrong already."""
        return frozenset(diagnostic.task for diagnostic in self.found if diagnostic.task)

    @cached_property
    def damaged(self) -> frozenset[str]:
        """The keys of the envelope in whose blocks something is wrong already."""
        places = [diagnostic.span.start for diagnostic in self.found if diagnostic.span]
        spans = self.workflow.spans.items()
        return frozenset(key for key, span in spans if any(span.start <= at < span.end for at in places))

    @cached_property
    def names(self) -> dict[str, Collection[str]]:
        """block → what it declares, in its order; what could not be read is not unknown."""
        workflow, root = self.workflow, self._root if self.found else None
        read: dict[str, Collection[str]] = {
            "inputs": workflow.inputs,
            "const": workflow.consts,
            "secrets": workflow.secrets,
            "tasks": workflow.tasks,
        }
        return {block: names_in(root, block) for block in read} if isinstance(root, Map) else read

    @property
    def has_namesakes(self) -> bool:
        """Whether two tasks have one name: another that is missing may be the second one's."""
        return any(diagnostic.code == "NIKA-PARSE-007" for diagnostic in self.found)

    @property
    def tasks(self) -> Iterator[Task]:
        return iter(self.workflow.tasks.values())

    @property
    def sound_tasks(self) -> Iterator[Task]:
        """The tasks whose text was read without any fault."""
        return (task for task in self.tasks if task.id not in self.broken)

    def word(self, reference: Reference, at: int) -> Span:
        """Where step `at` of a reference stands (0 is its root); the whole path where that is not clear."""
        text = self.workflow.source.text[reference.span.start : reference.span.end]
        start = end = 0
        for name in (reference.root, *map(str, reference.steps[:at])):
            start = text.find(name, end)
            if start < 0 or not text.startswith(reference.root):
                return reference.span
            end = start + len(name)
        return Span(start, end).shifted(reference.span.start)

    def place(self, *path: str | int) -> Span:
        """Where a value stands, by its keys and indices from the root; else the nearest part of the path."""
        node = self._root
        span = node.span if node is not None else Span(0, 0)
        for step in path:
            node = _inner(node, step)
            if node is None:
                return span
            span = node.span
        return span

    def key(self, *path: str | int) -> Span:
        """Where the last key of a path stands, instead of its value."""
        node = self._root
        for step in path[:-1]:
            node = _inner(node, step)
        entry = node.entries.get(str(path[-1])) if isinstance(node, Map) else None
        return entry.key.span if entry is not None else self.place(*path)

    @cached_property
    def _root(self) -> Node | None:
        return yaml.read(self.workflow.source.text, Findings(self.workflow.source))


def _inner(node: Node | None, step: str | int) -> Node | None:
    if isinstance(node, Map) and isinstance(step, str):
        return node.get(step)
    if isinstance(node, Seq) and isinstance(step, int) and step < len(node.items):
        return node.items[step]
    return None


def the_tasks(names: Iterable[str]) -> str:
    """A hint: the first names of what exists."""
    shown = ", ".join(f"`{name}`" for name in list(names)[:12])
    return f"the tasks are {shown}" if shown else ""


def subject_of(
    workflow: Workflow,
    found: Iterable[Diagnostic],
    model: str | None = None,
    base: Path | None = None,
    folder: Path | None = None,
    family: Family | None = None,
) -> Subject:
    """`found` is what reading the text has brought to light already; `folder` is the base by default."""
    base = (base or here()).absolute()
    return Subject(
        workflow=workflow,
        found=tuple(found),
        base=str(base),
        folder=str((folder or base).absolute()),
        family=family or Family(),
        model=model,
    )
