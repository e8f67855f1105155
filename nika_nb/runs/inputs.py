"""Binds the declared inputs: what the caller gave, else the default; refused before anything runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nika_nb.errors import UsageError
from nika_nb.language.model import Input, Workflow
from nika_nb.values import dumps, loads, nearest


def parse_variable(text: str) -> tuple[str, Any]:
    """`K=V` → (K, value): JSON where V parses as JSON, else the text itself. Raises UsageError."""
    name, sign, raw = text.partition("=")
    if not sign or not name.strip():
        raise UsageError(f"--var needs NAME=VALUE, not {text!r}")
    return name.strip(), parse_value(raw)


def parse_value(raw: str) -> Any:
    """JSON where it parses, else the text."""
    try:
        return loads(raw)
    except (ValueError, RecursionError):
        return raw


def bind(workflow: Workflow, given: Mapping[str, Any]) -> dict[str, Any]:
    """Every declared input with its value. Raises UsageError naming each name that does not fit."""
    troubles = [_unknown(name, workflow) for name in given if name not in workflow.inputs]
    bound: dict[str, Any] = {}
    for declared in workflow.inputs.values():
        if declared.name in given:
            bound[declared.name] = _plain(declared, given[declared.name], troubles)
        elif declared.has_default:
            bound[declared.name] = declared.default
        elif declared.required:
            troubles.append(f"input `{declared.name}` is required: give it with --var {declared.name}=…")
        else:
            bound[declared.name] = None
    if troubles:
        raise UsageError("nothing was run:\n" + "\n".join(f"  {trouble}" for trouble in troubles))
    return bound


def _unknown(name: str, workflow: Workflow) -> str:
    declared = ", ".join(workflow.inputs) or "none"
    hint = nearest(name, workflow.inputs)
    return f"`{name}` is not an input of this workflow (declared: {declared})" + (f", {hint}" if hint else "")


def _plain(declared: Input, value: Any, troubles: list[str]) -> Any:
    """The value as JSON holds it, judged by the declared type."""
    try:
        plain = loads(dumps(value))
    except (TypeError, ValueError) as error:
        troubles.append(f"input `{declared.name}` is not a JSON value: {error}")
        return None
    trouble = declared.type.conforms(plain)
    if trouble:
        troubles.append(f"input `{declared.name}` does not fit its type: {trouble}")
    return plain


def origins(workflow: Workflow, given: Mapping[str, Any], origin: str) -> dict[str, str]:
    """Where each bound input came from: the caller's door, or `file` for a declared default."""
    return {
        declared.name: origin if declared.name in given else "file"
        for declared in workflow.inputs.values()
        if declared.name in given or declared.has_default
    }
