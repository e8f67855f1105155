"""What is statically known of a value, and the walk of a path through it.

A shape is one of: `None` (nothing is known, every step is allowed), a canonical type expression, a
raw JSON Schema as far as the walk understands it, or the value itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from nika_nb.language.lattice import UNKNOWN
from nika_nb.values import Json, nearest, type_name

Step = str | int
TEXTS = frozenset({"string", "uri", "path", "duration", "timestamp", "enum"})  # types of texts


@dataclass(frozen=True, slots=True)
class Typed:
    """A canonical type expression (see `language.lattice`)."""

    expr: Json


@dataclass(frozen=True, slots=True)
class Schema:
    """One level of a raw JSON Schema."""

    level: Any


@dataclass(frozen=True, slots=True)
class Known:
    """The value itself."""

    value: Json


@dataclass(frozen=True, slots=True)
class Printed:
    """What a program printed and nothing decoded: text, most likely; of a fan-out a list of it."""

    task: str
    each: bool = False


Shape = Typed | Schema | Known | Printed | None


@dataclass(frozen=True, slots=True)
class Wrong:
    """A step that no value of the shape allows.

    at: its index in the path. why: a sentence in which `{base}` stands for the path so far.
    hint: what exists instead, or an empty string. likely: nothing declares the type, so it is only likely.
    """

    at: int
    why: str
    hint: str
    likely: bool = False


def walk(shape: Shape, steps: tuple[Step, ...]) -> Shape | Wrong:
    """The shape at the end of a path, or the first step that cannot be taken."""
    for at, step in enumerate(steps):
        found = _take(shape, step)
        if isinstance(found, Wrong):
            return Wrong(at, found.why, found.hint, found.likely)
        shape = found
        if shape is None:
            return None
    return shape


def element(shape: Shape) -> Shape:
    """The shape of one element of a list of this shape."""
    match shape:
        case Typed(expr={"array": inner}):
            return Typed(inner)
        case Schema(level={"items": dict() as inner}):
            return Schema(inner)
        case Printed(task=task, each=True):
            return Printed(task)
    return None


def listed(shape: Shape) -> Shape:
    """The shape of a list whose elements have this shape."""
    match shape:
        case Typed(expr=expr):
            return Typed({"array": expr})
        case Schema(level=level):
            return Schema({"type": "array", "items": level})
        case Printed(task=task):
            return Printed(task, each=True)
    return Typed({"array": UNKNOWN})


def _take(shape: Shape, step: Step) -> Shape | Wrong:
    match shape:
        case Typed(expr=expr):
            return _in_type(expr, step)
        case Schema(level=level):
            return _in_schema(level, step)
        case Known(value=value):
            return _in_value(value, step)
        case Printed():
            return _in_print(shape, step)
    return None


def _in_print(shape: Printed, step: Step) -> Shape | Wrong:
    if shape.each:
        return Printed(shape.task) if isinstance(step, int) else _not_that(step, noun("array"))
    return Wrong(0, _not_that(step, noun("string")).why, undecoded(shape.task), likely=True)


def undecoded(task: str) -> str:
    """What makes data of a text that a program printed."""
    return f"write `decode: json` in the `exec:` of `{task}` when it prints JSON"


def _no_field(step: Step, fields: list[str]) -> Wrong:
    shown = ", ".join(f"`{name}`" for name in fields[:12]) or "none"
    hint = nearest(str(step), fields) or f"its fields are {shown}"
    return Wrong(0, f"there is no field `{step}` in {{base}}", hint)


def _not_that(step: Step, what: str) -> Wrong:
    if isinstance(step, int):
        return Wrong(0, f"`[{step}]` takes an element of a list, and {{base}} is {what}", "")
    return Wrong(0, f"`.{step}` reads a field of an object, and {{base}} is {what}", "")


def _in_type(expr: Json, step: Step) -> Shape | Wrong:
    if expr == UNKNOWN:
        return None
    if isinstance(expr, str):
        return _not_that(step, noun(expr))
    if "union" in expr:
        return _in_union(expr["union"], step)
    if "object" in expr and isinstance(step, str):
        return _in_object(expr, step)
    if "map" in expr and isinstance(step, str):
        return Typed(expr["map"])
    if "array" in expr and isinstance(step, int):
        return Typed(expr["array"])
    return _not_that(step, noun(next(iter(expr))))


def _in_object(expr: dict[str, Any], step: str) -> Shape | Wrong:
    fields = expr["object"]
    if step in fields:
        slot = fields[step]
        return Typed(slot["optional"] if isinstance(slot, dict) and "optional" in slot else slot)
    return None if expr.get("additional") else _no_field(step, list(fields))


def _in_union(members: list[Json], step: Step) -> Shape | Wrong:
    """A step is wrong only where it is wrong in every member."""
    found = [_in_type(member, step) for member in members]
    possible = [shape for shape in found if not isinstance(shape, Wrong)]
    if not possible:
        return next(
            (shape for shape in found if isinstance(shape, Wrong) and "no field" in shape.why), found[0]
        )
    return possible[0] if len(possible) == 1 else None


def noun(word: str) -> str:
    """A primitive or a constructor, as people call its values."""
    names = {
        "array": "a list",
        "object": "an object",
        "map": "an object",
        "null": "null",
        "bool": "true or false",
        "integer": "an integer",
    }
    return names.get(word, "text" if word in ("string", "enum") else f"a {word}")


# What the walk does not follow; a level that says one of these is open.
_BEYOND = frozenset(
    {
        "$ref", "$dynamicRef", "$recursiveRef", "oneOf", "anyOf", "allOf", "not", "if", "then", "else",
        "patternProperties", "dependentSchemas", "dependencies", "propertyNames", "prefixItems", "contains",
        "unevaluatedProperties", "unevaluatedItems", "additionalItems",
    }
)  # fmt: skip


def _in_schema(level: Any, step: Step) -> Shape | Wrong:
    if not isinstance(level, dict) or "type" not in level or _BEYOND & level.keys():
        return None
    types = level["type"] if isinstance(level["type"], list) else [level["type"]]
    if not all(isinstance(name, str) for name in types):
        return None  # it is no schema, which is told where it stands
    wanted = "array" if isinstance(step, int) else "object"
    if wanted not in types:
        return _not_that(step, noun(types[0]) if types else "nothing")
    if isinstance(step, int):
        return Schema(level["items"]) if isinstance(level.get("items"), dict) else None
    return _in_properties(level, step)


def _in_properties(level: dict[str, Any], step: str) -> Shape | Wrong:
    properties = level.get("properties")
    declared = properties if isinstance(properties, dict) else {}
    if step in declared:
        return Schema(declared[step])
    more = level.get("additionalProperties")
    if isinstance(more, dict):
        return Schema(more)
    if more is True or (more is None and "properties" not in level):
        return None
    return _no_field(step, list(declared))


def _in_value(value: Json, step: Step) -> Shape | Wrong:
    if isinstance(value, dict) and isinstance(step, str):
        return Known(value[step]) if step in value else _no_field(step, list(value))
    if isinstance(value, list) and isinstance(step, int):
        if 0 <= step < len(value):
            return Known(value[step])
        return Wrong(
            0, f"`[{step}]` lies outside {{base}}, a list of {len(value)}", "the first element is `[0]`"
        )
    return _not_that(step, noun(type_name(value)))
