"""The fields that bodies of `infer` and `agent` share, as they come out of their templates."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nika_nb.errors import Fault
from nika_nb.tools.base import as_text
from nika_nb.values import to_text


def text(body: Mapping[str, Any], key: str) -> str | None:
    """A text, None where it is not written. Raises Fault NIKA-VAR-007 for bytes."""
    return None if body.get(key) is None else as_text(body[key], f"`{key}:`")


def whole(body: Mapping[str, Any], key: str) -> int | None:
    """A whole number from 1 on, None where it is not written. Raises Fault NIKA-VAR-006."""
    value = body.get(key)
    if value is None:
        return None
    if isinstance(value, str) and value.isdecimal():
        value = int(value)
    if isinstance(value, int) and not isinstance(value, bool) and value > 0:
        return value
    raise Fault("NIKA-VAR-006", f"`{key}:` came out as {to_text(value)}: it is a whole number from 1 on")


def temperature(body: Mapping[str, Any]) -> float | None:
    """A number from 0 to 2, None where it is not written. Raises Fault NIKA-VAR-006."""
    value = body.get("temperature")
    if value is None:
        return None
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = -1.0
    if not 0 <= number <= 2:
        shown = to_text(value)
        raise Fault("NIKA-VAR-006", f"`temperature:` came out as {shown}: it is a number from 0 to 2")
    return number
