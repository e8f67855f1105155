"""What a trace tells of every task, called ones included: what answers about runs are made of."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from nika_nb.engine.contract import unit_key
from nika_nb.language.model import Workflow
from nika_nb.runs.traced import Traced, trace_of, workflow_of
from nika_nb.trace.overview import Overview, overview
from nika_nb.trace.paging import with_texts
from nika_nb.trace.reader import frames, read_run
from nika_nb.trace.unit import Unit
from nika_nb.trace.units import Units


@dataclass(frozen=True, slots=True)
class Reading:
    """One trace, as it was when it was read.

    units: by name, in document order; a task of a called workflow stands as `call/task` behind its call.
    items: of the workflow's own fan-outs, those that began. workflow: None where its text is not recorded.
    outputs: what the workflow returned, as JSON text.
    """

    path: Path
    seen: Overview
    units: dict[str, Unit]
    items: dict[str, list[Unit]]
    workflow: Workflow | None
    outputs: str | None = None


def reading(run: Traced, *, outputs: bool = False) -> Reading:
    """Reads a trace. Raises UsageError where there is none, TraceUnreadable for another file."""
    path = trace_of(run)
    seen = overview(path)
    if seen.state == "blocked":
        read_run(path)  # says what it is
    items: dict[str, list[Unit]] = {}
    top = Units(lambda item: items.setdefault(item.task, []).append(item), outputs=outputs, below=True)
    returned: str | None = None
    for frame, text in with_texts(frames(path)):
        if frame.line <= seen.last:
            top.take(frame, text)
            returned = text if frame.kind == "workflow_completed" else returned
    top.close(running=seen.state == "running")
    return Reading(path, seen, dict(_named(top, items, "")), items, workflow_of(path), returned)


def _named(units: Units, items: dict[str, list[Unit]], above: str) -> Iterator[tuple[str, Unit]]:
    for task, unit in units.tasks.items():
        yield f"{above}{task}", unit
        if unit.below is not None:
            yield from _named(unit.below, {}, f"{above}{task}/")
        for item in items.get(task, []):
            if item.below is not None:
                yield from _named(item.below, {}, f"{unit_key(task, item.item)}/")
