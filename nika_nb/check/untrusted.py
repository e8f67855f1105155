"""Values that the caller decides, where they reach the world: the ways by which they get there."""

from __future__ import annotations

from collections.abc import Iterator

from nika_nb.language.cel import Reference
from nika_nb.language.model import Task
from nika_nb.language.template import Fields, Items, Value, read_of, references

Way = tuple[str, ...]  # inputs.p → with.q


def ways_into(task: Task, value: Value | None) -> Iterator[Way]:
    """Every way by which an input reaches a value of the task's body."""
    for reference in references(value):
        if reference.root == "item" and task.for_each is not None:
            for found in references(task.for_each.items):
                yield from ((*way, "item") for way in _ways(task, found))
        else:
            yield from _ways(task, reference)


def _ways(task: Task, reference: Reference) -> Iterator[Way]:
    """The ways by which an input reaches what a path denotes, through a binding at most."""
    if reference.name is None:
        return
    if reference.root == "inputs":
        yield (f"inputs.{reference.name}",)
    elif reference.root == "with":
        for bound in read_of(task.with_.get(reference.name), "inputs"):
            yield (f"inputs.{bound}", f"with.{reference.name}")


def part(value: Value | None, path: tuple[str, ...]) -> Value | None:
    """The part of a value at a path of keys and indices."""
    for step in path:
        if isinstance(value, Fields):
            value = value.fields.get(step)
        elif isinstance(value, Items) and step.isdigit() and int(step) < len(value.items):
            value = value.items[int(step)]
        else:
            return None
    return value
