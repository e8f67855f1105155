"""Whether what a task returns can come out of its builtin, or of how its program's output is read."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from nika_nb.check.given import given
from nika_nb.check.shapes import TEXTS, noun
from nika_nb.check.subject import Subject
from nika_nb.errors import Diagnostic
from nika_nb.language.lattice import UNKNOWN
from nika_nb.language.model import Task
from nika_nb.values import Json

_CAPTURED = ("stdout", "stderr", "exit_code")


def judge(subject: Subject) -> Iterator[Diagnostic]:
    """NIKA-TYPE-004."""
    for task in subject.sound_tasks:
        returns = task.returns
        if returns is None:
            continue
        found = _of_program if task.action.verb == "exec" else _of_builtin
        for what, hint in found(task, returns.canonical):
            sentence = f"{what}, never the type that `returns:` names"
            yield Diagnostic("NIKA-TYPE-004", sentence, returns.span, hint, task=task.id)


def _of_program(task: Task, expr: Json) -> Iterator[tuple[str, str]]:
    """(what comes instead, what to write) where no value can have the type."""
    structured = task.action.get("capture") == "structured"
    way = "structured" if structured else task.action.get("decode") or "text"
    if not _reachable(expr, _WAYS[way]):
        read = "`capture: structured`" if structured else f"`decode: {way}`"
        yield f"{read} yields {_YIELDS[way]}", _HINTS["json" if expr == "bytes" else way]


def _of_builtin(task: Task, expr: Json) -> Iterator[tuple[str, str]]:
    known = given(task)
    if known is not None and not _reachable(expr, _alike(_kind(known))):
        gives = f"`{task.action.get('tool')}` gives {noun(_kind(known))}"
        yield gives, "leave `returns:` out, or write what comes"


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


def _alike(kind: str) -> Callable[[str, Json], bool]:
    """Whether a value of this kind can have a type, as far as its constructor tells."""
    kinds = {"string": TEXTS, "object": {"object", "map"}}.get(kind, {kind})
    return lambda name, _: name in kinds


def _kind(expr: Json) -> str:
    """A primitive, or the constructor."""
    if isinstance(expr, str):
        return expr
    return "object" if "object" in expr else next(iter(expr))


def _reachable(expr: Json, fits: Callable[[str, Json], bool]) -> bool:
    if expr == UNKNOWN:
        return True
    if isinstance(expr, dict) and "union" in expr:
        return any(_reachable(member, fits) for member in expr["union"])
    return fits(_kind(expr), expr)


def _structured(name: str, expr: Json) -> bool:
    if name != "object":
        return name == "map"
    fields = expr["object"]
    optional = {field for field, slot in fields.items() if isinstance(slot, dict) and "optional" in slot}
    required = fields.keys() - optional
    return required <= set(_CAPTURED) and (bool(expr.get("additional")) or fields.keys() >= set(_CAPTURED))


_WAYS: dict[str, Callable[[str, Json], bool]] = {
    "text": lambda name, expr: name in TEXTS,
    "json": lambda name, expr: name != "bytes",
    "jsonl": lambda name, expr: name == "array",
    "bytes": lambda name, expr: name == "bytes",
    "structured": _structured,
}
