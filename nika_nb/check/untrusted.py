"""Values that the caller decides, where they reach the world: the ways by which they get there."""

from __future__ import annotations

from collections.abc import Iterator

from nika_nb.language.model import Task
from nika_nb.language.template import Fields, Items, Value, references

Way = tuple[str, ...]  # inputs.p → with.q


def ways_into(task: Task, value: Value | None) -> Iterator[Way]:
    """Every way by which an input reaches a value of the task's body."""
    for reference in references(value):
        if reference.root == "inputs" and reference.steps:
            yield (f"inputs.{reference.steps[0]}",)
        elif reference.root == "with" and reference.steps:
            name = str(reference.steps[0])
            for way in _into_binding(task, name):
                yield (*way, f"with.{name}")
        elif reference.root == "item" and task.for_each is not None:
            for way in _into_items(task):
                yield (*way, "item")


def _into_binding(task: Task, name: str) -> Iterator[Way]:
    for reference in references(task.with_.get(name)):
        if reference.root == "inputs" and reference.steps:
            yield (f"inputs.{reference.steps[0]}",)


def _into_items(task: Task) -> Iterator[Way]:
    items = task.for_each.items if task.for_each is not None else None
    for reference in references(items):
        if reference.root == "inputs" and reference.steps:
            yield (f"inputs.{reference.steps[0]}",)
        elif reference.root == "with" and reference.steps:
            name = str(reference.steps[0])
            for way in _into_binding(task, name):
                yield (*way, f"with.{name}")


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
