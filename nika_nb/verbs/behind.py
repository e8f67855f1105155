"""What waits for a task: which tasks, what they may do, and when they will run."""

from __future__ import annotations

from collections.abc import Set

from nika_nb.authority.effects import described
from nika_nb.language.model import Task
from nika_nb.plan.graph import downstream
from nika_nb.plan.plan import Plan
from nika_nb.tools.base import NOTHING, Behind
from nika_nb.values import to_text


def behind(plan: Plan, task: str, beyond: Behind = NOTHING) -> Behind:
    """What waits for a task, here and in the workflows that call this one. beyond: what waits there."""
    tasks, waiting = plan.workflow.tasks, downstream(plan.edges, task)
    names = tuple(name for name in tasks if name in waiting)
    effects = dict.fromkeys((*described(plan.actions(names)), *beyond.effects))
    conditions = (condition(tasks[name], {task, *waiting}) for name in names)
    return Behind((*names, *beyond.tasks), tuple(effects), (*conditions, *beyond.conditions))


def condition(task: Task, producers: Set[str]) -> str:
    """When a task behind these producers will run, as its author wrote it; empty where it always will."""
    said = [
        f"after {edge.producer}: {edge.predicate}"
        for edge in task.after
        if edge.producer in producers and edge.predicate != "success"
    ]
    if isinstance(task.when, bool):
        said += [] if task.when else ["never"]
    elif task.when is not None:
        raw = to_text(task.when.raw).strip()
        said.append(f"when {raw.removeprefix('${{').removesuffix('}}').strip()}")
    return " · ".join(said)
