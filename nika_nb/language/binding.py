"""Binds declared inputs: what was given, else the default; every name that does not fit is told."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from nika_nb.language.model import Input, Workflow
from nika_nb.values import LEVELS, Json, dumps, loads, nearest, portable, to_text, too_deep

How = Callable[[str, str], str]  # (a name, a value) → how an input is given


def bound(workflow: Workflow, given: Mapping[str, Any], how: How) -> tuple[dict[str, Any], list[str]]:
    """(every declared input with its value, a sentence per name that does not fit)."""
    troubles = [_unknown(name, workflow) for name in given if name not in workflow.inputs]
    values: dict[str, Any] = {}
    for declared in workflow.inputs.values():
        if declared.name in given:
            values[declared.name] = _plain(declared, given[declared.name], how, troubles)
        elif declared.has_default:
            values[declared.name] = declared.default
        elif declared.required:
            hint = f"give it with {how(declared.name, '…')}"
            troubles.append(f"input `{declared.name}` is required: {hint}")
        else:
            values[declared.name] = None
    return values, troubles


def _unknown(name: str, workflow: Workflow) -> str:
    declared = ", ".join(workflow.inputs) or "none"
    hint = nearest(str(name), workflow.inputs)
    return f"`{name}` is not an input of this workflow (declared: {declared})" + (f", {hint}" if hint else "")


def _plain(declared: Input, value: Any, how: How, troubles: list[str]) -> Any:
    """The value as JSON holds it, bytes as base64 text, judged by the declared type."""
    is_bytes = isinstance(value, (bytes, bytearray))
    try:
        plain = _as_json(portable(value) if is_bytes else value)
    except (TypeError, ValueError) as error:
        troubles.append(f"input `{declared.name}` is not a JSON value: {error}")
        return None
    trouble = declared.type.conforms(value if is_bytes else plain)
    if trouble:
        troubles.append(
            f"input `{declared.name}` does not fit its type: {trouble}{_as_text(declared, plain, how)}"
        )
    return plain


def _as_text(declared: Input, plain: Json, how: How) -> str:
    """Where a text is wanted, and what was given reads as a number, a bool or null: how it stays a text."""
    if isinstance(plain, (str, list, dict)) or declared.type.conforms(to_text(plain)):
        return ""
    hint = how(declared.name, '"…"')
    return f"; as a text it is written {hint}"


def _as_json(value: Any) -> Json:
    """The value after a trip through JSON text. Raises TypeError or ValueError."""
    try:
        plain = loads(dumps(value).encode("utf-8"))
    except RecursionError:
        plain = None
    except UnicodeEncodeError:
        raise ValueError("half of a surrogate pair is no character") from None
    if too_deep(plain) or (plain is None and value is not None):
        raise ValueError(f"it nests deeper than {LEVELS} levels")
    return plain
