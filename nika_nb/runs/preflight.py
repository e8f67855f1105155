"""What a workflow needs from this machine and this version, looked up before anything starts."""

from __future__ import annotations

from collections.abc import Iterator

from nika_nb.language.model import Task, Workflow
from nika_nb.runs.request import Request
from nika_nb.tools.registry import TOOLS


def missing(workflow: Workflow, request: Request) -> list[str]:
    """One sentence per thing that is not there, each with what to do; empty when all is there."""
    found: list[str] = []
    for task in workflow.tasks.values():
        found += _task(task, request.model or workflow.model)
    return list(dict.fromkeys(found))


def _task(task: Task, model: str | None) -> Iterator[str]:
    verb = task.action.verb
    if verb == "agent":
        yield f"`{task.id}`: the `agent` verb is not part of this version"
    elif verb == "infer":
        yield from _model(task, model)
    elif verb == "invoke":
        yield from _tool(task)


def _model(task: Task, model: str | None) -> Iterator[str]:
    name = task.action.get("model") or model or ""
    if "${{" in str(name):
        return
    if not str(name).startswith("mock/"):
        yield (
            f"`{task.id}`: the model `{name}` is not part of this version, which speaks to `mock/echo` only; "
            "try it with --model mock/echo"
        )


def _tool(task: Task) -> Iterator[str]:
    tool = task.action.get("tool")
    if task.action.get("workflow") is not None:
        yield f"`{task.id}`: calling a workflow from a workflow is not part of this version"
    elif isinstance(tool, str) and tool not in TOOLS:
        known = ", ".join(sorted(TOOLS))
        yield f"`{task.id}`: the tool `{tool}` is not part of this version (it has {known})"
