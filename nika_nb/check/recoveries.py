"""What `recover:` gives instead of an output: to the type that its task returns, and to who reads into it."""

from __future__ import annotations

from collections.abc import Iterator

from nika_nb.check.contracts import misfit
from nika_nb.check.subject import Subject
from nika_nb.check.surfaces import surfaces
from nika_nb.errors import Diagnostic
from nika_nb.language.cel.syntax import as_reference
from nika_nb.language.model import Task
from nika_nb.language.template import Plain, Value

_HINT = "recover with a value of that type, or with null where there is none"
_READ_HINT = "recover with a value that can be read so, or read the whole output and look whether it is null"


def judge(subject: Subject) -> Iterator[Diagnostic]:
    """Warnings: only a task that fails takes its recovery."""
    for task in subject.sound_tasks:
        value = _recovery(task)
        if value is not None and task.returns is not None and not _is_null(value):
            problem = misfit(subject, task, value, task.returns)
            if problem:
                sentence = f"the recovery does not fit `returns:`: {problem}"
                yield Diagnostic("NIKA-TYPE-101", sentence, value.span, _HINT, "warning", task=task.id)
    yield from _reads_of_null(subject)


def _recovery(task: Task) -> Value | None:
    return task.on_error.recover if task.on_error is not None else None


def _is_null(value: Value | None) -> bool:
    return isinstance(value, Plain) and value.raw is None


def _reads_of_null(subject: Subject) -> Iterator[Diagnostic]:
    """A path into what may have recovered to null; an expression may have looked before."""
    nulls = {task.id for task in subject.sound_tasks if task.for_each is None and _is_null(_recovery(task))}
    for surface in surfaces(subject.workflow):
        for island in surface.islands():
            path = as_reference(island.expr)
            if path is None or path.root != "tasks" or len(path.steps) < 3:
                continue
            name, field, step = path.steps[:3]
            if name in nulls and field == "output":
                sentence = f"`{name}` may recover to null, and `{step}` cannot be read from that"
                reader = surface.task.id if surface.task else None
                place = island.place(path.span)
                yield Diagnostic("NIKA-VAR-001", sentence, place, _READ_HINT, "warning", task=reader)
