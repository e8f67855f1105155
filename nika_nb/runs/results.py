"""One output of a run, read back from its journals: of a task, of an item, of a called workflow's task."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from nika_nb.errors import UsageError
from nika_nb.runs.replaying import replay_of
from nika_nb.values import nearest


def output_of(path: Path, unit: str) -> Any:
    """The last output of `rows`, `rows[3]` or `call/ask` in the run that a trace belongs to.

    Raises UsageError where there is none, with the state of the task or the names that are meant.
    """
    step = replay_of(path)[-1]
    for known in (step.outputs, step.within):
        if unit in known:
            return known[unit]
    row = step.board.rows.get(unit.partition("[")[0].partition("/")[0])
    if row is None:
        hint = nearest(unit, step.board.rows)
        raise UsageError(f"{path.name} tells of no task `{unit}`{', ' + hint if hint else ''}")
    if row.not_resumable:
        raise UsageError(f"{path.name} holds no output of `{unit}`: {row.not_resumable}")
    raise UsageError(f"{path.name} holds no output of `{unit}`: the task is {row.state}")
