"""Tools: those that tasks call and agents are granted by name, what is asked of them, and registries."""

from __future__ import annotations

from collections.abc import Iterator

from nika_nb.authority.effects import effects
from nika_nb.catalog.builtins import BUILTINS
from nika_nb.check.folding import folded
from nika_nb.doors import command
from nika_nb.language.model import Task, Workflow
from nika_nb.runs.lack import Lack
from nika_nb.runs.needs.sought import Sought
from nika_nb.tools import fetch
from nika_nb.tools.registry import TOOLS
from nika_nb.values import nearest


def look_up(sought: Sought) -> Iterator[Lack]:
    """A pattern grants what there is, and needs nothing."""
    for task in sought.tasks:
        if task.action.verb == "agent":
            for tool in task.action.get("tools") or ():
                if not any(sign in str(tool) for sign in "*?[!") and "${{" not in str(tool):
                    yield from _named(task, str(tool))
        elif task.action.verb == "invoke":
            yield from _called(task)
            yield from _fetched(sought.workflow, task)


def _called(task: Task) -> Iterator[Lack]:
    if task.called is not None and task.called.startswith("registry:"):
        what = f"`{task.id}`: no registry is part of this version"
        yield Lack("NIKA-COMP-001", what, f"call `{task.called}` as a file", task.id)
    elif isinstance(task.action.get("tool"), str):
        yield from _named(task, task.action.get("tool"))


def _fetched(workflow: Workflow, task: Task) -> Iterator[Lack]:
    """What a fetch asks for, as far as the text decides it.

    Where only the run knows the host, the boundary speaks first: it may never come to the rest.
    """
    action = folded(workflow, task) if task.action.get("tool") == fetch.NAME else None
    args = action.get("args") if action is not None else None
    reached = action is not None and any(e.kind == "net" and not e.dynamic for e in effects(action))
    lack = fetch.later(args) if reached and isinstance(args, dict) else None
    if lack is not None:
        yield Lack(fetch.LATER_CODE, f"`{task.id}`: {lack[0]}", lack[1], task.id)


def _named(task: Task, tool: str) -> Iterator[Lack]:
    if tool not in TOOLS:
        what = f"`{task.id}`: the tool `{tool}` is not part of this version"
        yield Lack("NIKA-INVOKE-001", what, _instead(tool), task.id)


def _instead(tool: str) -> str:
    """What to do about a tool that is not there."""
    if tool not in BUILTINS and (hint := nearest(tool, TOOLS)):
        return hint
    kind, sign, _ = tool.partition(":")
    if sign and kind != "nika":
        return f"tools of `{kind}:` come with a later version: let a program do it, in an `exec:` task"
    return f"take one that `{command('help', 'tools')}` lists, or let a program do it, in an `exec:` task"
