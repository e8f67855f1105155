"""A journal that somebody else writes, read as it grows: an attached run is watched from its file alone."""

from __future__ import annotations

import threading
import time

from nika_nb.catalog.frames import RUN_ENDS
from nika_nb.runs.calling_off import call_off
from nika_nb.runs.session import working
from nika_nb.trace.ends import ends
from nika_nb.trace.frame import Frame
from nika_nb.trace.reader import is_running, tail
from nika_nb.trace.trace import Trace

_EVERY = 0.1  # seconds between looks at the file


class Growing:
    """The frames behind what was read of a trace, until its writer is gone or its run has ended.

    over: nothing will come any more. Safe from any thread that holds the run's turn.
    """

    def __init__(self, trace: Trace) -> None:
        self.path = trace.path
        self.over = not trace.running
        self._ended = False  # its writer may still put a seal behind the end
        self._run_id = trace.run_id or ""
        self._offset, self._line = trace.size, trace.lines
        self._looked = 0.0

    @property
    def head(self) -> str:
        """The hash of the last line."""
        found = ends(self.path)
        return found.head if found is not None else ""

    def drain(self) -> list[Frame]:
        """What has landed since the last look; looks at most ten times a second."""
        if self.over or time.monotonic() - self._looked < _EVERY:
            return []
        self._looked = time.monotonic()
        alive = is_running(self.path)[0]  # before the look: what was written last is then seen
        found = tail(self.path, self._offset, self._line)
        self._offset, self._line = found.offset, found.line
        ended = self._ended and not found.frames
        self._ended |= any(frame.kind in RUN_ENDS for frame in found.frames)
        self.over = not alive or ended or found.damage is not None
        return list(found.frames)

    def wait(self) -> None:
        """A short while; an interrupt is felt at once."""
        threading.Event().wait(0.03)

    def cancel(self) -> None:
        """Asks whoever is at work on it to end it. Raises UsageError where that cannot be left behind."""
        if self.over:
            return
        here = [session for session in working(self._run_id) if self._writes(session.prepared.journal)]
        for session in here:
            session.cancel()
        if not here:
            call_off(self._run_id or self.path.name, self.path)

    def _writes(self, journal: object) -> bool:
        path = getattr(journal, "path", None)
        return path is not None and path.resolve() == self.path.resolve()
