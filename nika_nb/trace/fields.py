"""The fields of a frame, read with care: a journal may come from anywhere."""

from __future__ import annotations

from typing import Any

from nika_nb.values import loads


def said(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def name_of(value: Any) -> str:
    """What a text is called, so that it can be looked for as a path: with a NUL none can."""
    return str(value or "").replace("\0", "\N{REPLACEMENT CHARACTER}")


def whole(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def number(value: Any) -> float | None:
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def json_in(text: Any) -> Any:
    """The value in a field that is itself JSON text; None where it is not."""
    try:
        return loads(text) if isinstance(text, str) else None
    except (ValueError, RecursionError):
        return None


def object_of(text: Any) -> dict[str, Any] | None:
    """The object in a field that is itself JSON text; None where it is none."""
    value = json_in(text)
    return value if isinstance(value, dict) else None


def shape_of(text: Any) -> dict[str, Any]:
    """The same; empty where it is none."""
    return object_of(text) or {}


def list_of(text: Any) -> list[Any]:
    """The list in such a field; empty where it is none."""
    found = json_in(text)
    return found if isinstance(found, list) else []


def names_of(text: Any) -> tuple[str, ...]:
    """The names in such a field."""
    return tuple(name for name in list_of(text) if isinstance(name, str))


def inner(shape: dict[str, Any], name: str) -> dict[str, Any]:
    found = shape.get(name)
    return found if isinstance(found, dict) else {}
