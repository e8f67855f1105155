"""The fields of a frame, read with care: a journal may come from anywhere."""

from __future__ import annotations

from typing import Any

from nika_nb.values import loads


def said(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def whole(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def number(value: Any) -> float | None:
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def shape_of(text: Any) -> dict[str, Any]:
    """The object in a field that is itself JSON text; empty where it is none."""
    found = _json(text)
    return found if isinstance(found, dict) else {}


def list_of(text: Any) -> list[Any]:
    """The same for a list."""
    found = _json(text)
    return found if isinstance(found, list) else []


def _json(text: Any) -> Any:
    try:
        return loads(text) if isinstance(text, str) else None
    except (ValueError, RecursionError):
        return None


def inner(shape: dict[str, Any], name: str) -> dict[str, Any]:
    found = shape.get(name)
    return found if isinstance(found, dict) else {}
