"""What is fixed before the run although it is written as `${{ }}`: constants, and literal bindings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from nika_nb.errors import Fault
from nika_nb.language import cel
from nika_nb.language.model import Action, Task, Workflow
from nika_nb.language.template import Fields, Island, Items, Plain, Text, Value
from nika_nb.values import Json, to_text

Fixed = Mapping[str, Any]  # root → name → its value, known before the run; `item` → its value

MOST_ELEMENTS = 64  # of a written-out collection that are looked at one by one


def fixed(workflow: Workflow, task: Task, *, defaults: bool = False) -> Fixed:
    """What is known in the body of a task. `defaults`: count an input as the default it declares."""
    known = constants(workflow)
    if defaults:
        known["inputs"] = {
            given.name: given.default for given in workflow.inputs.values() if given.has_default
        }
    return known | {"with": _bound(task, known)}


def constants(workflow: Workflow) -> dict[str, Any]:
    """What is known everywhere in a workflow."""
    return {"const": {const.name: const.value for const in workflow.consts.values()}}


def _bound(task: Task, known: Fixed) -> dict[str, Json]:
    found = {name: fold(value, known) for name, value in task.with_.items()}
    return {name: value.raw for name, value in found.items() if isinstance(value, Plain)}


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
        scopes = [scope | {"with": _bound(task, scope)} for scope in each]
    return [replace(task.action, body=fold(task.action.body, scope)) for scope in scopes]


def fold(value: Value, known: Fixed) -> Value:
    """The value with every island resolved that reads nothing but what is known."""
    match value:
        case Plain():
            return value
        case Items(items=items):
            parts = [fold(item, known) for item in items]
            if all(isinstance(part, Plain) for part in parts):
                return Plain([part.raw for part in parts], value.span)
            return Items(tuple(parts), value.span)
        case Fields(fields=fields):
            inner = {name: fold(item, known) for name, item in fields.items()}
            if all(isinstance(item, Plain) for item in inner.values()):
                return Plain({name: item.raw for name, item in inner.items()}, value.span)
            return Fields(inner, value.span)
        case Text():
            return _text(value, known)


def _text(value: Text, known: Fixed) -> Plain | Text:
    if len(value.parts) == 1 and isinstance(value.parts[0], Island):
        resolved, result = _resolve(value.parts[0], known)
        return Plain(result, value.span) if resolved else value
    parts: list[str | Island] = []
    for part in value.parts:
        resolved, result = (True, part) if isinstance(part, str) else _resolve(part, known)
        parts.append(to_text(result) if resolved else part)
    raw = "".join(part if isinstance(part, str) else f"${{{{ {part.text} }}}}" for part in parts)
    if all(isinstance(part, str) for part in parts):
        return Plain(raw, value.span)
    return Text(raw, tuple(parts), value.span)


def _is_known(reference: cel.Reference, known: Fixed) -> bool:
    if reference.root in ("item", "index"):
        return reference.root in known
    return bool(reference.steps) and reference.steps[0] in known.get(reference.root, {})


def _resolve(island: Island, known: Fixed) -> tuple[bool, Any]:
    for reference in cel.references(island.expr):
        if not _is_known(reference, known):
            return False, None
    try:
        return True, cel.evaluate(island.expr, known)
    except Fault:
        return False, None
