"""Models: one that is named, of a provider that this version speaks to."""

from __future__ import annotations

from collections.abc import Iterator

from nika_nb.catalog import prices
from nika_nb.catalog.providers import kind_of, split_model
from nika_nb.doors import option
from nika_nb.language.model import Task, Workflow
from nika_nb.providers import registry
from nika_nb.runs.lack import Lack
from nika_nb.runs.needs.sought import Sought
from nika_nb.runs.pricing import mocked
from nika_nb.runs.request import Request


def look_up(sought: Sought) -> Iterator[Lack]:
    """What is known only at the run is not looked up."""
    for task in sought.tasks:
        if _asks(task):
            yield from _model(task, _name(task, sought.workflow, sought.model))


def uncapped(workflow: Workflow, request: Request) -> list[str]:
    """What `--max-cost-usd` cannot see: the models that have no price; only a mock costs nothing."""
    if request.max_cost_usd is None:
        return []
    named = (_name(task, workflow, request.model) for task in workflow.tasks.values() if _asks(task))
    blind = [name for name in dict.fromkeys(named) if kind_of(name) != "test" and not prices.price_of(name)]
    if not blind:
        return []
    names = ", ".join(blind)
    return [f"no price is known for {names}: what they cost does not count against {option('max-cost-usd')}"]


def made_up(workflow: Workflow, request: Request) -> list[str]:
    """Which of its models only cost what NIKA_NB_MOCK says."""
    prices = mocked()
    named = (_name(task, workflow, request.model) for task in workflow.tasks.values() if _asks(task))
    priced = [name for name in dict.fromkeys(named) if name in prices]
    return [f"the prices of {', '.join(priced)} are made up: NIKA_NB_MOCK gives them"] if priced else []


def _asks(task: Task) -> bool:
    return task.action.verb in ("infer", "agent")


def _name(task: Task, workflow: Workflow, given: str | None) -> str:
    return str(task.action.get("model") or given or workflow.model or "")


def _model(task: Task, name: str) -> Iterator[Lack]:
    if "${{" in name:
        return
    if not name:
        hint = f"write `model:` in the task or the envelope, or give {option('model', '…')}"
        yield Lack("NIKA-PROVIDER-001", f"`{task.id}` names no model", hint, task.id)
        return
    if split_model(name)[0] not in registry.MAKERS:
        known = ", ".join(f"`{prefix}/…`" for prefix in registry.known())
        what = f"`{task.id}`: the model `{name}` is not part of this version, which speaks to {known} only"
        yield Lack("NIKA-PROVIDER-001", what, f"try it with {option('model', 'mock/echo')}", task.id)
