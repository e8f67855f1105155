"""What a task hands to its process in `env:`: names that a process can carry, and none that never arrives."""

from __future__ import annotations

from collections.abc import Iterator

from nika_nb.authority.env import NAME
from nika_nb.catalog.environment import is_dangerous
from nika_nb.check.subject import Subject
from nika_nb.errors import Diagnostic


def judge(subject: Subject) -> Iterator[Diagnostic]:
    """NIKA-PARSE-019, NIKA-AUTH-009 as a warning."""
    for task in subject.sound_tasks:
        for name in task.action.get("env") or () if task.action.verb == "exec" else ():
            place = subject.key("tasks", task.id, "exec", "env", name)
            if not NAME.fullmatch(name):
                sentence = f"`{name[:60]}` is not the name of an environment variable"
                hint = "write letters, digits and `_`"
                yield Diagnostic("NIKA-PARSE-019", sentence, place, hint, task=task.id)
            elif is_dangerous(name):
                sentence = (
                    f"`{name}` can make a process run other code, so the program of `{task.id}` never sees it"
                )
                yield Diagnostic("NIKA-AUTH-009", sentence, place, "remove it", "warning", task=task.id)
