"""The journals of one run as a tape: the board at each of its stops, and every output known by then.

One walk over the files notes places; boards and outputs are made from the files again when they are wanted.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from nika_nb.board.kept import Kept, Moving
from nika_nb.board.state import Board
from nika_nb.board.stops import BROKE_OFF, Place, Reel, Stop
from nika_nb.board.told import Told, told
from nika_nb.board.winding import Winding
from nika_nb.trace.paging import with_texts
from nika_nb.trace.reader import between


class Tape:
    """The journals of a run, given with the paths that people are shown, as they continue each other.

    Raises UsageError where a file is missing, TraceUnreadable where one is no journal.
    """

    def __init__(self, files: Sequence[tuple[Path, str]]) -> None:
        winding = Winding()
        for path, shown in files:
            winding.add(path, shown)
        self.reels: tuple[Reel, ...] = tuple(winding.reels)
        self.stops: tuple[Stop, ...] = tuple(winding.stops)
        self.fine = any(stop.fine for stop in self.stops)
        self.tasks, self.within, self.returned = winding.tasks, winding.within, winding.returned
        self._far, self._near = winding.kept, Kept()

    def board(self, number: int) -> Board:
        """The board at a stop, folded from what its journal held by then.

        Raises UsageError or TraceUnreadable where the file has gone or is not what it was.
        """
        stop = self.stops[number]
        reel = self.reels[stop.reel]
        moving = self._reached(number)
        if stop.kind == BROKE_OFF:
            moving.close()
        board = moving.fork()
        board.run_id, board.trace_path, board.trace_events = reel.run_id, reel.shown, stop.events
        board.trace_head = reel.head if stop.offset == reel.size else ""
        return board

    def value(self, place: Place) -> Any:
        """The output at a place, as the journal holds it. Raises as `board` does."""
        return self.told(place).output

    def told(self, place: Place) -> Told:
        """What the last frame at a place tells. Raises as `board` does."""
        reel, start, end = place
        found = (frame for frame, _ in between(self.reels[reel].path, start, end))
        *_, (frame, text) = with_texts(found)
        return told(frame, text)

    def span_ms(self, reel: int) -> int:
        """Milliseconds from the first to the last stop of a journal."""
        first, last = self._first(reel), self._first(reel + 1) - 1
        return max(0, self.stops[last].time - self.stops[first].time) // 10**6

    def _reached(self, number: int) -> Moving:
        """From the nearest board that is kept of the same journal on to a stop."""
        start, board = self._nearest(number)
        moving = Moving.of(board)
        stop = self.stops[number]
        at = self._first(stop.reel) if start is None else start + 1
        offset = 0 if start is None else self.stops[start].offset
        if offset < stop.offset:
            for frame, behind in between(self.reels[stop.reel].path, offset, stop.offset):
                moving.apply(frame)
                while at < number and self.stops[at].offset == behind:
                    self._near.offer(at, moving)  # for whoever goes back from there, step by step
                    at += 1
            self._near.offer(number, moving)
        return moving

    def _nearest(self, number: int) -> tuple[int | None, Board]:
        first = self._first(self.stops[number].reel)
        near, far = (kept.before(number) for kept in (self._near, self._far))
        if near is not None and near[0] >= max(first, far[0] if far else 0):
            return near
        self._near = Kept()
        return far if far is not None and far[0] >= first else (None, Board())

    def _first(self, reel: int) -> int:
        """The number of a journal's first stop."""
        return bisect_right(self.stops, reel - 1, key=lambda stop: stop.reel)
