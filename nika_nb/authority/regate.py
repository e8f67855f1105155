"""Untrusted words of a command, judged again once they are known (the run's half of NIKA-AUTH-008).

A listed program stands for itself, not for what an argument can make it start. What an input, a
tool or another task decided may therefore not be such an argument, unless the list names it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from nika_nb.authority.permits import DENIED_CODE, Verdict, judge_all
from nika_nb.language.model import Permits, Task
from nika_nb.language.template import Fields, Items, Value, references

# Arguments that make a program run another one: a listed program does not stand for them.
REENTRY = frozenset(
    {
        "-c", "-e", "-exec", "--exec", "-execdir", "--execdir", "-ok", "-okdir", "--eval", "--command",
        "--rsh", "--checkpoint-action", "--to-command", "--use-compress-program", "eval", "exec", "source",
    }
)  # fmt: skip

_TRUSTED = frozenset({"const", "secrets", "index"})


def judge_words(permits: Permits | None, task: Task, argv: Sequence[str]) -> Iterator[Verdict]:
    """A verdict for every word after the program that something untrusted decided."""
    command = task.action.value("command")
    written = command.fields.get("argv") if isinstance(command, Fields) else None
    if not isinstance(written, Items):
        return
    for number, (value, word) in enumerate(zip(written.items, argv, strict=False)):
        origin = untrusted(task, value) if number else None
        if origin is not None:
            judge = partial(_judge, task=task, gate=f"exec.argv[{number}]", origin=origin, word=word)
            yield judge_all(permits, judge)


def _judge(permits: Permits | None, task: Task, gate: str, origin: str, word: str) -> Verdict:
    token = word.partition("=")[0]
    if permits is None or isinstance(permits.exec, bool) or token not in REENTRY:
        return Verdict("regate", gate, True, f"decided by {origin}, within the permit")
    if token in [bound.text for bound in permits.exec]:
        return Verdict("regate", gate, True, f"decided by {origin}, and permits.exec lists it")
    if origin in lifted(task):
        return Verdict("regate", gate, True, f"decided by {origin}, lifted by the author")
    why = f"{origin} decided it, and `{token}` makes a program run another one"
    return Verdict("regate", gate, False, why, DENIED_CODE, f'list "{token}" in permits.exec to mean it')


def lifted(task: Task) -> frozenset[str]:
    """The bindings whose taint the author has lifted in this task."""
    return frozenset(lift.origin for lift in task.lift if lift.law == "taint" and lift.origin)


def untrusted(task: Task, value: Value | None) -> str | None:
    """What untrusted thing decides a value of the task (`inputs.p`, `tasks.fetch`), or None."""
    for reference in references(value):
        name = f"{reference.root}.{reference.steps[0]}" if reference.steps else reference.root
        if reference.root == "with" and reference.steps:
            origin = untrusted(task, task.with_.get(str(reference.steps[0])))
        elif reference.root == "item":
            origin = untrusted(task, task.for_each.items) if task.for_each else None
        else:
            origin = None if reference.root in _TRUSTED else name
        if origin is not None:
            return origin
    return None
