"""A canonical type expression → its JSON Schema 2020-12. One direction, one projection."""

from __future__ import annotations

from typing import Any

from nika_nb.language.lattice import UNKNOWN
from nika_nb.values import Json

_TERM = r"[0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h)"
_PRIMITIVES: dict[str, dict[str, Any]] = {
    "null": {"type": "null"},
    "bool": {"type": "boolean"},
    "integer": {"type": "integer"},
    "number": {"type": "number"},
    "string": {"type": "string"},
    "bytes": {"type": "string", "contentEncoding": "base64"},
    "uri": {"type": "string", "format": "uri"},
    "path": {"type": "string"},
    "duration": {"type": "string", "pattern": f"^{_TERM}({_TERM})*$"},
    "timestamp": {"type": "string", "format": "date-time"},
}
PRIMITIVES: tuple[str, ...] = tuple(_PRIMITIVES)
_KEYWORDS = {
    "min": "minimum", "max": "maximum", "pattern": "pattern", "min_len": "minLength", "max_len": "maxLength",
}  # fmt: skip


def lower(expr: Json) -> dict[str, Any]:
    """The JSON Schema of a canonical expression (see `lattice.normalize`)."""
    if isinstance(expr, str):
        return dict(_PRIMITIVES[expr])
    if expr == UNKNOWN:
        return {}
    if "object" in expr:
        return _object(expr)
    [(constructor, inner)] = expr.items()
    match constructor:
        case "array":
            return {"type": "array", "items": lower(inner)}
        case "map":
            return {"type": "object", "additionalProperties": lower(inner)}
        case "union":
            return {"anyOf": [lower(member) for member in inner]}
        case "enum":
            return {"type": "string", "enum": list(inner)}
    return {"type": constructor} | {_KEYWORDS[key]: value for key, value in inner.items()}


def _object(expr: dict[str, Any]) -> dict[str, Any]:
    properties: dict[str, Any] = {}
    required: list[str] = []
    for name, slot in expr["object"].items():
        if isinstance(slot, dict) and "optional" in slot:
            properties[name] = lower(slot["optional"])
        else:
            properties[name] = lower(slot)
            required.append(name)
    schema: dict[str, Any] = {"type": "object", "properties": properties}
    if required:
        schema["required"] = required
    if "additional" not in expr:
        schema["additionalProperties"] = False
    return schema
