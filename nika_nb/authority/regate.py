"""What something untrusted decided, judged again once it is known (the run's half of NIKA-AUTH-008).

A listed program stands for itself, not for what an argument can make it start. What an input, a
tool or another task decided may therefore not be such an argument, unless the list names it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

from nika_nb.authority.lifts import lifted
from nika_nb.authority.permits import DENIED_CODE, Verdict, judge_all
from nika_nb.authority.reentry import reentries
from nika_nb.language.model import Permits, Task
from nika_nb.language.template import Fields, Items, Value, references

_TRUSTED = frozenset({"const", "secrets", "index"})


def judge_words(permits: Permits | None, task: Task, argv: Sequence[str]) -> Iterator[Verdict]:
    """A verdict for every word after the program that something untrusted decided."""
    command = task.action.value("command")
    written = command.fields.get("argv") if isinstance(command, Fields) else None
    if not isinstance(written, Items):
        return
    tokens = tokens_of(argv)
    for number, (value, _) in enumerate(zip(written.items, argv, strict=False)):
        origin = untrusted(task, value) if number else None
        if origin is not None:
            judge = partial(_judge, task=task, number=number, origin=origin, tokens=tokens.get(number, ()))
            yield judge_all(permits, judge)


def tokens_of(argv: Sequence[str]) -> dict[int, list[str]]:
    """By the number of a word, what makes it start another program."""
    found: dict[int, list[str]] = {}
    for one in reentries(argv):
        found.setdefault(one.number, []).append(one.token)
    return found


def escape(permits: Permits | None, tokens: Sequence[str]) -> str | None:
    """What of a word lets a listed program start another one; None where nothing does, or it may."""
    if permits is None or permits.exec is True:
        return None
    listed = {bound.text for bound in permits.exec} if permits.exec else set()
    return next((token for token in tokens if token not in listed), None)


def _judge(permits: Permits | None, task: Task, number: int, origin: str, tokens: Sequence[str]) -> Verdict:
    gate = f"exec.argv[{number}]"
    token = escape(permits, tokens)
    if token is None:
        return Verdict("regate", gate, True, f"decided by {origin}, within the permit")
    if origin in lifted(task):
        return Verdict("regate", gate, True, f"decided by {origin}, lifted by the author")
    why = f"{origin} decided it, and `{token}` makes a program run another one"
    return Verdict("regate", gate, False, why, DENIED_CODE, f'list "{token}" in permits.exec to mean it')


def judge_argument(task: Task, name: str, verdict: Verdict) -> Verdict | None:
    """The verdict on an argument of a tool by what it leads to; None where the author wrote all of it."""
    args = task.action.value("args")
    origin = untrusted(task, args.fields.get(name)) if isinstance(args, Fields) else None
    if origin is None:
        return None
    if not verdict.allowed:
        why = f"{origin} decided it: {verdict.why}"
        return replace(verdict, plane="regate", gate=f"args.{name}", why=why)
    how = "lifted by the author" if origin in lifted(task) else "within the permit"
    return Verdict("regate", f"args.{name}", True, f"decided by {origin}, {how}")


def untrusted(task: Task, value: Value | None) -> str | None:
    """What untrusted thing decides a value of the task (`inputs.p`, `tasks.fetch`), or None."""
    for reference in references(value):
        name = reference.root if reference.name is None else f"{reference.root}.{reference.name}"
        if reference.root == "with" and reference.name is not None:
            origin = untrusted(task, task.with_.get(reference.name))
        elif reference.root == "item":
            origin = untrusted(task, task.for_each.items) if task.for_each else None
        else:
            origin = None if reference.root in _TRUSTED else name
        if origin is not None:
            return origin
    return None
