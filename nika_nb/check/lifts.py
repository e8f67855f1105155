"""A lift opens a law that would have closed: one that opens nothing is refused."""

from __future__ import annotations

from collections.abc import Iterator

from nika_nb.authority.lifts import covers
from nika_nb.check.code_files import class_of, fetched
from nika_nb.check.problem import is_open
from nika_nb.check.subject import Subject
from nika_nb.check.untrusted import ways_into
from nika_nb.errors import Diagnostic
from nika_nb.language.model import Lift, Task
from nika_nb.language.template import references


def judge(subject: Subject) -> Iterator[Diagnostic]:
    """NIKA-AUTH-011."""
    for task in subject.sound_tasks:
        for lift in task.lift:
            why = _opens_nothing(subject, task, lift)
            if why:
                sentence = f"this lift opens nothing: {why}"
                hint = "remove it: what is lifted is read as what had to be"
                yield Diagnostic("NIKA-AUTH-011", sentence, lift.span, hint, task=task.id)


def _opens_nothing(subject: Subject, task: Task, lift: Lift) -> str:
    if lift.law == "taint":
        return _no_taint(task, lift.origin or "")
    urls = fetched(subject.workflow, task)
    if not urls:
        return "the task fetches nothing"
    if any(is_open(url) or class_of(url) for url in urls):
        return ""
    return f"`{urls[0]}` is data"


def _no_taint(task: Task, origin: str) -> str:
    root = origin.partition(".")[0]
    if root in ("const", "secrets"):
        return f"`{origin}` is the author's own value, and trusted"
    if root == "inputs":
        reached = any(way[0] == origin for way in ways_into(task, task.action.body))
    else:
        reached = any(covers(origin, str(reference)) for reference in references(task.action.body))
    return "" if reached else f"`{origin}` does not reach what this task does"
