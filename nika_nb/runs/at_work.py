"""One invocation and its board: at work here or elsewhere, waited for, ended."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path

from nika_nb.board import Board
from nika_nb.board.drawing import Drawing
from nika_nb.engine.contract import Prompt
from nika_nb.engine.events import Event
from nika_nb.errors import NikaError, short_of
from nika_nb.runs.growing import Growing
from nika_nb.runs.recorded import shown_path
from nika_nb.runs.request import Request
from nika_nb.runs.session import Session
from nika_nb.trace.retention import Collection

_PATIENCE = 50  # interrupts that are taken while a run is being ended


class AtWork:
    """What goes on in a run, without anybody's doing.

    session: where it works in this process; None where its journal alone tells of it.
    """

    def __init__(self, request: Request, session: Session | None = None, board: Board | None = None) -> None:
        self.request = request
        self.board = board if board is not None else Board(run_id=session.prepared.run_id if session else "")
        self._session = session
        self._recorded_at: Path | None = None
        self._growing: Growing | None = None  # the journal of an invocation that somebody else runs
        self._said: tuple[str, ...] = ()  # to whoever would have begun another run instead of this one
        self._turn = threading.RLock()
        self.drawn = False  # its panel stands right above: a cell's value is not drawn twice

    # -- what it is ------------------------------------------------------------------------

    @property
    def id(self) -> str | None:
        """The durable run's id: the same after every answer."""
        return self._session.prepared.run_id if self._session else self.board.run_id

    @property
    def invocation(self) -> str | None:
        """The id of the invocation at work, as the journal's lines carry it."""
        return self._session.prepared.invocation if self._session else None

    @property
    def workflow(self) -> str:
        return self.board.workflow or self.request.source.name

    @property
    def state(self) -> str:
        """running, completed, failed, cancelled, paused or incomplete."""
        self.catch_up()
        return self.board.state

    @property
    def trace(self) -> Path | None:
        """The journal of the newest invocation; None where none was written."""
        if self._session is not None and self._session.prepared.journal is not None:
            return self._session.prepared.journal.path
        return self._recorded_at

    @property
    def journal_error(self) -> str | None:
        """What went wrong with the journal; the run itself is unaffected."""
        journal = self._session.prepared.journal if self._session else None
        return journal.error if journal is not None else None

    @property
    def notices(self) -> list[str]:
        """What was said before the run started: where it resumes from, what is not trusted."""
        return [*(self._session.prepared.notices if self._session else ()), *self._said]

    @property
    def made_room(self) -> Collection:
        """The old traces that went when the run started."""
        return self._session.prepared.tidied if self._session else Collection()

    @property
    def prompts(self) -> tuple[Prompt, ...]:
        """The questions that wait for an answer."""
        self.catch_up()
        return tuple(self.board.prompts) if self.board.state == "paused" else ()

    @property
    def graph(self) -> Drawing:
        """Its tasks and what waits for what, as they stand: `.svg()`, `.text()`"""
        with self._turn:
            return Drawing.graph(self.catch_up())

    @property
    def timeline(self) -> Drawing:
        """When each task ran, so far: `.svg()`, `.text()`"""
        with self._turn:
            return Drawing.timeline(self.catch_up())

    # -- what it does ----------------------------------------------------------------------

    def catch_up(self, seen: Callable[[Event], None] | None = None) -> Board:
        """The board with everything that happened so far; `seen` gets each new event. From any thread."""
        with self._turn:
            if self._session is not None:
                for event in self._session.drain(self.board.apply):
                    if seen is not None:
                        seen(event)
                self._mark_trace()
            elif self._growing is not None:
                self._follow(self._growing, seen)
            return self.board

    def _follow(self, growing: Growing, seen: Callable[[Event], None] | None) -> None:
        """What somebody else's journal has told since; at its end the board is closed as the file says."""
        found = growing.drain()
        for frame in found:
            self.board.apply(frame)
            if seen is not None:
                seen(Event(frame.kind, frame.fields, frame.timestamp, frame.id))
        self.board.trace_events += len(found)
        if growing.over:
            self._growing = None
            self.board.trace_head = growing.head
            self.board.close()

    def _mark_trace(self) -> None:
        journal = self._session.prepared.journal if self._session else None
        if journal is None:
            return
        trouble = journal.error or ""
        if trouble != self.board.trouble:
            self.board.trouble = trouble
            self.board.version += 1
        if journal.path is not None:
            self.board.trace_path = shown_path(journal.path)
            self.board.trace_head = "" if journal.trouble else journal.head or ""
            self.board.trace_events = journal.written

    @property
    def running(self) -> bool:
        return self._growing is not None or (self._session is not None and not self._session.done.is_set())

    def pause_a_moment(self) -> None:
        """Waits until the invocation stops or a short while is over; an interrupt is felt at once."""
        if self._session is not None:
            self._session.done.wait(0.03)
        elif self._growing is not None:
            self._growing.wait()

    def begin(self) -> None:
        """Sets a run that is ready to work."""
        if self._session is not None:
            self._session.start()

    def finish(self) -> None:
        """Begins and blocks until the run stops. An interrupt ends the run at once and is raised again."""
        try:
            self.begin()
            self.wait()
        except KeyboardInterrupt:
            self.end_now()
            raise

    def end_now(self) -> None:
        """Cancels and waits until all has ended; every further interrupt cancels again, cleanups too."""
        for _ in range(_PATIENCE):
            try:
                self.stop()
                self.wait()
                return
            except KeyboardInterrupt:
                continue

    def wait(self, timeout: float | None = None) -> bool:
        """Blocks until the invocation stops, at most `timeout` seconds; whether it has stopped."""
        if self._session is None:
            return self._grown(timeout)
        stopped = self._session.wait(timeout, self.catch_up)
        self.catch_up()
        if stopped and self._session.error is not None:
            short = short_of(self._session.error)
            if short is not None:
                raise NikaError(f"the run broke off: {short}") from None
            raise self._session.error
        return stopped

    def _grown(self, timeout: float | None) -> bool:
        """The same for an invocation of somebody else's."""
        until = None if timeout is None else time.monotonic() + timeout
        while self.running:
            self.catch_up()
            if until is not None and time.monotonic() >= until:
                return not self.running
            self.pause_a_moment()
        return True

    def stop(self) -> None:
        """Ends what is at work, every process it started included; a run that waits goes on waiting."""
        if self._session is not None:
            self._session.cancel()
        elif self._growing is not None:
            self._growing.cancel()
