"""Calls of workflows: a fixed target, no way back, types that meet, no authority that the caller lacks."""

from __future__ import annotations

import os
from collections.abc import Iterator

from nika_nb.check.children import Child, Family
from nika_nb.check.contracts import misfit, outputs_type
from nika_nb.check.fit import verdict_of
from nika_nb.check.needs import Need, needs_of
from nika_nb.check.subject import Subject
from nika_nb.errors import Diagnostic
from nika_nb.language.lattice import UNKNOWN, assignable
from nika_nb.language.model import Permits, Task, Workflow
from nika_nb.values import Json, nearest


def judge(subject: Subject) -> Iterator[Diagnostic]:
    """NIKA-COMP-001 to -004."""
    family = subject.family
    top = os.path.realpath(os.path.join(subject.folder, subject.workflow.source.name))
    for task in subject.sound_tasks:
        child = family.called(task, subject.folder)
        if child is not None:
            yield from _call(subject, family, task, child, top)


def _call(subject: Subject, family: Family, task: Task, child: Child, top: str) -> Iterator[Diagnostic]:
    place = subject.place("tasks", task.id, "invoke", "workflow")
    turn = family.turn(child, (top,)) if child.path else ()
    if turn:
        way = " → ".join(os.path.basename(path) for path in turn)
        sentence = f"these workflows call each other: {way}"
        hint = "let one of them end without calling"
        yield Diagnostic("NIKA-COMP-003", sentence, place, hint, task=task.id)
    elif child.workflow is None:
        yield Diagnostic("NIKA-COMP-001", child.problem, place, child.hint, task=task.id)
    else:
        yield from _arguments(subject, task, child.workflow)
        yield from _returned(task, child.workflow)
        for sentence, hint in _excess(subject, family, child):
            yield Diagnostic("NIKA-COMP-002", sentence, place, hint, task=task.id)


# the typed call


def _arguments(subject: Subject, task: Task, child: Workflow) -> Iterator[Diagnostic]:
    given = task.action.arguments
    for name, value in given.items():
        place = ("tasks", task.id, "invoke", "args", name)
        if name not in child.inputs:
            hint = nearest(name, child.inputs) or f"its inputs are {', '.join(child.inputs) or 'none'}"
            sentence = f"`{child.id}` has no input `{name}`"
            yield Diagnostic("NIKA-COMP-004", sentence, subject.key(*place), hint, task=task.id)
        elif problem := misfit(subject, task, value, child.inputs[name].type):
            sentence = f"`{name}` does not fit the input of `{child.id}`: {problem}"
            yield Diagnostic("NIKA-COMP-004", sentence, subject.place(*place), "", task=task.id)
    for name, wanted in child.inputs.items():
        if wanted.required and not wanted.has_default and name not in given:
            sentence = f"`{child.id}` needs its input `{name}`"
            place_of_call = subject.place("tasks", task.id, "invoke")
            hint = f"write `args: {{ {name}: … }}`"
            yield Diagnostic("NIKA-COMP-004", sentence, place_of_call, hint, task=task.id)


def _returned(task: Task, child: Workflow) -> Iterator[Diagnostic]:
    if task.returns is None or not child.outputs:
        return
    given = outputs_type(child)
    if not assignable(given, task.returns.canonical):
        sentence = f"what `{child.id}` returns does not fit `returns:`"
        shown = (f"`{name}: {_shown(kind)}`" for name, kind in given["object"].items())
        hint = f"its outputs are {', '.join(shown)}"
        yield Diagnostic("NIKA-COMP-004", sentence, task.returns.span, hint, task=task.id)


def _shown(expr: Json) -> str:
    return "anything" if expr == UNKNOWN else expr if isinstance(expr, str) else next(iter(expr))


# authority


def _excess(subject: Subject, family: Family, child: Child) -> Iterator[tuple[str, str]]:
    """What the called workflows would do beyond what they declare, or beyond what the caller may."""
    for member in family.descendants(child):
        yield from _beyond(subject, member)


def _beyond(subject: Subject, child: Workflow) -> Iterator[tuple[str, str]]:
    """A need is within bounds when the child declares it and the caller may do it too."""
    for task in child.tasks.values():
        for need in needs_of(child, task):
            refused = _refused(subject, need, child.permits, f"`{child.id}` itself")
            refused = refused or _refused(subject, need, subject.workflow.permits, "this workflow")
            if refused:
                yield f"`{child.id}` would {need}, and {refused[0]}", refused[1]


def _refused(subject: Subject, need: Need, permits: Permits | None, owner: str) -> tuple[str, str] | None:
    verdict = verdict_of(permits, need, subject.base)
    if verdict is None or verdict.allowed:
        return None
    return f"{owner} does not permit that: {verdict.why}", f"in {owner}: {verdict.fix}"
