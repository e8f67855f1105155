"""The one walk over the journals of a run that notes its stops, its outputs' places and some boards."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

from nika_nb.board.kept import Kept, Moving
from nika_nb.board.rows import State
from nika_nb.board.state import Board
from nika_nb.board.stops import BEGINS, BROKE_OFF, GOES_ON, Known, Place, Reel, Stop
from nika_nb.board.told import Told, told
from nika_nb.catalog.frames import RUN_STOPS
from nika_nb.trace.frame import Frame
from nika_nb.trace.paging import INPUT_PAGE, PAGE, PAGED, Joiner
from nika_nb.trace.reader import Frames, frames, is_running, no_journal

RETURNED = "outputs"  # the name under which the workflow's own outputs are known
_BEFORE_WORK = frozenset({BEGINS, "nb_source_page", INPUT_PAGE, PAGE, "task_scheduled"})


class Winding:
    """What is known of a run once its journals, added in their order, were walked over."""

    def __init__(self) -> None:
        self.reels: list[Reel] = []
        self.stops: list[Stop] = []
        self.kept = Kept()
        self.tasks, self.within, self.returned = Known(), Known(), Known()
        self._spent, self._unpriced = 0.0, 0  # by the journals before
        self._ends: dict[str, State] = {}

    def add(self, path: Path, shown: str) -> None:
        """Walks over one more journal. Raises UsageError or TraceUnreadable where it is none."""
        alive = is_running(path)[0]  # before the look: what was written last is then seen
        stream = frames(path)
        first = next(stream, None)
        if first is None:
            raise no_journal(stream)
        walk = _Walk(self)
        for frame in chain([first], stream):
            walk.take(frame, stream.offset)
        walk.end(GOES_ON if alive else BROKE_OFF)
        trouble = "" if alive else _trouble(stream)
        self.reels.append(Reel(path, shown, first, stream.offset, stream.head, alive, trouble))
        self._spent += walk.spent
        self._unpriced += len(walk.unpriced)

    def stop(self, walk: _Walk, kind: str, told: Told | None = None) -> None:
        """Notes that one may stop where the walk has come to."""
        name, state, fine = (told.name, told.state, told.fine) if told else ("", None, False)
        spent = round(self._spent + walk.spent, 9)  # sums of floats leave crumbs
        unpriced = self._unpriced + len(walk.unpriced)
        at, reel = walk.board.last or 0, len(self.reels)
        self.stops.append(
            Stop(kind, name, state, at, spent, reel, walk.start, walk.offset, walk.events, fine, unpriced)
        )
        if kind not in RUN_STOPS:  # whatever comes behind the end of a run belongs to that stop
            self.kept.offer(len(self.stops) - 1, walk.board)

    def repeats(self, told: Told) -> bool:
        """Whether a journal that goes on from others only tells again how something had settled."""
        before = self._ends.get(told.name)
        return bool(self.reels) and before is not None and _class(before) == _class(told.state)

    def settled(self, told: Told, place: Place) -> None:
        if told.state is not None:
            self._ends[told.name] = told.state
        if told.has_output:
            (self.within if told.fine else self.tasks).add(told.name, place)


class _Walk:
    """The walk over one journal: the board as it goes, and what was seen on the way."""

    def __init__(self, winding: Winding) -> None:
        self._winding = winding
        self.board = Moving.of(Board())
        self.events = self.start = self.offset = 0
        self.spent = 0.0
        self._begun = False
        self._worked: set[str] = set()
        self._costs: dict[str, float] = {}
        self.unpriced: set[str] = set()  # the tasks of which nobody knows what they cost
        self._joiner = Joiner()
        self._pages: dict[tuple[Any, Any], int] = {}  # where the pages of an output begin

    def take(self, frame: Frame, end: int) -> None:
        """The next frame, and the offset behind it."""
        start = self._start(frame)
        found = told(frame, self._text(frame))
        repeated = found.name not in self._worked and self._winding.repeats(found)
        if frame.kind not in _BEFORE_WORK and not repeated:
            self._begin()
        self.board.apply(frame)
        self.start, self.offset, self.events = start, end, self.events + 1
        self._count(frame)
        place = (len(self._winding.reels), start, end)
        if found.at_work:
            self._worked.add(found.name)
        if found.state is not None:
            self._winding.settled(found, place)
        if frame.kind in RUN_STOPS and found.text is not None:
            self._winding.returned.add(RETURNED, place)
        if frame.kind in RUN_STOPS or (found.state is not None and not repeated):
            self._winding.stop(self, found.kind, found if found.state is not None else None)

    def end(self, kind: str) -> None:
        """All was read. What stands behind the run's end belongs to it; where it has none, a stop is made."""
        self._begin()
        stops = self._winding.stops
        if stops[-1].kind in RUN_STOPS:
            stops[-1] = replace(stops[-1], offset=self.offset, events=self.events)
        else:
            self._winding.stop(self, kind)

    def _begin(self) -> None:
        """The first stop: all is known that there is to do, and nothing of it was done."""
        if not self._begun:
            self._begun = True
            self._winding.stop(self, BEGINS)

    def _start(self, frame: Frame) -> int:
        """Where what belongs to a frame begins: at the first of its pages, where it has some."""
        whose = (frame.get("task"), frame.get("item"))
        if frame.kind == PAGE:
            if frame.get("page") == 0:
                self._pages[whose] = self.offset
            return self.offset
        return self._pages.pop(whose, self.offset) if frame.kind in PAGED else self.offset

    def _text(self, frame: Frame) -> str | None:
        self._joiner.feed(frame)
        return self._joiner.text(frame) if frame.kind in PAGED else None

    def _count(self, frame: Frame) -> None:
        """What the frame's task has cost by now, in place of what it had cost before."""
        task = frame.get("task")
        row = self.board.rows.get(task) if isinstance(task, str) else None
        if row is not None and row.cost_usd is not None:
            self.spent += row.cost_usd - self._costs.get(row.id, 0.0)
            self._costs[row.id] = row.cost_usd
        if row is not None and row.unpriced:
            self.unpriced.add(row.id)


def _trouble(stream: Frames) -> str:
    if stream.torn:
        return f"line {stream.lines} is torn, as a crash leaves it; all before it is shown"
    if stream.damage:
        return f"line {stream.damage.line} cannot be read ({stream.damage.why}); all before it is shown"
    return ""


def _class(state: State | None) -> State | None:
    return "ok" if state == "cached" else state
