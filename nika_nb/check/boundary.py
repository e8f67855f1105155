"""Where a task may be read, and which of its fields: the doors are `with:`, `recover:` and `outputs:`."""

from __future__ import annotations

from collections.abc import Iterator

from nika_nb.check.contracts import output_shape, record_shape
from nika_nb.check.reading import WHOLE, Read
from nika_nb.check.subject import the_tasks
from nika_nb.errors import Diagnostic
from nika_nb.language.model import Task
from nika_nb.plan.gates import FIELD_ROLES
from nika_nb.values import nearest

RECORD = ("output", *FIELD_ROLES)
_PLACES = {"body": "in the body", "when": "in `when:`", "for_each": "in `for_each:`", "model": "here"}


def judge_task(read: Read) -> Iterator[Diagnostic]:
    """A path that starts with `tasks`."""
    task = read.surface.task
    if task is not None and task.is_cleanup:
        yield from _from_cleanup(read, task)
    elif read.surface.kind in ("with", "recover", "outputs"):
        yield from _record(read)
    else:
        where = _PLACES[read.surface.kind]
        sentence = f"`{read.reference}` cannot be read {where}: a task comes in through `with:` only"
        yield read.found("NIKA-VAR-021", sentence, _hoist(read), WHOLE)


def _from_cleanup(read: Read, task: Task) -> Iterator[Diagnostic]:
    producers = [edge.producer for edge in task.after if edge.predicate == "unwind"]
    if read.name is None or read.name in producers:
        yield from _record(read)
        return
    shown = " or ".join(f"`{name}`" for name in producers)
    sentence = f"a cleanup reads only the task it follows: `{read.name}` may still be running then"
    yield read.found("NIKA-VAR-021", sentence, f"read {shown} here, or make this an ordinary task", WHOLE)


def _hoist(read: Read) -> str:
    """What to bind instead, as a line to paste."""
    task = read.surface.task
    if task is None:
        return "write a fixed model, or `inputs.<name>`"
    if read.name == task.id:
        return "a task cannot read itself"
    for binding, value in task.with_.items():
        if value.raw == f"${{{{ {read.reference} }}}}":
            return f"it is bound already: read `with.{binding}`"
    binding = _free_name(read, task)
    whole = len(read.reference.steps) > 1
    path = str(read.reference) if whole else f"tasks.{read.name or '<id>'}.output"
    return f'add `with: {{ {binding}: "${{{{ {path} }}}}" }}` to the task and read `with.{binding}` here'


def _free_name(read: Read, task: Task) -> str:
    words = [str(step) for step in read.reference.steps if str(step).isidentifier() and step != "output"]
    name = "_".join(words[:3]) or "value"
    name = f"{name}_output" if name in RECORD else name
    free, number = name, 2
    while free in task.with_:
        free, number = f"{name}_{number}", number + 1
    return free


def _record(read: Read) -> Iterator[Diagnostic]:
    """A task where one may be read: it exists, one of its fields is picked, the path fits."""
    name = read.name
    tasks = read.subject.workflow.tasks
    if name is None:
        sentence = "`tasks` is not a value: name one task and one of its fields"
        yield read.found("NIKA-VAR-020", sentence, "write `tasks.<id>.output`", WHOLE)
    elif name not in tasks:
        if name not in read.subject.names["tasks"] and not read.subject.has_namesakes:
            yield _undeclared(read, name)
    elif len(read.reference.steps) == 1:
        sentence = f"`tasks.{name}` is the whole record of a task, not a value"
        hint = f"write `tasks.{name}.output`, or `.status`, `.error`"
        yield read.found("NIKA-VAR-020", sentence, hint, WHOLE)
    else:
        yield from _field(read, tasks[name], str(read.reference.steps[1]))


def _undeclared(read: Read, name: str) -> Diagnostic:
    code = "NIKA-DAG-002" if read.surface.kind == "with" else "NIKA-VAR-001"
    known = read.subject.names["tasks"]
    hint = nearest(name, known) or the_tasks(known)
    return read.found(code, f"there is no task `{name}`", hint, 1)


def _field(read: Read, task: Task, field: str) -> Iterator[Diagnostic]:
    if field == "output":
        yield from read.path(output_shape(read.subject, task), 2)
    elif field in RECORD or field in task.extract:
        yield from read.path(record_shape(task, field), 2)
    else:
        close = nearest(field, (*RECORD, *task.extract))
        hint = close or f"a field of its output is `tasks.{task.id}.output.{field}`"
        yield read.found("NIKA-VAR-001", f"the record of a task has no field `{field}`", hint, 2)


def judge_group(read: Read) -> Iterator[Diagnostic]:
    """A path that starts with `group`."""
    name = read.name
    cleanup = read.surface.task is not None and read.surface.task.is_cleanup
    if read.surface.kind != "with" or cleanup:
        sentence = f"`{read.reference}` can be read only in `with:` of an ordinary task"
        bound = f'{name or "all"}: "${{{{ group.{name or "<name>"} }}}}"'
        hint = f"add `with: {{ {bound} }}` and read the binding here"
        yield read.found("NIKA-VAR-021", sentence, hint, WHOLE)
        return
    groups = read.subject.workflow.groups
    if name is None:
        hint = f"write `group.{next(iter(groups), '<name>')}`"
        yield read.found("NIKA-DAG-008", "`group` alone names no group", hint, WHOLE)
    elif name not in groups and not read.subject.broken:
        hint = nearest(name, groups) or f"write `group: {name}` in each of its tasks"
        yield read.found("NIKA-DAG-008", f"no task declares `group: {name}`", hint, 1)
