"""The order law: no process runs anywhere downstream of content that was fetched from outside."""

from __future__ import annotations

from collections.abc import Iterator

from nika_nb.check.subject import Subject
from nika_nb.errors import Diagnostic
from nika_nb.language.model import Task

_FETCHERS = ("nika:fetch", "nika:notify")


def judge(subject: Subject) -> Iterator[Diagnostic]:
    """NIKA-SEC-015, once per process, with the shortest way from what it follows."""
    routes = _routes(subject)
    for task in subject.tasks:
        if task.action.verb == "exec" and task.id in routes:
            yield _found(subject, task, routes[task.id])


def _routes(subject: Subject) -> dict[str, tuple[str, ...]]:
    """Every task downstream of a fetch, with the way to it."""
    found: dict[str, tuple[str, ...]] = {}
    waiting: list[tuple[str, ...]] = [(task.id,) for task in subject.tasks if _fetches(task)]
    while waiting:
        further: list[tuple[str, ...]] = []
        for route in waiting:
            for edge in subject.outgoing[route[-1]]:
                if edge.consumer not in found:
                    found[edge.consumer] = (*route, edge.consumer)
                    further.append(found[edge.consumer])
        waiting = further
    return found


def _fetches(task: Task) -> bool:
    return task.action.verb == "invoke" and task.action.get("tool") in _FETCHERS


def _found(subject: Subject, task: Task, route: tuple[str, ...]) -> Diagnostic:
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
