"""Reads of a task that may be skipped: they are null then, and what acts on them acts all the same."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from nika_nb.authority.effects import effects
from nika_nb.check.kleene import UNKNOWN, truth
from nika_nb.check.subject import Subject
from nika_nb.errors import Diagnostic
from nika_nb.language.cel import Expr
from nika_nb.language.cel.syntax import as_reference
from nika_nb.language.model import Task
from nika_nb.language.template import only_island, read_of
from nika_nb.plan.edges import Edge

_CODE = "NIKA-VAR-001"
_ACTS = frozenset({"exec", "shell", "write", "net", "workflow"})
_ASKS = "nika:prompt"


def judge(subject: Subject) -> Iterator[Diagnostic]:
    """A warning, where the null of one skipped task would reach the world outside.

    Silent where `when:` is closed by it or cannot be decided, where an expression has made something of
    it, and where several such tasks meet: of two branches one is always skipped.
    """
    for task in subject.sound_tasks:
        loose = _loose(subject, subject.incoming[task.id])
        if len({edge.producer for edge in loose}) == 1 and _acts(task):
            yield from (_warning(task, edge) for edge in loose if _reaches(task, edge))


def _loose(subject: Subject, incoming: Iterable[Edge]) -> list[Edge]:
    """The reads of tasks that may be skipped, with no gate of its own on how that one ends."""
    gated = {gate.producer for gate in incoming if gate.kind == "control" and "skipped" not in gate.admits}
    reads = (edge for edge in incoming if edge.kind == "value" and edge.producer not in gated)
    return [edge for edge in reads if _may_skip(subject.workflow.tasks[edge.producer])]


def _may_skip(task: Task) -> bool:
    """By its own gate, or as a whole on an error; an empty collection is left out."""
    on_error = task.on_error is not None and task.on_error.skip and task.for_each is None
    return task.when not in (None, True) or bool(on_error)


def _acts(task: Task) -> bool:
    asks = task.action.verb == "invoke" and task.action.get("tool") == _ASKS
    return asks or any(effect.kind in _ACTS for effect in effects(task.action))


def _reaches(task: Task, edge: Edge) -> bool:
    """Whether the null stands in what is done, or opens the gate in front of it."""
    binding = edge.binding or ""
    island = only_island(task.with_[binding])
    if island is not None and as_reference(island.expr) is None:
        return False
    if task.when in (None, True):
        return _reads(task, binding)
    gate = only_island(task.condition)
    return gate is not None and truth(gate.expr, lambda expr: _null_at(expr, binding)) is True


def _reads(task: Task, binding: str) -> bool:
    return binding in read_of(task.action.body, "with")


def _null_at(expr: Expr, binding: str) -> object:
    path = as_reference(expr)
    is_it = path is not None and path.root == "with" and [str(step) for step in path.steps] == [binding]
    return None if is_it else UNKNOWN


def _warning(task: Task, edge: Edge) -> Diagnostic:
    name = f"with.{edge.binding}"
    sentence = f"`{edge.producer}` may be skipped: `{name}` is null then, and `{task.id}` runs all the same"
    hint = f"write `after: {{{edge.producer}: success}}`, or a `when:` that is false where `{name}` is null"
    return Diagnostic(_CODE, sentence, edge.span, hint, "warning", task=task.id)
