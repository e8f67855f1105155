"""Both sides of a comparison have one type: where the declared ones differ, it can only fail."""

from __future__ import annotations

from collections.abc import Iterator

from nika_nb.check.contracts import shape_of_path
from nika_nb.check.shapes import TEXTS, Known, Typed
from nika_nb.check.subject import Subject
from nika_nb.check.surfaces import Surface, surfaces
from nika_nb.errors import Diagnostic
from nika_nb.language.cel import Expr
from nika_nb.language.cel.syntax import Binary, Call, ListOf, Literal, Not, as_reference, children
from nika_nb.language.template import Island
from nika_nb.values import Json, type_name

_CODE = "NIKA-VAR-006"
_EQUAL = frozenset({"==", "!="})
_ORDERED = frozenset({"<", "<=", ">", ">="})
_WORDS = {"string": "text", "number": "a number", "boolean": "true or false", "array": "a list",
          "object": "an object", "null": "null"}  # fmt: skip
_FAMILIES = {
    **dict.fromkeys(TEXTS, "string"),
    **dict.fromkeys(("integer", "number"), "number"),
    **dict.fromkeys(("object", "map"), "object"),
    "bool": "boolean",
    "array": "array",
}


def judge(subject: Subject) -> Iterator[Diagnostic]:
    """Warnings: a branch that is never taken compares nothing, and a value that is absent equals null."""
    for surface in surfaces(subject.workflow):
        if surface.task is None or surface.task.id not in subject.broken:
            for island in surface.islands():
                yield from _compared(subject, surface, island, island.expr)


def _compared(subject: Subject, surface: Surface, island: Island, expr: Expr) -> Iterator[Diagnostic]:
    if isinstance(expr, Binary) and expr.op in _EQUAL | _ORDERED:
        left, right = (_family(subject, surface, side) for side in (expr.left, expr.right))
        if left and right and _never_meet(expr.op, left, right):
            owner = surface.task.id if surface.task else None
            sentence = f"`{expr.op}` compares {_WORDS[left]} with {_WORDS[right]}: the types differ"
            hint = "compare what has one type: a text is quoted, a number and true or false are not"
            yield Diagnostic(_CODE, sentence, island.place(expr.span), hint, "warning", task=owner)
    for child in children(expr):
        yield from _compared(subject, surface, island, child)


def _never_meet(op: str, left: str, right: str) -> bool:
    """Null may be asked for, never ordered."""
    return left != right and not (op in _EQUAL and "null" in (left, right))


def _family(subject: Subject, surface: Surface, expr: Expr) -> str | None:
    """The one type that a side of a comparison can have; None where that is not known."""
    match expr:
        case Literal(value=value):
            return _of_value(value)
        case ListOf():
            return "array"
        case Binary() | Not():
            return "boolean"
        case Call(name=name):
            return "number" if name == "size" else "boolean"
    path = as_reference(expr)
    bindings = surface.task.with_ if surface.task else {}
    match shape_of_path(subject, path, bindings) if path is not None else None:
        case Typed(expr=str() as name):
            return _FAMILIES.get(name)
        case Typed(expr=dict() as form):
            return _FAMILIES.get("object" if "object" in form else next(iter(form)))
        case Known(value=value):
            return _of_value(value)
    return None


def _of_value(value: Json) -> str | None:
    name = type_name(value)
    return name if name in _WORDS else _FAMILIES.get(name)
