"""One trace in figures: how it ended, what it ran and recalled, what that cost. Read once, nothing held."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

from nika_nb.catalog.frames import RUN_ENDS
from nika_nb.trace.fields import number, said, whole
from nika_nb.trace.figures import Figures
from nika_nb.trace.frame import Frame
from nika_nb.trace.lock import holder
from nika_nb.trace.paging import with_texts
from nika_nb.trace.reader import Frames, frames, no_journal, same_writer
from nika_nb.trace.trace import AFTER_END, Damage, State, state_of
from nika_nb.trace.unit import Unit
from nika_nb.trace.units import Units


@dataclass(frozen=True, slots=True)
class Overview:
    """A trace as it was when it was read.

    prologue: the fields of its first frame. invocation: what tells it from all others. started, ended:
    unix nanoseconds of its first and its last frame. last: the number of its last line. tasks: what became
    of each, in document order. hits: how many of them a record stood in for; live: how many began to run.
    spent, saved, wasted: of the whole invocation. unpriced: tasks that called a model whose price is not
    known. cut_off: tasks and items that were at work when the journal broke off.
    """

    path: Path
    prologue: dict[str, Any]
    invocation: str | None
    run_id: str | None
    state: State
    started: int
    ended: int
    events: int
    last: int
    size: int
    torn: bool
    damage: Damage | None
    tasks: dict[str, Unit] = field(repr=False)
    hits: int
    live: int
    spent: Figures
    saved: Figures
    wasted: Figures
    unpriced: int
    cut_off: int

    @property
    def workflow(self) -> str | None:
        return said(self.prologue.get("workflow"))

    @property
    def resumed(self) -> str | None:
        """The trace it resumed from: its file, or its head where many may have the same bytes."""
        return said(self.prologue.get("resumed_trace")) or said(self.prologue.get("resumed_head"))


def overview(path: Path) -> Overview:
    """Reads a trace once, also of a run that is still going on.

    Damage is described, never raised. Raises UsageError where there is no file, TraceUnreadable where it
    holds no frame at its beginning or is beyond the bounds.
    """
    held, pid = holder(path)
    stream = frames(path)
    first = next(stream, None)
    if first is None:
        raise no_journal(stream)
    running = held and same_writer(pid, first.get("pid"))
    fold = _Fold(first)
    for frame, text in with_texts(fold.counted(stream)):
        fold.take(frame, text)
    return fold.overview(path, stream, running)


class _Fold:
    def __init__(self, first: Frame) -> None:
        self._first = self._last = first
        self._end: Frame | None = None
        self._events = 0
        self._cut_off = cut_off = _Count()
        # Not a method of this fold: a circle of the two would keep every trace until the collector comes.
        self._units = Units(lambda item: cut_off.add(item.cut_off))

    def counted(self, rest: Iterator[Frame]) -> Iterator[Frame]:
        """Every frame of the file, pages of outputs too."""
        for frame in chain([self._first], rest):
            self._events += 1
            self._last = frame
            yield frame

    def take(self, frame: Frame, text: str | None) -> None:
        self._units.take(frame, text)
        if frame.kind not in AFTER_END:
            self._end = frame if frame.kind in RUN_ENDS else None

    def overview(self, path: Path, stream: Frames, running: bool) -> Overview:
        self._units.close(running=running)
        tasks = list(self._units.tasks.values())
        spent, saved, wasted = self._units.totals()
        if self._end is not None:  # it also knows what tasks cost that are still open
            spent.usd = _known(number(self._end.get("total_cost_usd")), spent.usd)
            spent.tokens = _known(whole(self._end.get("total_tokens")), spent.tokens)
        return Overview(
            path=path,
            prologue=self._first.fields,
            invocation=self._first.run or self._first.id or None,
            run_id=self._first.correlation,
            state=state_of(self._end.kind if self._end else None, running),
            started=self._first.timestamp,
            ended=self._last.timestamp,
            events=self._events,
            last=stream.lines,
            size=stream.offset,
            torn=stream.torn and not running,
            damage=stream.damage,
            tasks=self._units.tasks,
            hits=sum(unit.cached for unit in tasks),
            live=sum(unit.started is not None and not unit.cached for unit in tasks),
            spent=spent,
            saved=saved,
            wasted=wasted,
            unpriced=sum(unit.has_unknown for unit in tasks),
            cut_off=self._cut_off.value + sum(unit.cut_off for unit in tasks),
        )


class _Count:
    value = 0

    def add(self, more: int) -> None:
        self.value += more


def _known(told: Any, summed: Any) -> Any:
    return summed if told is None else told
