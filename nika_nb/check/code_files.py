"""Fetching something that runs when it is loaded: it is a program, not data."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import urlsplit

from nika_nb.authority.artifacts import LAW, code_of
from nika_nb.check.folding import folded_each
from nika_nb.check.problem import is_open
from nika_nb.check.subject import Subject
from nika_nb.errors import Diagnostic
from nika_nb.language.model import Task, Workflow

CODE = "NIKA-SEC-008"


def judge(subject: Subject) -> Iterator[Diagnostic]:
    """NIKA-SEC-008. An address that only the run knows is left to the same judgment there."""
    for task in subject.sound_tasks:
        if any(lift.law == LAW for lift in task.lift):
            continue
        for url in fetched(subject.workflow, task):
            found = class_of(url)
            if found:
                yield _found(subject, task, url, found)
                break


def fetched(workflow: Workflow, task: Task) -> list[str]:
    """The addresses that a task fetches, inputs by their defaults; what stays open is left as written."""
    if task.action.verb != "invoke" or task.action.get("tool") != "nika:fetch":
        return []
    actions = folded_each(workflow, task, defaults=True)
    urls = [(action.get("args") or {}).get("url") for action in actions]
    return [url for url in urls if isinstance(url, str)]


def class_of(url: str) -> str | None:
    """What kind of code the path of an address names; None for data, and for what is not decided yet."""
    if is_open(url):
        return None
    try:
        return code_of(urlsplit(url).path)
    except ValueError:
        return None


def _found(subject: Subject, task: Task, url: str, found: str) -> Diagnostic:
    hint = (
        "start a program that fetches it, under `permits.exec`; or, if it is only stored, write "
        "`lift: [{ law: data-as-code, because: … }]`"
    )
    sentence = f"`{url}` is {found}: fetching it as data hides that"
    return Diagnostic(
        CODE, sentence, subject.place("tasks", task.id, "invoke", "args", "url"), hint, task=task.id
    )
