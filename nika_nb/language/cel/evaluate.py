"""A `cel-subset/0.1` expression over a scope → a JSON value, without coercion and without effect."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from nika_nb.errors import Fault, Span
from nika_nb.language.cel.syntax import (
    Binary,
    Call,
    Choice,
    Expr,
    Ident,
    Index,
    ListOf,
    Literal,
    Member,
    Not,
)
from nika_nb.values import type_name

Scope = Mapping[str, Any]  # namespace root → its value


def evaluate(expr: Expr, scope: Scope) -> Any:
    """The value of the expression.

    Raises Fault NIKA-VAR-001 for what does not resolve and NIKA-VAR-006 for types that do not
    meet, with spans counted in the expression's text.
    """
    match expr:
        case Literal(value=value):
            return value
        case Ident(name=name):
            return _root(name, scope, expr.span)
        case Member(target=target, name=name):
            return _member(evaluate(target, scope), name, expr.span)
        case Index(target=target, index=index):
            return _index(evaluate(target, scope), evaluate(index, scope), expr.span)
        case ListOf(items=items):
            return [evaluate(item, scope) for item in items]
        case Call():
            return _call(expr, scope)
        case Not(operand=operand):
            return not _boolean(evaluate(operand, scope), operand.span, "`!`")
        case Choice(test=test, then=then, other=other):
            picked = _boolean(evaluate(test, scope), test.span, "the condition of `?:`")
            return evaluate(then if picked else other, scope)
        case Binary(op="&&" | "||"):
            return _junction(expr, scope)
        case Binary(op=op, left=left, right=right):
            return _relation(op, evaluate(left, scope), evaluate(right, scope), expr.span)
    raise AssertionError(expr)


def _unresolved(what: str, span: Span) -> Fault:
    return Fault("NIKA-VAR-001", what, span=span)


def _mismatch(what: str, span: Span) -> Fault:
    return Fault("NIKA-VAR-006", what, span=span)


def _root(name: str, scope: Scope, span: Span) -> Any:
    if name not in scope:
        raise _unresolved(f"`{name}` does not exist here", span)
    return scope[name]


def _member(target: Any, name: str, span: Span) -> Any:
    if isinstance(target, Mapping):
        if name in target:
            return target[name]
        raise _unresolved(f"there is no field `{name}`", span)
    raise _unresolved(f"`{name}` cannot be read from a value of type {type_name(target)}", span)


def _index(target: Any, index: Any, span: Span) -> Any:
    if isinstance(target, Mapping) and isinstance(index, str):
        return _member(target, index, span)
    if _is_list(target) and isinstance(index, int) and not isinstance(index, bool):
        if 0 <= index < len(target):
            return target[index]
        raise _unresolved(f"index {index} lies outside a list of {len(target)}", span)
    raise _mismatch(f"a value of type {type_name(target)} has no index of type {type_name(index)}", span)


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, (str, bytes))


def _call(expr: Call, scope: Scope) -> Any:
    if expr.name == "has":
        return _has(expr.args[0], scope)
    if expr.name == "size":
        return _size(evaluate(expr.args[0], scope), expr.span)
    text, part = (evaluate(arg, scope) for arg in expr.args)
    if not isinstance(text, str) or not isinstance(part, str):
        raise _mismatch(
            f".{expr.name}() compares strings, not {type_name(text)} and {type_name(part)}", expr.span
        )
    if expr.name == "contains":
        return part in text
    return text.startswith(part) if expr.name == "startsWith" else text.endswith(part)


def _has(expr: Expr, scope: Scope) -> bool:
    try:
        return evaluate(expr, scope) is not None
    except Fault as fault:
        if fault.code == "NIKA-VAR-001":
            return False
        raise


def _size(value: Any, span: Span) -> int:
    if isinstance(value, (str, Mapping)) or _is_list(value):
        return len(value)
    raise _mismatch(f"size() needs a string, a list or an object, not {type_name(value)}", span)


def _boolean(value: Any, span: Span, what: str) -> bool:
    if isinstance(value, bool):
        return value
    raise _mismatch(f"{what} needs true or false, not {type_name(value)}", span)


def _junction(expr: Binary, scope: Scope) -> bool:
    """`&&` and `||`: either side alone may decide, even where the other one fails (as CEL says)."""
    decisive = expr.op == "||"
    try:
        if _boolean(evaluate(expr.left, scope), expr.left.span, f"`{expr.op}`") is decisive:
            return decisive
    except Fault as fault:
        try:
            if _boolean(evaluate(expr.right, scope), expr.right.span, f"`{expr.op}`") is decisive:
                return decisive
        except Fault:
            pass
        raise fault from None
    return _boolean(evaluate(expr.right, scope), expr.right.span, f"`{expr.op}`")


def _relation(op: str, left: Any, right: Any, span: Span) -> bool:
    if op == "in":
        return _within(left, right, span)
    if op in ("==", "!="):
        return _equal(left, right, span) is (op == "==")
    return _ordered(op, left, right, span)


def _within(left: Any, right: Any, span: Span) -> bool:
    if isinstance(right, Mapping):
        return left in right if isinstance(left, str) else False
    if _is_list(right):
        return left in right if isinstance(left, str) else any(_same(left, item) for item in right)
    raise _mismatch(f"`in` needs a list or an object on its right, not {type_name(right)}", span)


def _kind(value: Any) -> str:
    name = type_name(value)
    return "number" if name == "integer" else name


def _equal(left: Any, right: Any, span: Span) -> bool:
    if left is None or right is None:
        return left is right
    if _kind(left) != _kind(right):
        raise _mismatch(f"`==` compares {type_name(left)} with {type_name(right)}: the types differ", span)
    return _same(left, right)


def _same(left: Any, right: Any) -> bool:
    """Deep equality that never takes true for 1; integers and doubles share one number line."""
    if isinstance(left, str) or type(left) is type(right) is int:
        return bool(left == right)  # as below, many times faster: lists are full of these
    if _kind(left) != _kind(right):
        return False
    if isinstance(left, Mapping):
        return left.keys() == right.keys() and all(_same(left[key], right[key]) for key in left)
    if _is_list(left):
        return len(left) == len(right) and all(map(_same, left, right))
    return bool(left == right)


def _ordered(op: str, left: Any, right: Any, span: Span) -> bool:
    if _kind(left) != _kind(right) or _kind(left) not in ("number", "string", "boolean"):
        raise _mismatch(f"`{op}` cannot order {type_name(left)} and {type_name(right)}", span)
    results = {"<": left < right, "<=": left <= right, ">": left > right, ">=": left >= right}
    return bool(results[op])
