"""What `on_error.recover` comes to, and whether what it came to once is that still."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from nika_nb.engine.memory import Hit, Miss
from nika_nb.engine.scope import Scopes
from nika_nb.errors import Fault
from nika_nb.language.cel import Reference
from nika_nb.language.model import Task
from nika_nb.language.template import references, render
from nika_nb.plan.gates import FIELD_ROLES
from nika_nb.plan.plan import RECOVER, TaskPlan
from nika_nb.values import digest

MOVED = Miss("input", (RECOVER,))


def sources(task: Task) -> Iterator[tuple[str, Reference]]:
    """The other tasks that a recovery reads, each with what it reads of it."""
    if task.on_error is not None:
        for ref in references(task.on_error.recover):
            if ref.root == "tasks" and ref.name is not None:
                yield ref.name, ref


def has_to_stand(planned: TaskPlan, hit: Hit) -> bool:
    """Whether a recorded success is a recovery that read something: no identity tells what that was."""
    return bool(hit.error) and planned.reads_to_recover


def usable(ref: Reference, tasks: dict[str, dict[str, Any]]) -> None:
    """A recovery source that did not succeed has no value to give. Raises Fault."""
    source, observed = str(ref.steps[0]), ref.steps[1:]
    status = tasks.get(source, {}).get("status")
    if not (observed and observed[0] in FIELD_ROLES) and status != "success":
        raise Fault("NIKA-VAR-001", f"`{ref}` has no value: `{source}` ended as {status}")


def recovered(task: Task, scope: dict[str, Any], tasks: dict[str, dict[str, Any]]) -> Any:
    """The value. Raises Fault."""
    assert task.on_error is not None
    assert task.on_error.recover is not None
    return render(task.on_error.recover, scope | {"tasks": tasks})


def standing(task: Task, hit: Hit, scopes: Scopes, local: dict[str, Any]) -> Hit | Miss:
    """The record of a recovery, where its output is what that comes to today; bytes are in no record."""
    try:
        for _, ref in sources(task):
            usable(ref, scopes.tasks)
        scope = scopes.live | {"with": scopes.bindings(task, scopes.live, local)} | local
        return hit if digest(recovered(task, scope, scopes.tasks)) == digest(hit.output) else MOVED
    except (Fault, TypeError):
        return MOVED
