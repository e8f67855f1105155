"""Observations of how a task ended: which bindings are one, and the literals they are compared with."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from nika_nb.check.kleene import UNKNOWN
from nika_nb.check.subject import Subject
from nika_nb.check.surfaces import Surface, surfaces
from nika_nb.errors import Diagnostic
from nika_nb.language.cel import Expr
from nika_nb.language.cel.syntax import Binary, ListOf, Literal, as_reference, children
from nika_nb.language.model import Task
from nika_nb.language.template import Island, only_island
from nika_nb.plan.gates import STATUSES
from nika_nb.values import nearest

_NEVER_STATES = {
    "succeeded": "success", "ok": "success", "passed": "success", "done": "success", "completed": "success",
    "failed": "failure", "error": "failure", "skip": "skipped", "canceled": "cancelled",
}  # fmt: skip


def observed_states(task: Task) -> dict[str, str]:
    """binding → the task whose `.status` it is, letter for letter."""
    found: dict[str, str] = {}
    for name, value in task.with_.items():
        island = only_island(value)
        producer = _status_of(island.expr) if island is not None else None
        if producer is not None:
            found[name] = producer
    return found


def observed_at(expr: Expr, statuses: Mapping[str, str], assignment: Mapping[str, str]) -> Any:
    """The value of a path when the observed tasks ended as assigned, else UNKNOWN."""
    path = as_reference(expr)
    if path is not None and path.root == "with" and len(path.steps) == 1:
        return assignment.get(statuses.get(path.name or "", ""), UNKNOWN)
    return UNKNOWN


def judge(subject: Subject) -> Iterator[Diagnostic]:
    """NIKA-DAG-007: a status compared with a word that no task ever ends in."""
    for surface in surfaces(subject.workflow):
        names = observed_states(surface.task) if surface.task and surface.kind != "with" else {}
        for island in surface.islands():
            for literal in _compared(island.expr, names):
                yield _never(surface, island, literal)


def _compared(expr: Expr, names: Mapping[str, str]) -> Iterator[Literal]:
    """The literals outside the vocabulary that stand against a status."""
    match expr:
        case Binary(op="==" | "!=", left=left, right=right):
            for one, other in ((left, right), (right, left)):
                if _is_status(one, names):
                    yield from _strangers([other])
        case Binary(op="in", left=left, right=ListOf(items=items)):
            if _is_status(left, names):
                yield from _strangers(items)
    for child in children(expr):
        yield from _compared(child, names)


def _strangers(found: tuple[Expr, ...] | list[Expr]) -> Iterator[Literal]:
    for expr in found:
        if isinstance(expr, Literal) and isinstance(expr.value, str) and expr.value not in STATUSES:
            yield expr


def _is_status(expr: Expr, names: Mapping[str, str]) -> bool:
    path = as_reference(expr)
    bound = path is not None and path.root == "with" and len(path.steps) == 1 and path.name in names
    return bound or _status_of(expr) is not None


def _status_of(expr: Expr) -> str | None:
    path = as_reference(expr)
    if path is not None and path.root == "tasks" and len(path.steps) == 2 and path.steps[1] == "status":
        return path.name
    return None


def _never(surface: Surface, island: Island, literal: Literal) -> Diagnostic:
    meant = _NEVER_STATES.get(literal.value) or ""
    hint = f"write '{meant}'" if meant else nearest(literal.value, STATUSES)
    return Diagnostic(
        "NIKA-DAG-007",
        f"no task ever ends in `{literal.value}`",
        island.place(literal.span),
        hint or f"a status is one of {', '.join(STATUSES)}",
        task=surface.task.id if surface.task else None,
    )
