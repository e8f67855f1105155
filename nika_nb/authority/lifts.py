"""The doors that an author opened in a task, with the way by which each lets something in."""

from __future__ import annotations

from collections.abc import Iterator

from nika_nb.language.model import Task
from nika_nb.language.template import Fields, Items, Value, references


def lifted(task: Task) -> frozenset[str]:
    """The bindings whose taint the author has lifted in this task."""
    return frozenset(lift.origin for lift in task.lift if lift.law == "taint" and lift.origin)


def way_of(task: Task, origin: str) -> tuple[str, ...]:
    """From a lifted binding to what it reaches: `inputs.p`, `with.q`, `args.path`."""
    for at, value in _leaves(task.action.body, ""):
        for reference in references(value):
            way = _way(task, str(reference), origin)
            if way:
                return (*way, at)
    return (origin,)


def _way(task: Task, path: str, origin: str) -> tuple[str, ...]:
    """The way to a path that the body reads, itself left out; empty where the binding does not reach it."""
    if covers(origin, path):
        return (origin,)
    root, _, rest = path.partition(".")
    if root == "with":
        bound, by = task.with_.get(rest.partition(".")[0].partition("[")[0]), path
    else:
        bound, by = (task.for_each.items, root) if root == "item" and task.for_each else (None, "")
    for reference in references(bound):
        way = _way(task, str(reference), origin) if str(reference) != path else ()
        if way:
            return (*way, by)
    return ()


def covers(origin: str, path: str) -> bool:
    """Whether a path reads a binding, or something in it."""
    return path == origin or path.startswith((f"{origin}.", f"{origin}["))


def _leaves(value: Value, at: str) -> Iterator[tuple[str, Value]]:
    """The texts of a body with their places, as people write them: `command[1]`, `args.path`."""
    match value:
        case Fields(fields=fields):
            for name, inner in fields.items():
                place = at if name == "argv" else f"{at}.{name}" if at else name
                yield from _leaves(inner, place)
        case Items(items=items):
            for number, inner in enumerate(items):
                yield from _leaves(inner, f"{at}[{number}]")
        case _:
            yield at, value
