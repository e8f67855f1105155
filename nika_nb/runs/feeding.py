"""Where the items of a fan-out come from: the input that they are the elements of, one for one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from nika_nb.language.model import Workflow
from nika_nb.language.template import Value, only_island
from nika_nb.runs.rows import Rows
from nika_nb.runs.run import Run
from nika_nb.runs.traced import workflow_of
from nika_nb.trace.reader import opening


def collection(path: Path, task: str) -> tuple[str | None, list[Any] | None]:
    """(the input whose elements a fan-out's items are, the recorded value of it); None where not known."""
    workflow = workflow_of(path)
    name = fed_by(workflow, task) if workflow is not None else None
    if workflow is None or name is None:
        return None, None
    values = opening(path).input_values or {}
    value = values.get(name, workflow.inputs[name].default if name in workflow.inputs else None)
    return name, value if isinstance(value, list) else None


def labels_of(run: Run, name: str | None) -> Any:
    """The pandas Index of the rows that an input was given as; None where the run does not know it."""
    rows = run.request.variables.get(name) if name is not None else None
    return rows.labels if isinstance(rows, Rows) else None


def fed_by(workflow: Workflow, task: str) -> str | None:
    """The input whose elements the items of a fan-out are; None where they are made in between.

    Followed are a binding, and the whole output of another fan-out, which has an element per item.
    """
    seen: set[str] = set()
    while task in workflow.tasks and task not in seen:
        seen.add(task)
        found = workflow.tasks[task]
        path = _path(found.for_each.items) if found.for_each is not None else ()
        if len(path) == 2 and path[0] == "with":
            path = _path(found.with_.get(path[1]))
        if len(path) == 2 and path[0] == "inputs":
            return path[1]
        if len(path) != 3 or path[0] != "tasks" or path[2] != "output":
            return None
        task = path[1]
    return None


def _path(value: Value | None) -> tuple[str, ...]:
    """The names of a value that is one reference and nothing else; empty for any other."""
    island = only_island(value)
    found = list(island.references()) if island is not None else []
    if island is None or len(found) != 1 or str(found[0]) != island.text:
        return ()
    return (found[0].root, *map(str, found[0].steps))
