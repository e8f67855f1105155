"""What is fixed before the run although it is written as `${{ }}`: constants, and literal bindings."""

from __future__ import annotations

from dataclasses import replace

from nika_nb.language.folding import Fixed, bindings, constants, fold
from nika_nb.language.model import Action, Task, Workflow
from nika_nb.language.template import Plain
from nika_nb.values import Json

MOST_ELEMENTS = 64  # of a written-out collection that are looked at one by one


def fixed(workflow: Workflow, task: Task, *, defaults: bool = False) -> Fixed:
    """What is known in the body of a task. `defaults`: count an input as the default it declares."""
    known = constants(workflow)
    if defaults:
        known["inputs"] = {
            given.name: given.default for given in workflow.inputs.values() if given.has_default
        }
    return known | {"with": bindings(task, known)}


def folded(workflow: Workflow, task: Task) -> Action:
    """The task's action with everything fixed written out."""
    return replace(task.action, body=fold(task.action.body, fixed(workflow, task)))


def argument(workflow: Workflow, task: Task, name: str) -> Json:
    """One argument of a call with everything fixed written out; None where there is none."""
    args = folded(workflow, task).get("args")
    return args.get(name) if isinstance(args, dict) else None


def folded_each(workflow: Workflow, task: Task, *, defaults: bool = False) -> list[Action]:
    """The same for every element of a fan-out whose collection is written out; else just the one."""
    known = fixed(workflow, task, defaults=defaults)
    scopes = [known]
    items = fold(task.for_each.items, known) if task.for_each is not None else None
    if isinstance(items, Plain) and isinstance(items.raw, list) and 0 < len(items.raw) <= MOST_ELEMENTS:
        each = [{**known, "item": item, "index": at} for at, item in enumerate(items.raw)]
        scopes = [scope | {"with": bindings(task, scope)} for scope in each]
    return [replace(task.action, body=fold(task.action.body, scope)) for scope in scopes]
