"""The skill files of agents: inside the read boundary they must exist and carry their header."""

from __future__ import annotations

from collections.abc import Iterator

from nika_nb.authority.skills import MALFORMED_CODE, UNREADABLE_CODE, open_skill
from nika_nb.check.subject import Subject
from nika_nb.errors import Diagnostic, Fault
from nika_nb.language.model import Task

_HINTS = {
    UNREADABLE_CODE: "a skill is a text file, and its path counts from the folder of the workflow",
    MALFORMED_CODE: "start the file with `---`, `name: …`, `description: …`, `---`",
}


def judge(subject: Subject) -> Iterator[Diagnostic]:
    """NIKA-AGENT-003 and -004. A path outside the boundary is never opened."""
    for task in subject.sound_tasks:
        if task.action.verb == "agent":
            for number, path in enumerate(task.action.get("skills") or ()):
                yield from _skill(subject, task, number, str(path))


def _skill(subject: Subject, task: Task, number: int, path: str) -> Iterator[Diagnostic]:
    try:
        open_skill(subject.workflow.permits, path, subject.folder, subject.family.open)
    except Fault as fault:
        if fault.code in _HINTS:  # what the boundary refuses is said by its own judgment
            place = subject.place("tasks", task.id, "agent", "skills", number)
            yield Diagnostic(fault.code, fault.message, place, _HINTS[fault.code], task=task.id)
