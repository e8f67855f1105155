"""What a program printed is text until it is decoded: it is no list, and compares with no number."""

from __future__ import annotations

from collections.abc import Iterator

from nika_nb.check.contracts import shape_of_path, shape_of_value
from nika_nb.check.shapes import Printed, undecoded
from nika_nb.check.subject import Subject
from nika_nb.check.surfaces import Surface, surfaces
from nika_nb.errors import Diagnostic
from nika_nb.language.cel import Expr
from nika_nb.language.cel.syntax import Binary, Literal, as_reference, children
from nika_nb.language.model import Task
from nika_nb.language.template import Island

_CODE = "NIKA-VAR-006"
_COMPARED = frozenset({"==", "!=", "<", "<=", ">", ">="})


def judge(subject: Subject) -> Iterator[Diagnostic]:
    """Warnings: nothing declares what a program prints."""
    for task in subject.sound_tasks:
        if task.for_each is not None:
            shape = shape_of_value(subject, task, task.for_each.items)
            if isinstance(shape, Printed) and not shape.each:
                sentence = f"`for_each:` goes over a list, and the output of `{shape.task}` is text"
                hint = undecoded(shape.task)
                yield Diagnostic(_CODE, sentence, task.for_each.items.span, hint, "warning", task=task.id)
    for surface in surfaces(subject.workflow):
        if surface.task is None or surface.task.id not in subject.broken:
            for island in surface.islands():
                yield from _compared(subject, surface, island, island.expr)


def _compared(subject: Subject, surface: Surface, island: Island, expr: Expr) -> Iterator[Diagnostic]:
    if isinstance(expr, Binary) and expr.op in _COMPARED:
        for one, other in ((expr.left, expr.right), (expr.right, expr.left)):
            task = _printed_by(subject, surface.task, one)
            if task and isinstance(other, Literal) and isinstance(other.value, (bool, int, float)):
                sentence = f"`{expr.op}` compares text, the output of `{task}`, with {_noun(other.value)}"
                owner = surface.task.id if surface.task else None
                place, hint = island.place(expr.span), undecoded(task)
                yield Diagnostic(_CODE, sentence, place, hint, "warning", task=owner)
    for child in children(expr):
        yield from _compared(subject, surface, island, child)


def _printed_by(subject: Subject, reader: Task | None, expr: Expr) -> str | None:
    """The task whose undecoded output an expression is."""
    path = as_reference(expr)
    bindings = reader.with_ if reader is not None else {}
    shape = shape_of_path(subject, path, bindings) if path is not None else None
    return shape.task if isinstance(shape, Printed) and not shape.each else None


def _noun(value: bool | int | float) -> str:
    return "true or false" if isinstance(value, bool) else "a number"
