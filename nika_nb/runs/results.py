"""What became of a task, an item or a called workflow's task of a run, read back from its journals."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from nika_nb.board.outputpage import Section, whole_error
from nika_nb.board.replay import Replay, Step
from nika_nb.board.text import said
from nika_nb.engine.contract import unit_of
from nika_nb.errors import UsageError
from nika_nb.runs.replaying import replay_of
from nika_nb.trace import agents
from nika_nb.trace.reader import frames
from nika_nb.values import among


def sections_of(path: Path, unit: str) -> list[Section]:
    """The last output of `rows`, `rows[3]` or `call/ask` in the run that a trace belongs to, or its error.

    Before an output that stands in for one: what it recovered from.

    Raises UsageError where there is neither, with the state of the task or the names that are meant.
    """
    replay = replay_of(path, fine=True)
    settled = _settled(replay, unit)
    turns = [Section("turns", "\n".join(lines))] if (lines := _turns(replay, unit)) else []
    if settled is not None and settled.error is not None:
        return [*turns, Section("error", whole_error(settled.error))]
    if turns and settled is not None and settled.state == "cancelled":
        return turns
    if settled is not None and settled.recovered_from is not None:
        turns.append(Section("recovered from", whole_error(settled.recovered_from)))
    return [*turns, Section("output", _output(replay[-1], path, unit))]


def _turns(replay: Replay, unit: str) -> list[str]:
    """What an agent did, from the newest journal that tells of it."""
    task, item = unit_of(unit)
    for path in reversed(replay.traces):
        found = list(agents.told(frames(path), task, item))
        if found:
            return found
    return []


def _settled(replay: Replay, unit: str) -> Step | None:
    """Where the unit settled last."""
    return next((step for step in reversed(replay) if step.task == unit), None)


def _output(step: Step, path: Path, unit: str) -> Any:
    for known in (step.outputs, step.within):
        if unit in known:
            return known[unit]
    row = step.board.rows.get(unit.partition("[")[0].partition("/")[0])
    if row is None:
        raise UsageError(f"{path.name} tells of no task `{unit}`; {among(unit, step.board.rows)}")
    if row.not_resumable:
        raise UsageError(f"{path.name} holds no output of `{unit}`: {row.not_resumable}")
    how = said(row) if row.blocked_by else f"the task is {row.state}"
    raise UsageError(f"{path.name} holds no output of `{unit}`: {how}")
