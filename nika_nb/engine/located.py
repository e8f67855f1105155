"""Faults of expressions as people read them: with their line and a caret, and what may be behind them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from nika_nb.errors import Fault, Span, excerpt
from nika_nb.language.cel import Reference
from nika_nb.language.model import Task, Workflow
from nika_nb.language.template import islands, references
from nika_nb.values import loads

_TYPES = frozenset({"NIKA-VAR-001", "NIKA-VAR-006"})


@contextmanager
def located(workflow: Workflow, task: Task | None, tasks: Mapping[str, Any]) -> Iterator[None]:
    """A fault that is placed in the workflow's text gets its line; `tasks`: their records so far."""
    try:
        yield
    except Fault as fault:
        if fault.span is None:
            raise
        raise _with_place(fault, fault.span, workflow, task, tasks) from None


def _with_place(
    fault: Fault, span: Span, workflow: Workflow, task: Task | None, tasks: Mapping[str, Any]
) -> Fault:
    hint = _hint(span, workflow, task, tasks) if task and fault.code in _TYPES else ""
    message = f"{fault.message}{hint}\n{excerpt(workflow.source, span)}"
    return Fault(fault.code, message, details=fault.details, transient=fault.transient)


def _hint(span: Span, workflow: Workflow, task: Task, tasks: Mapping[str, Any]) -> str:
    """Of the tasks that the place reads, the one whose text would be data."""
    for name in _read_at(span, task):
        producer = workflow.tasks.get(name)
        record = tasks.get(name)
        if producer is not None and isinstance(record, Mapping) and is_undecoded(producer, record["output"]):
            return f"; {decode(name)}"
    return ""


def decode(name: str) -> str:
    return f"write `decode: json` in the `exec:` of `{name}`: what it printed is JSON, taken for text"


def is_undecoded(task: Task, output: Any) -> bool:
    """Whether a task's output is the text of a JSON document that nothing has read."""
    texts = output if isinstance(output, list) else [output]
    return task.action.gives_text and any(isinstance(text, str) and _is_json(text) for text in texts[:1])


def _is_json(text: str) -> bool:
    try:
        return not isinstance(loads(text), str)
    except (ValueError, RecursionError):
        return False


def _read_at(span: Span, task: Task) -> Iterator[str]:
    """The tasks whose outputs reach a place of a task, by the bindings in between."""
    collection = task.for_each.items if task.for_each is not None else None
    for value in (*task.with_.values(), task.action.body, task.condition, collection):
        for island in islands(value):
            if island.span.start < span.end and span.start < island.span.end:
                yield from _producers(task, island.references())


def _producers(task: Task, found: Iterable[Reference]) -> Iterator[str]:
    for ref in found:
        if ref.root == "tasks" and ref.name is not None:
            yield ref.name
        elif ref.root == "with" and ref.name in task.with_:
            yield from _producers(task, references(task.with_[ref.name]))
