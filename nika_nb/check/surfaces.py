"""The places of a document in which expressions stand, told apart by what they may read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from nika_nb.errors import Fault, Span
from nika_nb.language.cel import Reference
from nika_nb.language.model import Task, Workflow
from nika_nb.language.template import Island, Plain, Text, Value, compile_text, islands

Kind = Literal["model", "with", "when", "for_each", "body", "recover", "outputs"]


@dataclass(frozen=True, slots=True)
class Surface:
    """One such place: the task it belongs to (None in the envelope) and, where it has one, its name."""

    kind: Kind
    value: Value
    task: Task | None = None
    name: str = ""

    def islands(self) -> Iterator[Island]:
        return islands(self.value)

    def references(self) -> Iterator[tuple[Island, Reference]]:
        for island in self.islands():
            for reference in island.references():
                yield island, reference


def surfaces(workflow: Workflow) -> Iterator[Surface]:
    """Every place, in document order of the blocks."""
    if workflow.model is not None:
        yield Surface("model", envelope_model(workflow)[0])
    for task in workflow.tasks.values():
        yield from of_task(task)
    for output in workflow.outputs.values():
        yield Surface("outputs", output.value, name=output.name)


def of_task(task: Task) -> Iterator[Surface]:
    for name, value in task.with_.items():
        yield Surface("with", value, task, name)
    if task.for_each is not None:
        yield Surface("for_each", task.for_each.items, task)
    if task.condition is not None:
        yield Surface("when", task.condition, task)
    yield Surface("body", task.action.body, task)
    if task.on_error is not None and task.on_error.recover is not None:
        yield Surface("recover", task.on_error.recover, task)


def envelope_model(workflow: Workflow) -> tuple[Plain | Text, list[Fault]]:
    """The envelope's `model:` with its islands, and the faults of those that do not parse."""
    span = workflow.spans.get("model", Span(0, 0))
    return compile_text(workflow.model or "", span, workflow.source.text)
