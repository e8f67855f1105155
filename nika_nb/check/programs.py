"""The jq programs of a workflow that are written out: inside the grammar, before anything runs."""

from __future__ import annotations

import re
from collections.abc import Iterator

from nika_nb.check.folding import argument
from nika_nb.check.problem import is_open
from nika_nb.check.shapes import undecoded
from nika_nb.check.subject import Subject
from nika_nb.errors import Diagnostic, Fault, Span
from nika_nb.language import jq
from nika_nb.language.model import Task

_FIELD = re.compile(r"\.[A-Za-z_]\w*(?:\.[A-Za-z_]\w*|\[\d+\])*")

# Where a tool's argument is a program.
_PROGRAMS = {"nika:jq": "expression", "nika:fetch": "jq"}


def judge(subject: Subject) -> Iterator[Diagnostic]:
    """NIKA-VAR-005."""
    for task in subject.sound_tasks:
        for name, program in task.extract.items():
            place = subject.place("tasks", task.id, "extract", name)
            hint = f"`{name}` could not be bound: the run would end in NIKA-VAR-004"
            yield from _program(subject, task, program, place, hint)
            if task.returns is None and task.action.gives_text and _FIELD.fullmatch(program.strip()):
                sentence = f"`{program}` reads a field of an object, and the output of `{task.id}` is text"
                yield Diagnostic("NIKA-VAR-003", sentence, place, undecoded(task.id), "warning", task=task.id)
        yield from _argument(subject, task)


def _argument(subject: Subject, task: Task) -> Iterator[Diagnostic]:
    name = _PROGRAMS.get(str(task.action.get("tool"))) if task.action.verb == "invoke" else None
    program = argument(subject.workflow, task, name) if name else None
    if name and isinstance(program, str) and not is_open(program):
        place = subject.place("tasks", task.id, "invoke", "args", name)
        yield from _program(subject, task, program, place, "")


def _program(subject: Subject, task: Task, program: str, place: Span, hint: str) -> Iterator[Diagnostic]:
    try:
        jq.parse(program)
    except Fault as fault:
        span = _inside(subject, program, place, fault.span)
        yield Diagnostic(fault.code, f"this jq program is refused: {fault.message}", span, hint, task=task.id)


def _inside(subject: Subject, program: str, place: Span, span: Span | None) -> Span:
    """The place within the program, where its text stands in the document letter for letter."""
    start = subject.workflow.source.text.find(program, place.start, place.end)
    return place if start < 0 or span is None else span.shifted(start)
