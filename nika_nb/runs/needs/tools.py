"""Tools: those that tasks call and agents are granted by name, and registries of workflows."""

from __future__ import annotations

from collections.abc import Iterator

from nika_nb.language.model import Task
from nika_nb.runs.lack import Lack
from nika_nb.runs.needs.sought import Sought
from nika_nb.tools.registry import TOOLS


def look_up(sought: Sought) -> Iterator[Lack]:
    """A pattern grants what there is, and needs nothing."""
    for task in sought.tasks:
        if task.action.verb == "agent":
            for tool in task.action.get("tools") or ():
                if not any(sign in str(tool) for sign in "*?[!") and "${{" not in str(tool):
                    yield from _named(task, str(tool))
        elif task.action.verb == "invoke":
            yield from _called(task)


def _called(task: Task) -> Iterator[Lack]:
    if task.called is not None and task.called.startswith("registry:"):
        what = f"`{task.id}`: no registry is part of this version"
        yield Lack("NIKA-COMP-001", what, f"call `{task.called}` as a file", task.id)
    elif isinstance(task.action.get("tool"), str):
        yield from _named(task, task.action.get("tool"))


def _named(task: Task, tool: str) -> Iterator[Lack]:
    if tool not in TOOLS:
        known = ", ".join(sorted(TOOLS))
        what = f"`{task.id}`: the tool `{tool}` is not part of this version (it has {known})"
        yield Lack("NIKA-INVOKE-001", what, task=task.id)
