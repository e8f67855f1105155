"""What a workflow needs from this machine and this version, looked up before anything starts."""

from __future__ import annotations

from collections.abc import Iterator

from nika_nb.authority.skills import open_skill
from nika_nb.catalog import prices
from nika_nb.catalog.providers import kind_of, split_model
from nika_nb.errors import Fault
from nika_nb.language.model import Task, Workflow
from nika_nb.providers import registry
from nika_nb.runs.lack import Lack
from nika_nb.runs.request import Request
from nika_nb.tools.registry import TOOLS


def missing(workflow: Workflow, request: Request) -> list[Lack]:
    """What is not there, each with what to do; empty when all is there."""
    found: list[Lack] = []
    for task in workflow.tasks.values():
        found += _task(task, workflow, request)
    return list(dict.fromkeys(found))


def uncapped(workflow: Workflow, request: Request) -> list[str]:
    """What `--max-cost-usd` cannot see: the models that have no price, but are not known to cost nothing."""
    if request.max_cost_usd is None:
        return []
    named = (_model_of(task, workflow, request) for task in workflow.tasks.values() if _asks(task))
    blind = [name for name in dict.fromkeys(named) if kind_of(name) == "cloud" and not prices.price_of(name)]
    if not blind:
        return []
    return [f"no price is known for {', '.join(blind)}: what they cost does not count against --max-cost-usd"]


def _asks(task: Task) -> bool:
    return task.action.verb in ("infer", "agent")


def _model_of(task: Task, workflow: Workflow, request: Request) -> str:
    return str(task.action.get("model") or request.model or workflow.model or "")


def _task(task: Task, workflow: Workflow, request: Request) -> Iterator[Lack]:
    if _asks(task):
        yield from _model(task, _model_of(task, workflow, request))
    if task.action.verb == "agent":
        yield from _agent(task, workflow, str(request.place.root))
    elif task.action.verb == "invoke":
        yield from _tool(task)


def _model(task: Task, name: str) -> Iterator[Lack]:
    if "${{" in name:
        return
    if not name:
        hint = "write `model:` in the task or the envelope, or give --model"
        yield Lack("NIKA-PROVIDER-001", f"`{task.id}` names no model", hint, task.id)
        return
    if split_model(name)[0] not in registry.MAKERS:
        known = ", ".join(f"`{prefix}/…`" for prefix in registry.known())
        what = f"`{task.id}`: the model `{name}` is not part of this version, which speaks to {known} only"
        yield Lack("NIKA-PROVIDER-001", what, "try it with --model mock/echo", task.id)


def _agent(task: Task, workflow: Workflow, folder: str) -> Iterator[Lack]:
    """Every tool that is granted by its name, and every skill; a pattern grants what there is."""
    for tool in task.action.get("tools") or ():
        if not any(sign in str(tool) for sign in "*?[!") and "${{" not in str(tool):
            yield from _named_tool(task, str(tool))
    for path in task.action.get("skills") or ():
        try:
            open_skill(workflow.permits, str(path), folder)
        except Fault as fault:
            yield Lack(fault.code, f"`{task.id}`: {fault}", task=task.id)


def _tool(task: Task) -> Iterator[Lack]:
    if task.called is not None and task.called.startswith("registry:"):
        what = f"`{task.id}`: no registry is part of this version"
        yield Lack("NIKA-COMP-001", what, f"call `{task.called}` as a file", task.id)
    elif isinstance(task.action.get("tool"), str):
        yield from _named_tool(task, task.action.get("tool"))


def _named_tool(task: Task, tool: str) -> Iterator[Lack]:
    if tool not in TOOLS:
        known = ", ".join(sorted(TOOLS))
        what = f"`{task.id}`: the tool `{tool}` is not part of this version (it has {known})"
        yield Lack("NIKA-INVOKE-001", what, task=task.id)
