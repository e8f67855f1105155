"""What a run that is looked at ahead would do beyond reading, and the refusal where nobody has allowed it."""

from __future__ import annotations

from collections.abc import Collection, Iterator
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
        lines = "\n".join(f"  {task}: {', '.join(acts)}" for task, acts in acting(ahead).items())
        super().__init__(
            f"reproducing {trace.name} does these things once more, so nothing was run:\n{lines}\n"
            f"If they may happen again, say so: {option('yes')}"
        )


def acting(ahead: Forecast) -> dict[str, tuple[str, ...]]:
    """The tasks that would do more than read, each with what it would do, for people."""
    calls = {task.task.rpartition("/")[0] for task in ahead.tasks}
    found = {task.task: tuple(_acts(task, calls)) for task in ahead.tasks if task.works}
    return {task: acts for task, acts in found.items() if acts}


def _acts(task: TaskForecast, calls: Collection[str]) -> Iterator[str]:
    """calls: the tasks whose called workflows' own are told one by one."""
    for touch in task.touches:
        told = touch.kind == "workflow" and task.task in calls
        if not touch.reads and not told and not _told_beside(touch, task):
            yield str(touch)
    yield from (f"model · {model}" for model in task.models)


def _told_beside(touch: Touch, task: TaskForecast) -> bool:
    """A builtin that does nothing, or whose own targets are told as well; an agent's nobody knows."""
    builtin = BUILTINS.get(touch.target) if touch.kind == "tool" else None
    if builtin is None:
        return False
    return task.verb == "invoke" or all(target.effect == "fs.read" for target in builtin.targets)
