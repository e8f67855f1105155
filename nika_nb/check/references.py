"""Every path inside `${{ }}`: does its root exist here, is its name declared, can its steps be taken."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from nika_nb.check.boundary import judge_group, judge_task
from nika_nb.check.contracts import shape_of_binding, shape_of_item
from nika_nb.check.reading import Read
from nika_nb.check.shapes import Known, Typed
from nika_nb.check.subject import Subject
from nika_nb.check.surfaces import envelope_model, surfaces
from nika_nb.errors import Diagnostic
from nika_nb.language.cel import Reference, slips
from nika_nb.language.model import Task, Workflow
from nika_nb.language.template import references
from nika_nb.values import closest, nearest

ROOTS = ("inputs", "const", "secrets", "with", "tasks", "group", "item", "index")

# Names under which other languages keep what a caller or a deployment supplies.
_FOREIGN = frozenset(
    {
        "params", "parameters", "config", "settings", "options", "args", "arguments", "values", "constants",
        "consts", "variables", "context", "workflow", "globals", "locals", "state",
    }
)  # fmt: skip
_OTHER_TASKS = frozenset({"steps", "needs", "jobs", "nodes"})


def judge(subject: Subject) -> Iterator[Diagnostic]:
    """NIKA-VAR-001 -003 -005 -020 -021, NIKA-VALUES-001 -002 -003, NIKA-DAG-002 -008."""
    if subject.workflow.model is not None:
        for fault in envelope_model(subject.workflow)[1]:
            yield Diagnostic(fault.code, fault.message, fault.span)
    for surface in surfaces(subject.workflow):
        for island, reference in surface.references():
            read = Read(subject, surface, island, reference)
            yield from _JUDGES.get(reference.root, _nowhere)(read)


def _authorities(workflow: Workflow) -> dict[str, Mapping[str, Any]]:
    return {"inputs": workflow.inputs, "const": workflow.consts, "secrets": workflow.secrets}


def _declared_as(workflow: Workflow, name: str) -> str | None:
    """`inputs.<name>` and the like, when one of the three authorities declares the name."""
    return next((f"{root}.{name}" for root, names in _authorities(workflow).items() if name in names), None)


def _value(read: Read) -> Iterator[Diagnostic]:
    """`inputs`, `const`, `secrets`: declared in the envelope."""
    root, name, workflow = read.reference.root, read.name, read.subject.workflow
    if name is None:
        return
    if name not in _authorities(workflow)[root]:
        if name not in read.subject.names[root]:
            hint = _declare(read.subject, root, name)
            yield read.found("NIKA-VAR-001", f"`{root}.{name}` is not declared", hint, 1)
    elif root == "inputs":
        yield from read.path(Typed(workflow.inputs[name].type.canonical), 1)
    elif root == "const":
        const = workflow.consts[name]
        yield from read.path(Typed(const.type.canonical) if const.type else Known(const.value), 1)
    else:
        yield from read.path(Typed("string"), 1)


def _declare(subject: Subject, root: str, name: str) -> str:
    if close := nearest(name, subject.names[root]):
        return close
    if elsewhere := _declared_as(subject.workflow, name):
        return f"it is declared as `{elsewhere}`"
    lines = {
        "inputs": f"`inputs: {{ {name}: {{ type: string }} }}`",
        "const": f"`const: {{ {name}: … }}`",
        "secrets": f"`secrets: {{ {name}: {{ source: env, key: {name.upper()} }} }}`",
    }
    return f"declare it: {lines[root]}"


def _binding(read: Read) -> Iterator[Diagnostic]:
    """`with`: bound in the same task, and not by a sibling binding."""
    task, name, workflow = read.surface.task, read.name, read.subject.workflow
    if task is None or read.surface.kind == "with":
        what = "the envelope has no bindings" if task is None else "a binding cannot read another binding"
        hint = "read `inputs`, `const` or a task's output here"
        yield read.found("NIKA-VAR-001", f"`{read.reference}` does not exist here: {what}", hint)
    elif name is None:
        return
    elif name not in task.with_:
        sentence = f"`with.{name}` is not bound in `{task.id}`"
        yield read.found("NIKA-VAR-001", sentence, _bind(workflow, task, name), 1)
    elif read.surface.kind == "for_each" and (spot := _loop_local(task, name)) is not None:
        yield _circular(read, name, spot)
    else:
        yield from read.path(shape_of_binding(read.subject, task, name), 1)


def _bind(workflow: Workflow, task: Task, name: str) -> str:
    if close := nearest(name, task.with_):
        return close
    if elsewhere := _declared_as(workflow, name):
        return f"write `{elsewhere}`"
    if name in workflow.tasks:
        return f'bind it: `with: {{ {name}: "${{{{ tasks.{name}.output }}}}" }}`'
    return f"bind it: `with: {{ {name}: … }}`"


def _loop_local(task: Task, binding: str) -> Reference | None:
    """Where a binding reads `item` or `index`."""
    return next((ref for ref in references(task.with_[binding]) if ref.root in ("item", "index")), None)


def _circular(read: Read, name: str, spot: Reference) -> Diagnostic:
    return read.found(
        "NIKA-VAR-005",
        f"the collection reads `with.{name}`, and that reads `{spot.root}`, which exists only after it",
        f"bind the list without `{spot.root}`, and use `{spot.root}` in another binding",
        related=((f"`{spot.root}` is read here", spot.span),),
    )


def _local(read: Read) -> Iterator[Diagnostic]:
    """`item` and `index`: inside a fan-out, and not where its collection is computed."""
    task, root = read.surface.task, read.reference.root
    if task is None or task.for_each is None:
        sentence = f"`{root}` exists only in a task with `for_each:`"
        yield read.found("NIKA-VAR-001", sentence, "add `for_each: { items: … }` to the task")
    elif read.surface.kind == "for_each":
        sentence = f"`{root}` does not exist yet where the collection is computed"
        yield read.found("NIKA-VAR-001", sentence, "read `with`, `inputs` or `const` in `items:`")
    else:
        shape = shape_of_item(read.subject, task) if root == "item" else Typed("integer")
        yield from read.path(shape, 0)


def _nowhere(read: Read) -> Iterator[Diagnostic]:
    """A root that does not exist: perhaps one of another language, perhaps a word left out."""
    root = read.reference.root
    if root in ("vars", "env"):
        code = "NIKA-VALUES-001" if root == "vars" else "NIKA-VALUES-002"
        yield read.found(code, f"`{root}` does not exist any more", _authority(read))
    elif root in _FOREIGN:
        sentence = f"`{root}` holds nothing here: values live in `inputs`, `const` and `secrets`"
        yield read.found("NIKA-VALUES-003", sentence, _authority(read))
    else:
        yield read.found("NIKA-VAR-001", f"`{root}` does not exist", _meant(read, root))


def _authority(read: Read) -> str:
    name = read.name or "<name>"
    if known := _declared_as(read.subject.workflow, name):
        return f"write `{known}`"
    return f"write `inputs.{name}` for a value of the caller, `const.{name}` for a fixed one"


def _meant(read: Read, root: str) -> str:
    workflow, task = read.subject.workflow, read.surface.task
    if (constant := slips.value(root)) and read.name is None:
        return f"write `{constant}`"
    if task is not None and root in task.with_ and read.surface.kind != "with":
        return f"write `with.{root}`"
    if known := _declared_as(workflow, root):
        return f"write `{known}`"
    if root in workflow.tasks:
        return f"the output of that task is `tasks.{root}.output`"
    if root in _OTHER_TASKS:
        return f"write `tasks.{read.name or '<id>'}.output`"
    own = _own_names(read)
    if read.name not in own and (close := closest(root, own)):  # `task.fetch` means `tasks`, not a task
        return f"did you mean `{own[close]}`?"
    return nearest(root, ROOTS) or f"a path starts with one of {', '.join(ROOTS)}"


def _own_names(read: Read) -> dict[str, str]:
    """What this workflow has by name, each as a path that reads it."""
    workflow, task = read.subject.workflow, read.surface.task
    found = {name: f"tasks.{name}.output" for name in workflow.tasks}
    for root, names in _authorities(workflow).items():
        found |= {name: f"{root}.{name}" for name in names}
    bound = task.with_ if task is not None and read.surface.kind != "with" else ()
    return found | {name: f"with.{name}" for name in bound}


_JUDGES: dict[str, Callable[[Read], Iterator[Diagnostic]]] = {
    "inputs": _value,
    "const": _value,
    "secrets": _value,
    "with": _binding,
    "tasks": judge_task,
    "group": judge_group,
    "item": _local,
    "index": _local,
}
