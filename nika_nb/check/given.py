"""What builtins give back, as far as the text decides it."""

from __future__ import annotations

from typing import Any

from nika_nb.language.lattice import UNKNOWN
from nika_nb.language.model import Task
from nika_nb.values import Json

_PATCH: Json = {"object": {"op": "string", "path": "string"}, "additional": True}
_ALWAYS: dict[str, Json] = {
    "nika:assert": "bool",
    "nika:json_diff": {"array": _PATCH},
    "nika:log": "null",
    "nika:validate": {"object": {"valid": "bool", "errors": {"array": UNKNOWN}}},
    "nika:wait": "null",
    "nika:write": "string",
}
_ANSWERS: dict[str, Json] = {"confirm": "bool", "input": "string", "choice": "string"}


def given(task: Task) -> Json | None:
    """The canonical type of what a task's builtin gives back; None where that is open."""
    tool = task.action.get("tool") if task.action.verb == "invoke" else None
    args: Any = task.action.get("args")
    if not isinstance(tool, str) or not isinstance(args, dict):
        return None
    if tool == "nika:prompt":
        return _ANSWERS.get(str(args.get("mode", "confirm")))
    if tool == "nika:read":
        return "string" if "binary" not in args else None
    return _ALWAYS.get(tool)
