"""Older traces that would spare more than the newest one: a bare `--resume` names the best of them.

It still takes the newest. Only a few traces are opened, and no large one.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

from nika_nb.board.forecast import TaskForecast
from nika_nb.board.text import duration
from nika_nb.doors import option
from nika_nb.engine.seen import since_said
from nika_nb.errors import NikaError
from nika_nb.money import money
from nika_nb.runs.ahead import foretold
from nika_nb.runs.draft import Draft
from nika_nb.runs.given import with_inputs
from nika_nb.runs.request import NEWEST, Request
from nika_nb.runs.resumption import Resumption, resumption
from nika_nb.runs.shelf import Shelf
from nika_nb.trace.lineage import remember
from nika_nb.trace.memory import JournalMemory
from nika_nb.values import plural

_MOST = 4  # older traces that are looked into
_LARGEST = 4 << 20  # bytes of one that is
_CLEARLY = 0.1  # of a task


@dataclass(frozen=True, slots=True)
class _Spared:
    """What a resume of one trace would not have to do."""

    path: Path
    tasks: tuple[TaskForecast, ...]

    @property
    def skipped(self) -> int:
        return sum(task.fate == "skip" and "/" not in task.task for task in self.tasks)

    @property
    def items(self) -> int:
        """Of fan-outs that run for the others of theirs."""
        return sum(task.recorded or 0 for task in self.tasks if task.fate == "run" and "/" not in task.task)

    @property
    def weight(self) -> float:
        """In tasks; a fan-out counts by the share of its items, a call by that of its tasks."""
        return sum(_share(task, self.tasks) for task in self.tasks if "/" not in task.task)

    @property
    def sentence(self) -> str:
        items = [plural(self.items, "item")] if self.items else []
        what = " and ".join([plural(self.skipped, "task"), *items])
        ms, usd = sum(task.saved_ms for task in self.tasks), sum(task.saved_usd for task in self.tasks)
        saved = [duration(ms)] if ms else []
        saved += [money(usd)] if usd else []
        took = f" ({', '.join(saved)})" if saved else ""
        since = since_said(name for task in self.tasks for name in task.files_changed)
        though = f", though {since}" if since else ""
        return f"{self.path.name} would skip {what}{took}{though}: {option('resume', self.path.name)}"


def taken_up(request: Request, drafted: Draft) -> Resumption:
    """What a request resumes from, with the line that names a better trace. Raises as `resumption` does."""
    found = resumption(request, drafted.workflow, drafted.plan)
    try:
        found.notices += _told(request, drafted, found)
    except BaseException:
        found.close()
        raise
    return found


def _told(request: Request, drafted: Draft, found: Resumption) -> list[str]:
    """The line that names one; empty where the newest spares as much, or all that there is."""
    if request.resume is not NEWEST or request.continues or found.trace is None:
        return []
    shelf, newest = Shelf(request.place.folder.path), found.trace
    fit = (entry for entry in shelf.of_workflow(drafted.workflow.id) if entry.resumable)
    older = [
        entry for entry in islice(fit, _MOST + 1) if entry.path != newest.path and entry.size <= _LARGEST
    ]
    if not older or newest.size > _LARGEST:
        return []
    here = _here(request, drafted, found)
    if here is None or here.skipped == sum("/" not in task.task for task in here.tasks):
        return []
    return _better(here, [_spared(request, drafted, entry.path) for entry in older[:_MOST]])


def _better(here: _Spared, others: Sequence[_Spared | None]) -> list[str]:
    found = [other for other in others if other is not None]
    best = max(found, key=lambda other: other.weight, default=here)
    return [best.sentence] if best.weight >= here.weight + _CLEARLY else []


def _here(request: Request, drafted: Draft, found: Resumption) -> _Spared | None:
    """Of the trace that is held: judged and read it was, only its memory is used up by the look."""
    assert found.trace is not None
    memory, _ = remember(found.trace, found.memory.forced if isinstance(found.memory, JournalMemory) else ())
    again = replace(found, memory=memory, notices=[])
    with suppress(NikaError, OSError):
        return _looked(_alone(request, found.trace.path), drafted, again)
    return None


def _spared(request: Request, drafted: Draft, path: Path) -> _Spared | None:
    """None for a trace that would be refused, or is at work."""
    alone = _alone(request, path)
    with suppress(NikaError, OSError):
        resumed = resumption(alone, drafted.workflow, drafted.plan)
        with resumed.held:
            return _looked(alone, drafted, resumed)
    return None


def _alone(request: Request, path: Path) -> Request:
    return replace(request, resume=path, answers={}, declined=())


def _looked(alone: Request, drafted: Draft, resumed: Resumption) -> _Spared:
    given, draft = with_inputs(alone, drafted, resumed)
    return _Spared(Path(str(alone.resume)), tuple(foretold(given, draft.plan, draft.inputs, resumed.memory)))


def _share(task: TaskForecast, tasks: Sequence[TaskForecast]) -> float:
    if task.fate == "skip":
        return 0.0 if task.files_changed else 1.0  # what was made from other files spares nobody the work
    below = [one.fate == "skip" for one in tasks if one.task.startswith(f"{task.task}/")]
    if below:
        return sum(below) / len(below)
    return (task.recorded or 0) / task.items if task.items and task.fate == "run" else 0.0
