"""A forecast held against what then came about."""

from __future__ import annotations

from nika_nb.board.forecast import Forecast
from nika_nb.runs.run import Run

_MEANS = {
    "skip": {"cached"},
    "run": {"success", "failure", "paused", "cancelled"},
    "depends": {"cached", "success", "failure", "paused", "skipped", "cancelled"},
    "idle": {"skipped", "cancelled", "failure"},
}


def assert_came_true(ahead: Forecast, run: Run) -> None:
    """Every task of the workflow itself ended as one of the things that had been foretold of it."""
    told = {task.task: task.fate for task in ahead.tasks if "/" not in task.task}
    came = {name: task.state for name, task in run.tasks.items()}
    assert told.keys() == came.keys()
    wrong = {name: (fate, came[name]) for name, fate in told.items() if came[name] not in _MEANS[fate]}
    assert not wrong, f"foretold, and what came: {wrong}\n{ahead}\n{run}"
