"""The order law: no process runs anywhere downstream of content that was fetched from outside."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain

from nika_nb.check.subject import Subject
from nika_nb.errors import Diagnostic
from nika_nb.language.model import Task
from nika_nb.plan.edges import Edge, by_producer

_FETCHERS = ("nika:fetch", "nika:notify")

Route = tuple[str, ...]  # from what reaches the network to what comes after it


def judge(subject: Subject) -> Iterator[Diagnostic]:
    """NIKA-SEC-015, once per process, with the shortest way from what it follows.

    What a called workflow does, the call does.
    """
    fetching = {task.id for task in subject.tasks if _does(subject, task, _fetches)}
    routes = _routes(subject, fetching) if fetching else {}
    for task in subject.tasks:
        if task.id in routes and _does(subject, task, _starts_a_process):
            yield _found(subject, task, routes[task.id])


def _does(subject: Subject, task: Task, what: Callable[[Task], bool]) -> bool:
    """Whether a task does something, itself or in the workflows that it calls."""
    child = subject.family.called(task, subject.folder)
    if child is None:
        return what(task)
    members = subject.family.descendants(child)
    return any(map(what, chain.from_iterable(member.tasks.values() for member in members)))


def _routes(subject: Subject, fetching: set[str]) -> dict[str, Route]:
    """Every task that comes after a fetch, with the way to it.

    A recovery hands on what it took, but its task had worked before it took that.
    """
    after = by_producer(subject.workflow.tasks, subject.edges)
    found: dict[str, Route] = {}
    carried: dict[str, Route] = {}
    waiting: list[Route] = [(name,) for name in subject.workflow.tasks if name in fetching]
    while waiting:
        further: list[Route] = []
        for route in waiting:
            for edge in after[route[-1]]:
                further += _reached(edge, route, found, carried)
        waiting = further
    return found


def _reached(edge: Edge, route: Route, found: dict[str, Route], carried: dict[str, Route]) -> Iterator[Route]:
    """The way that goes on from here, where this task had not been reached so yet."""
    way = (*route, edge.consumer)
    known = edge.consumer in found or edge.consumer in carried
    if edge.kind == "recovery":
        carried.setdefault(edge.consumer, way)
    else:
        found.setdefault(edge.consumer, way)
    if not known:
        yield way


def _fetches(task: Task) -> bool:
    return task.action.verb == "invoke" and task.action.get("tool") in _FETCHERS


def _starts_a_process(task: Task) -> bool:
    return task.action.verb == "exec"


def _found(subject: Subject, task: Task, route: Route) -> Diagnostic:
    source = subject.workflow.tasks[route[0]]
    way = " → ".join(route)
    return Diagnostic(
        "NIKA-SEC-015",
        f"`{task.id}` starts a process after `{source.id}` reached the network: {way}",
        task.key_span,
        "work on fetched content with a builtin (`nika:jq`, `nika:convert`, `nika:write`), or cut the edge",
        task=task.id,
        related=((f"`{source.id}` reaches the network here", source.key_span),),
    )
