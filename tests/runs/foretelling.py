"""A forecast held against what then came about."""

from __future__ import annotations

from nika_nb.board.forecast import Forecast, TaskForecast
from nika_nb.runs.run import Run

_MEANS = {
    "skip": {"cached"},
    "run": {"success", "failure", "paused", "cancelled", "skipped"},  # skipped: by its on_error
    "depends": {"cached", "success", "failure", "paused", "skipped", "cancelled"},
    "idle": {"skipped", "cancelled", "failure"},
}


def _means(one: TaskForecast) -> set[str]:
    """A record stands for a task once its producers admit it, and they may not."""
    waits = {"cancelled", "skipped"} if one.upstream else set()
    return _MEANS[one.fate] | waits


def assert_came_true(ahead: Forecast, run: Run) -> None:
    """Every task of the workflow itself ended as one of the things that had been foretold of it."""
    told = {task.task: task for task in ahead.tasks if "/" not in task.task}
    came = {name: task.state for name, task in run.tasks.items()}
    assert told.keys() == came.keys()
    wrong = {name: (one.fate, came[name]) for name, one in told.items() if came[name] not in _means(one)}
    assert not wrong, f"foretold, and what came: {wrong}\n{ahead}\n{run}"
