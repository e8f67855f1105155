"""The smallest value that has the shape of a JSON Schema: what a mock answers with."""

from __future__ import annotations

from typing import Any

_DEPTH = 16  # schemas may refer to themselves


def smallest(schema: Any, root: Any = None, depth: int = 0) -> Any:
    """A deterministic minimal instance: required members only, empty where empty is allowed.

    It fits the common keywords; a schema with `pattern` or `format` may still refuse it.
    """
    root = schema if root is None else root
    if not isinstance(schema, dict) or depth > _DEPTH:
        return None
    if "const" in schema:
        return schema["const"]
    if schema.get("enum"):
        return schema["enum"][0]
    for follow in (_referred, _merged, _first_branch):
        inner = follow(schema, root)
        if inner is not None:
            return smallest(inner, root, depth + 1)
    return _of_type(schema, root, depth)


def _referred(schema: dict[str, Any], root: Any) -> Any:
    ref = schema.get("$ref")
    if not isinstance(ref, str) or not ref.startswith("#"):
        return None
    place: Any = root
    for key in filter(None, ref[1:].split("/")):
        place = place.get(key.replace("~1", "/").replace("~0", "~")) if isinstance(place, dict) else None
    return place


def _merged(schema: dict[str, Any], root: Any) -> Any:
    """`allOf` flattened into one object of keywords."""
    parts = schema.get("allOf")
    if not isinstance(parts, list):
        return None
    merged = {key: value for key, value in schema.items() if key != "allOf"}
    for part in parts:
        part = _referred(part, root) or part
        for key, value in part.items() if isinstance(part, dict) else ():
            merged[key] = _joined(merged.get(key), value)
    return merged


def _joined(left: Any, right: Any) -> Any:
    if isinstance(left, dict) and isinstance(right, dict):
        return left | right
    if isinstance(left, list) and isinstance(right, list):
        return left + [item for item in right if item not in left]
    return right


def _first_branch(schema: dict[str, Any], root: Any) -> Any:
    for key in ("oneOf", "anyOf"):
        branches = schema.get(key)
        if isinstance(branches, list) and branches:
            rest = {name: value for name, value in schema.items() if name != key}
            return _merged(rest | {"allOf": [branches[0]]}, root)
    return None


def _of_type(schema: dict[str, Any], root: Any, depth: int) -> Any:
    kind = _type(schema)
    if kind == "object":
        return _object(schema, root, depth)
    if kind == "array":
        return _array(schema, root, depth)
    if kind == "string":
        return "x" * int(schema.get("minLength", 0))
    if kind in ("integer", "number"):
        return _number(schema, integer=kind == "integer")
    return False if kind == "boolean" else None


def _type(schema: dict[str, Any]) -> Any:
    kind = schema.get("type")
    if isinstance(kind, list):
        return kind[0] if kind else None
    if kind is None and ("properties" in schema or "required" in schema):
        return "object"
    return kind


def _object(schema: dict[str, Any], root: Any, depth: int) -> dict[str, Any]:
    known = schema.get("properties") or {}
    return {name: smallest(known.get(name, {}), root, depth + 1) for name in schema.get("required") or ()}


def _array(schema: dict[str, Any], root: Any, depth: int) -> list[Any]:
    least = int(schema.get("minItems", 0))
    heads = schema.get("prefixItems") or []
    shapes = heads[:least] + [schema.get("items", {})] * (least - len(heads))
    return [smallest(shape, root, depth + 1) for shape in shapes]


def _number(schema: dict[str, Any], integer: bool) -> int | float:
    """Zero where it is allowed, else the allowed number next to it."""
    step = schema.get("multipleOf", 1 if integer else 0)
    low, high = schema.get("minimum"), schema.get("maximum")
    above, below = schema.get("exclusiveMinimum"), schema.get("exclusiveMaximum")
    value: int | float = 0
    if above is not None and above >= 0:
        value = above + (step or _between(above, below, high))
    elif low is not None and low > 0:
        value = low
    elif below is not None and below <= 0:
        value = below - (step or 1)
    elif high is not None and high < 0:
        value = high
    rounded = -(-value // step) * step if step and value > 0 else value // step * step if step else value
    return int(rounded) if integer else rounded


def _between(above: float, below: float | None, high: float | None) -> float:
    limit = below if below is not None else high
    return min(1.0, (limit - above) / 2) if limit is not None else 1.0
