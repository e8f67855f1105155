"""What the declared contracts say about a value edge: `schema:`, `returns:`, what flows through `with:`."""

from __future__ import annotations

from collections.abc import Mapping

from nika_nb.check.given import given
from nika_nb.check.shapes import Known, Printed, Schema, Shape, Typed, Wrong, element, listed, walk
from nika_nb.check.subject import Subject
from nika_nb.language.cel import Reference
from nika_nb.language.cel.syntax import as_reference
from nika_nb.language.lattice import UNKNOWN, assignable
from nika_nb.language.model import Task, Workflow
from nika_nb.language.template import Plain, Value, only_island
from nika_nb.language.types import TypeExpr
from nika_nb.plan.gates import STATUSES
from nika_nb.values import Json

_STATES: Json = {"enum": [*STATUSES]}
_RECORD: dict[str, Json] = {
    "status": _STATES,
    "cause": "string",
    "duration_ms": "integer",
    "started_at": "timestamp",
    "ended_at": "timestamp",
}
_MEMBER: Json = {
    "object": {
        "id": "string",
        "status": _STATES,
        "output": UNKNOWN,
        "duration_ms": "integer",
        "error": UNKNOWN,
    }
}


def output_shape(subject: Subject, task: Task) -> Shape:
    """What `tasks.<id>.output` is known to be; a fan-out yields a list of it."""
    one = _of_one(subject, task)
    return listed(one) if task.for_each is not None else one


def _of_one(subject: Subject, task: Task) -> Shape:
    if task.returns is not None:
        return Typed(task.returns.canonical)
    recovers = task.on_error is not None and task.on_error.recover is not None
    if task.action.gives_text and not recovers:
        return Printed(task.id)
    if not recovers and (known := given(task) or _returned(subject, task)) is not None:
        return Typed(known)
    schema = task.action.get("schema") if task.action.verb in ("infer", "agent") else None
    return Schema(schema) if isinstance(schema, dict) else None


def _returned(subject: Subject, task: Task) -> Json | None:
    """The canonical type of what a called workflow returns; None where no file is called."""
    child = subject.family.called(task, subject.folder)
    return outputs_type(child.workflow) if child and child.workflow and not child.problem else None


def outputs_type(workflow: Workflow) -> Json:
    """The canonical type of all that a workflow returns."""
    outputs = workflow.outputs.values()
    return {"object": {one.name: one.type.canonical if one.type else UNKNOWN for one in outputs}}


def record_shape(task: Task, field: str) -> Shape:
    """What another field of the record is known to be; an extracted one may be anything."""
    if field in _RECORD:
        return Typed(_RECORD[field])
    return listed(None) if field in task.extract and task.for_each is not None else None


def shape_of_binding(subject: Subject, task: Task, name: str) -> Shape:
    return _of_value(subject, task.with_[name], {})


def shape_of_value(subject: Subject, task: Task, value: Value) -> Shape:
    """What is known of a value in the body of a task."""
    return _of_value(subject, value, task.with_)


def misfit(subject: Subject, task: Task, value: Value, wanted: TypeExpr) -> str:
    """Why a value in the body of a task can never be of a type, or ''."""
    shape = shape_of_value(subject, task, value)
    if isinstance(shape, Known):
        return wanted.conforms(shape.value) or ""
    if isinstance(shape, Typed) and not assignable(shape.expr, wanted.canonical):
        return "its type is another one"
    return ""


def shape_of_item(subject: Subject, task: Task) -> Shape:
    if task.for_each is None or isinstance(task.for_each.items, Plain):
        return None
    return element(_of_value(subject, task.for_each.items, task.with_))


def _of_value(subject: Subject, value: Value, bindings: Mapping[str, Value]) -> Shape:
    if isinstance(value, Plain):
        return Known(value.raw)
    island = only_island(value)
    path = as_reference(island.expr) if island is not None else None
    return shape_of_path(subject, path, bindings) if path is not None else None


def shape_of_path(subject: Subject, path: Reference, bindings: Mapping[str, Value]) -> Shape:
    """The shape of what a path denotes; nothing is known where it is wrong or computed."""
    workflow = subject.workflow
    name = path.name or ""
    shape: Shape = None
    rest = path.steps[1:]
    if path.root == "tasks" and name in workflow.tasks and len(path.steps) > 1:
        producer, field = workflow.tasks[name], str(path.steps[1])
        shape = output_shape(subject, producer) if field == "output" else record_shape(producer, field)
        rest = path.steps[2:]
    elif path.root == "group" and name:
        shape = Typed({"array": _MEMBER})
    elif path.root == "inputs" and name in workflow.inputs:
        shape = Typed(workflow.inputs[name].type.canonical)
    elif path.root == "const" and name in workflow.consts:
        shape = Known(workflow.consts[name].value)
    elif path.root == "with" and name in bindings:
        shape = _of_value(subject, bindings[name], {})
    found = walk(shape, rest)
    return None if isinstance(found, Wrong) else found
