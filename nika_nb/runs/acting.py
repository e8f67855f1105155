"""What a run that is looked at ahead would do beyond reading, and the refusal where nobody has allowed it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from nika_nb.board.forecast import Forecast, TaskForecast, Touch
from nika_nb.catalog.builtins import BUILTINS
from nika_nb.doors import option
from nika_nb.errors import UsageError


class EffectsWithheld(UsageError):
    """A reproduction would do more than read, and nobody has said that it may. Nothing was run.

    ahead: everything that it would do.
    """

    def __init__(self, trace: Path, ahead: Forecast) -> None:
        self.ahead = ahead
        lines = "\n".join(f"  {task.task}: {', '.join(acts(task, ahead))}" for task in acting(ahead))
        super().__init__(
            f"reproducing {trace.name} does these things once more, so nothing was run:\n{lines}\n"
            f"If they may happen again, say so: {option('yes')}"
        )


def acting(ahead: Forecast) -> Iterator[TaskForecast]:
    """The tasks that would do more than read."""
    return (task for task in ahead.tasks if task.works and any(acts(task, ahead)))


def acts(task: TaskForecast, ahead: Forecast) -> Iterator[str]:
    """What one task would do beyond reading, for people."""
    below = any(other.task.startswith(f"{task.task}/") for other in ahead.tasks)
    for touch in task.touches:
        told = touch.kind == "workflow" and below  # its tasks are told one by one
        if not touch.reads and not told and not _told_beside(touch, task):
            yield str(touch)
    yield from (f"model · {model}" for model in task.models)


def _told_beside(touch: Touch, task: TaskForecast) -> bool:
    """A builtin that does nothing, or whose own targets are told as well; an agent's nobody knows."""
    builtin = BUILTINS.get(touch.target) if touch.kind == "tool" else None
    if builtin is None:
        return False
    return task.verb == "invoke" or all(target.effect == "fs.read" for target in builtin.targets)
