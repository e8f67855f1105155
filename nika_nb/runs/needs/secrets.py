"""Secrets: those that tasks name, in the stores that they refer to."""

from __future__ import annotations

from collections.abc import Iterator

from nika_nb.authority.secrets import UNRESOLVED_CODE, Masker, SecretStore
from nika_nb.language.model import Task
from nika_nb.language.template import read_of
from nika_nb.runs.lack import Lack
from nika_nb.runs.needs.sought import Sought


def in_no_store(sought: Sought) -> Iterator[Lack]:
    """Those that lie where this version cannot read."""
    store = SecretStore(sought.workflow.secrets, sought.base, Masker())
    for task in sought.tasks:
        for name in dict.fromkeys(_read_by(task)):
            if name in store and not store.is_readable(name):
                yield _lack(task, store.missing(name) or "")


def look_up(sought: Sought) -> Iterator[Lack]:
    store = SecretStore(sought.workflow.secrets, sought.base, Masker())
    for task in sought.tasks:
        for name in dict.fromkeys(_read_by(task)):
            why = store.missing(name) if name in store else None
            if why is not None:
                yield _lack(task, why)


def _lack(task: Task, why: str) -> Lack:
    what, _, hint = why.partition("; ")
    return Lack(UNRESOLVED_CODE, f"`{task.id}`: {what}", hint, task.id)


def _read_by(task: Task) -> Iterator[str]:
    items = task.for_each.items if task.for_each else None
    for value in (*task.with_.values(), task.action.body, task.condition, items):
        yield from read_of(value, "secrets")
