"""Conditions under three-valued logic: what is true or false whatever the unknown parts turn out to be."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from nika_nb.language.cel import Expr
from nika_nb.language.cel.syntax import Binary, Choice, ListOf, Literal, Not


class Unknown:
    """The one value of what cannot be decided."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "unknown"


UNKNOWN: Final = Unknown()
Resolve = Callable[[Expr], Any]


def truth(expr: Expr, resolve: Resolve) -> bool | Unknown:
    """True, False or UNKNOWN. `resolve` gives the value of a path, or UNKNOWN.

    Decided are literals, `==`, `!=`, `in`, `!`, `&&`, `||` and `?:`; anything else is unknown.
    """
    value = _value(expr, resolve)
    return value if isinstance(value, bool) else UNKNOWN


def _value(expr: Expr, resolve: Resolve) -> Any:
    match expr:
        case Literal(value=value):
            return value
        case ListOf(items=items):
            return [_value(item, resolve) for item in items]
        case Not(operand=operand):
            inner = truth(operand, resolve)
            return inner if isinstance(inner, Unknown) else not inner
        case Binary(op="&&", left=left, right=right):
            return _both(truth(left, resolve), truth(right, resolve))
        case Binary(op="||", left=left, right=right):
            return _either(truth(left, resolve), truth(right, resolve))
        case Binary(op="==" | "!=" | "in" as op, left=left, right=right):
            return _compared(op, _value(left, resolve), _value(right, resolve))
        case Choice(test=test, then=then, other=other):
            return _chosen(truth(test, resolve), _value(then, resolve), _value(other, resolve))
    return resolve(expr)


def _both(left: bool | Unknown, right: bool | Unknown) -> bool | Unknown:
    if left is False or right is False:
        return False
    return True if left is True and right is True else UNKNOWN


def _either(left: bool | Unknown, right: bool | Unknown) -> bool | Unknown:
    if left is True or right is True:
        return True
    return False if left is False and right is False else UNKNOWN


def _chosen(test: bool | Unknown, then: Any, other: Any) -> Any:
    if isinstance(test, Unknown):
        return then if _same(then, other) else UNKNOWN
    return then if test else other


def _compared(op: str, left: Any, right: Any) -> bool | Unknown:
    if isinstance(left, Unknown) or isinstance(right, Unknown):
        return UNKNOWN
    if op == "in":
        return _among(left, right) if isinstance(right, list) else UNKNOWN
    if None not in (left, right) and _kind(left) is not _kind(right):
        return UNKNOWN  # such a comparison fails instead of deciding
    return _same(left, right) is (op == "==")


def _among(value: Any, items: list[Any]) -> bool | Unknown:
    if any(_same(value, item) for item in items):
        return True
    return UNKNOWN if any(item is UNKNOWN for item in items) else False


def _same(left: Any, right: Any) -> bool:
    return left is not UNKNOWN and _kind(left) is _kind(right) and bool(left == right)


def _kind(value: Any) -> type:
    return float if type(value) is int else type(value)
