"""The nodes of a `cel-subset/0.1` expression, each with its place in the expression's text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from nika_nb.errors import Span


@dataclass(frozen=True, slots=True)
class Literal:
    value: Any
    span: Span


@dataclass(frozen=True, slots=True)
class ListOf:
    items: tuple[Expr, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Ident:
    name: str
    span: Span


@dataclass(frozen=True, slots=True)
class Member:
    target: Expr
    name: str
    span: Span


@dataclass(frozen=True, slots=True)
class Index:
    target: Expr
    index: Expr
    span: Span


@dataclass(frozen=True, slots=True)
class Call:
    """`size(x)`, `has(x)`, or a method: then the first argument is the value before the dot."""

    name: str
    args: tuple[Expr, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Not:
    operand: Expr
    span: Span


@dataclass(frozen=True, slots=True)
class Binary:
    """A relation (`== != < <= > >= in`) or a junction (`&& ||`)."""

    op: str
    left: Expr
    right: Expr
    span: Span


@dataclass(frozen=True, slots=True)
class Choice:
    """`test ? then : other`."""

    test: Expr
    then: Expr
    other: Expr
    span: Span


Expr = Literal | ListOf | Ident | Member | Index | Call | Not | Binary | Choice


@dataclass(frozen=True, slots=True)
class Reference:
    """A dotted path as far as it can be read statically: `with.pages[0].url`.

    `steps` holds member names and literal indices; it ends before the first computed index.
    """

    root: str
    steps: tuple[str | int, ...]
    span: Span

    @property
    def name(self) -> str | None:
        """What it names in its namespace; None where that is computed or missing."""
        return str(self.steps[0]) if self.steps else None

    def __str__(self) -> str:
        steps = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in self.steps)
        return self.root + steps


def children(expr: Expr) -> tuple[Expr, ...]:
    match expr:
        case ListOf(items=items):
            return items
        case Member(target=target) | Not(operand=target):
            return (target,)
        case Index(target=target, index=index):
            return (target, index)
        case Call(args=args):
            return args
        case Binary(left=left, right=right):
            return (left, right)
        case Choice(test=test, then=then, other=other):
            return (test, then, other)
        case _:
            return ()


def references(expr: Expr) -> Iterator[Reference]:
    """Every namespace path that the expression reads, outermost first."""
    path = as_reference(expr)
    if path is not None:
        yield path
        yield from _computed_indices(expr)
        return
    for child in children(expr):
        yield from references(child)


def as_reference(expr: Expr) -> Reference | None:
    """The path that an identifier with members and indices denotes, or None."""
    steps: list[str | int] = []
    node = expr
    while not isinstance(node, Ident):
        if isinstance(node, Member):
            steps.append(node.name)
        elif isinstance(node, Index):
            if isinstance(node.index, Literal) and isinstance(node.index.value, (str, int)):
                steps.append(node.index.value)
            else:
                steps.clear()
        else:
            return None
        node = node.target
    return Reference(node.name, tuple(reversed(steps)), expr.span)


def _computed_indices(expr: Expr) -> Iterator[Reference]:
    node = expr
    while isinstance(node, (Member, Index)):
        if isinstance(node, Index) and not isinstance(node.index, Literal):
            yield from references(node.index)
        node = node.target
