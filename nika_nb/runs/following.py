"""A run watched from outside, from any process: its frames as they land, across its answers."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

from nika_nb.catalog.frames import RUN_ENDS
from nika_nb.runs.heads import Head
from nika_nb.runs.shelf import Shelf
from nika_nb.trace.frame import Frame
from nika_nb.trace.reader import is_running, tail
from nika_nb.trace.trace import AFTER_END, State, state_of

_PAUSE = 0.05  # seconds between looks
_UNSURE = 1.0  # seconds after a change of the folder in which another one may not show


class Follow(Iterator[Frame]):
    """The frames of a run, first to last, then those to come.

    Ends when the run has ended, or with `incomplete` when its writer died. A pause is waited out, for
    the frames behind the answer are the same run's; with `through_pauses=False` it ends there.
    state: how far it has come; once exhausted, how the run ended.
    """

    def __init__(self, folder: Path, run_id: str, *, through_pauses: bool = True) -> None:
        self.run_id = run_id
        self.state: State = "running"
        self._folder = folder
        self._through = through_pauses
        self._line = Shelf(folder).find(run_id).invocations
        self._frames = self._all()

    def __next__(self) -> Frame:
        return next(self._frames)

    def _all(self) -> Iterator[Frame]:
        head: Head | None = self._line[0]
        while head is not None:
            yield from self._one(head)
            if self.state != "paused":
                return
            head = self._next(head)

    def _one(self, head: Head) -> Iterator[Frame]:
        """One invocation to its end, or to where its writer died."""
        path, offset, line = self._folder / head.name, 0, 0
        end: str | None = None
        self.state = "running"
        while True:
            alive = is_running(path)[0]  # before the look: what was written last is then seen
            found = tail(path, offset, line)
            offset, line = found.offset, found.line
            for frame in found.frames:
                end = frame.kind if frame.kind not in AFTER_END else end
                yield frame
            # An ended journal may stay locked: whoever answers it holds it while the run goes on.
            over = end in RUN_ENDS and not found.frames
            if found.damage or over or not alive:
                self.state = state_of(end, False)
                return
            time.sleep(_PAUSE)

    def _next(self, head: Head) -> Head | None:
        """The invocation behind an answer; waits for one."""
        seen, until = 0, 0.0
        while True:
            changed = os.stat(self._folder).st_mtime_ns
            if changed != seen:
                seen, until = changed, time.monotonic() + _UNSURE
            found = self._continuation(head) if time.monotonic() < until else None
            if found is not None or not self._through:
                return found
            time.sleep(_PAUSE)

    def _continuation(self, head: Head) -> Head | None:
        known = next((later for later in self._line if later.continues(head)), None)
        if known is not None:
            return known
        found = [
            later
            for later in Shelf(self._folder).heads(head.run)
            if not later.blocked and later.continues(head)
        ]
        return min(found, key=lambda later: later.created) if found else None
