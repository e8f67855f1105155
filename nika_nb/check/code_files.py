"""Fetching something that runs when it is loaded: it is a program, not data."""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import unquote, urlsplit

from nika_nb.check.folding import folded_each
from nika_nb.check.problem import is_open
from nika_nb.check.subject import Subject
from nika_nb.errors import Diagnostic
from nika_nb.language.model import Task, Workflow

CODE = "NIKA-SEC-008"

_CLASSES: dict[str, tuple[str, ...]] = {
    "a serialized object that runs code when it is loaded": (
        "pkl", "pickle", "dill", "joblib", "pt", "pth", "ckpt",
    ),
    "a script": (
        "py", "sh", "bash", "zsh", "ps1", "bat", "cmd", "rb", "pl", "php", "js", "mjs", "ipynb",
    ),
    "an executable": ("exe", "dll", "so", "dylib", "wasm", "jar"),
}  # fmt: skip
_NAMES = {extension: name for name, extensions in _CLASSES.items() for extension in extensions}
_VERSION = re.compile(r"(\.so)(?:\.[0-9]+)+$")


def judge(subject: Subject) -> Iterator[Diagnostic]:
    """NIKA-SEC-008. An address that only the run knows is left to the same judgment there."""
    for task in subject.sound_tasks:
        if any(lift.law == "data-as-code" for lift in task.lift):
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
        path = urlsplit(url).path
    except ValueError:
        return None
    while (decoded := unquote(path)) != path:
        path = decoded
    name = path.rpartition("/")[2].lower().rstrip(". \t")
    name = _VERSION.sub(r"\1", name)
    return _NAMES.get(name.rpartition(".")[2]) if "." in name else None


def _found(subject: Subject, task: Task, url: str, found: str) -> Diagnostic:
    hint = (
        "start a program that fetches it, under `permits.exec`; or, if it is only stored, write "
        "`lift: [{ law: data-as-code, because: … }]`"
    )
    sentence = f"`{url}` is {found}: fetching it as data hides that"
    return Diagnostic(
        CODE, sentence, subject.place("tasks", task.id, "invoke", "args", "url"), hint, task=task.id
    )
