"""Values as far as they are known before a task runs: every island resolved that reads nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nika_nb.errors import Fault
from nika_nb.language import cel
from nika_nb.language.model import Task, Workflow
from nika_nb.language.template import Fields, Island, Items, Plain, Text, Value
from nika_nb.values import Json, to_text

Fixed = Mapping[str, Any]  # root → name → its value, known before the run; `item` → its value


def constants(workflow: Workflow) -> dict[str, Any]:
    """What is known everywhere in a workflow."""
    return {"const": {const.name: const.value for const in workflow.consts.values()}}


def bindings(task: Task, known: Fixed) -> dict[str, Json]:
    """The `with:` values of a task that come from what is known."""
    found = {name: fold(value, known) for name, value in task.with_.items()}
    return {name: value.raw for name, value in found.items() if isinstance(value, Plain)}


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
