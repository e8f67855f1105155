"""Whether the type that a task returns can come out of how its program's output is read."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from nika_nb.check.given import given
from nika_nb.check.subject import Subject
from nika_nb.errors import Diagnostic
from nika_nb.language.lattice import UNKNOWN
from nika_nb.language.model import Task
from nika_nb.values import Json

_TEXTS = frozenset({"string", "uri", "path", "duration", "timestamp", "enum"})
_CAPTURED = ("stdout", "stderr", "exit_code")


def judge(subject: Subject) -> Iterator[Diagnostic]:
    """NIKA-TYPE-004."""
    for task in subject.sound_tasks:
        known = given(task)
        if known is not None and task.returns is not None and not _overlap(known, task.returns.canonical):
            sentence = (
                f"`{task.action.get('tool')}` gives {_noun(known)}, never the type that `returns:` names"
            )
            hint = "leave `returns:` out, or write what comes"
            yield Diagnostic("NIKA-TYPE-004", sentence, task.returns.span, hint, task=task.id)
        if task.action.verb == "exec" and task.returns is not None:
            structured = task.action.get("capture") == "structured"
            way = "structured" if structured else task.action.get("decode") or "text"
            if not _reachable(task.returns.canonical, _WAYS[way]):
                yield _unreachable(task, way)


def _unreachable(task: Task, way: str) -> Diagnostic:
    read = "`capture: structured`" if way == "structured" else f"`decode: {way}`"
    span = task.returns.span if task.returns else task.key_span
    sentence = f"{read} yields {_YIELDS[way]}, never the type that `returns:` names"
    wants_bytes = task.returns is not None and task.returns.canonical == "bytes"
    return Diagnostic("NIKA-TYPE-004", sentence, span, _HINTS["json" if wants_bytes else way], task=task.id)


_YIELDS = {
    "text": "text",
    "json": "what a JSON document holds",
    "jsonl": "a list",
    "bytes": "bytes",
    "structured": "an object of stdout, stderr and exit_code",
}
_HINTS = {
    "text": "write `decode: json` in `exec:` when the program prints JSON",
    "json": "write `decode: bytes` for bytes",
    "jsonl": "write `returns: { array: … }`, or `decode: json`",
    "bytes": "write `returns: bytes`",
    "structured": "declare the three fields, or `additional: true`",
}


def _overlap(known: Json, expr: Json) -> bool:
    """Whether a value of the one type can be one of the other, as far as their constructors tell."""
    kinds = ("object", "map") if _kind(known) == "object" else (_kind(known),)
    return _reachable(expr, lambda name, _: name in (_TEXTS if kinds == ("string",) else kinds))


def _kind(expr: Json) -> str:
    if isinstance(expr, str):
        return expr
    return "object" if "object" in expr else next(iter(expr))


def _noun(known: Json) -> str:
    nouns = {"string": "text", "bool": "true or false", "null": "null", "array": "a list"}
    return nouns.get(_kind(known), "an object")


def _reachable(expr: Json, fits: Callable[[str, Json], bool]) -> bool:
    if expr == UNKNOWN:
        return True
    if isinstance(expr, dict) and "union" in expr:
        return any(_reachable(member, fits) for member in expr["union"])
    name = expr if isinstance(expr, str) else "object" if "object" in expr else next(iter(expr))
    return fits(name, expr)


def _structured(name: str, expr: Json) -> bool:
    if name != "object":
        return name == "map"
    fields = expr["object"]
    optional = {field for field, slot in fields.items() if isinstance(slot, dict) and "optional" in slot}
    required = fields.keys() - optional
    return required <= set(_CAPTURED) and (bool(expr.get("additional")) or fields.keys() >= set(_CAPTURED))


_WAYS: dict[str, Callable[[str, Json], bool]] = {
    "text": lambda name, expr: name in _TEXTS,
    "json": lambda name, expr: name != "bytes",
    "jsonl": lambda name, expr: name == "array",
    "bytes": lambda name, expr: name == "bytes",
    "structured": _structured,
}
