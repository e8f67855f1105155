"""The painter: one owner, the last state always, an interrupt felt at once."""

from __future__ import annotations

import signal
import sys
from collections import deque

import pytest

from nika_nb.board.state import Board
from nika_nb.engine.events import Event
from nika_nb.notebook.paint import Painter
from tests.board.scripted import resume


class Feed:
    """A run to which so many events happen between two looks, and that stops after the last."""

    def __init__(self, events: list[Event], at_once: int = 1) -> None:
        self.waiting = deque(events)
        self.at_once = at_once
        self.happened: list[Event] = []
        self.board = Board()
        self.late: list[Event] = []

    @property
    def running(self) -> bool:
        goes_on = bool(self.waiting)
        self.happened += [self.waiting.popleft() for _ in range(min(self.at_once, len(self.waiting)))]
        return goes_on

    def catch_up(self) -> Board:
        for event in (*self.happened, *([] if self.waiting else self.late)):
            self.board.apply(event)
        self.happened = []
        return self.board


class Canvas:
    """Remembers what it was asked to paint."""

    def __init__(self) -> None:
        self.states: list[tuple[str, int]] = []

    def paint(self, board: Board, now: int | None = None) -> None:
        self.states.append((board.state, board.done))


def test_the_last_state_is_always_painted() -> None:
    """However few paints there were, the final one shows the end."""
    feed, canvas = Feed(resume().events, at_once=100), Canvas()
    Painter(feed, canvas, interval=3600).pump(0.001)
    assert canvas.states[-1] == ("completed", 4)


def test_what_comes_after_the_run_stopped_is_painted_too() -> None:
    """The run may stop between two looks with its last events still in the queue."""
    events = resume().events
    feed, canvas = Feed(events[:-2]), Canvas()
    feed.late = list(events[-2:])
    Painter(feed, canvas).pump(0.001)
    assert canvas.states[-1] == ("completed", 4)


def test_many_events_are_few_paints() -> None:
    """Events coalesce: what is painted is a state, not a history."""
    feed, canvas = Feed(resume().events), Canvas()
    Painter(feed, canvas, interval=3600).pump(0.0001)
    assert len(canvas.states) <= 2


def test_a_paint_that_took_long_is_followed_by_no_quick_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """The pace is kept from what was sent to what is sent next."""
    clock = 0.0

    class Slow(Canvas):
        """Takes 0.15 seconds."""

        def paint(self, board: Board, now: int | None = None) -> None:
            nonlocal clock
            clock += 0.15
            super().paint(board, now)

    monkeypatch.setattr("nika_nb.notebook.paint.time.monotonic", lambda: clock)
    canvas = Slow()
    painter = Painter(Feed(resume().events), canvas, interval=0.2)
    painter.step(force=True)
    for wait, painted in ((0.1, 1), (0.09, 1), (0.02, 2)):
        clock += wait
        painter.step()
        assert len(canvas.states) == painted


def test_an_interrupt_that_was_lost_is_felt_all_the_same() -> None:
    """Python swallows what is raised while something is collected; the next look makes up for it."""
    feed = Feed(resume().events)

    class Lost:
        """Is interrupted while it is collected."""

        def __del__(self) -> None:
            signal.raise_signal(signal.SIGINT)

    def caught(_: object) -> None:
        """What Python would print of it."""

    def looked() -> Board:
        Lost()
        return Board()

    hook, sys.unraisablehook = sys.unraisablehook, caught
    before = signal.getsignal(signal.SIGINT)
    try:
        feed.catch_up = looked  # type: ignore[method-assign]
        with pytest.raises(KeyboardInterrupt):
            Painter(feed, Canvas()).pump(0.001)
    finally:
        sys.unraisablehook = hook
    assert signal.getsignal(signal.SIGINT) is before


def test_an_interrupt_goes_through(monkeypatch: pytest.MonkeyPatch) -> None:
    """The caller decides what an interrupt means; the painter swallows none."""
    feed = Feed(resume().events)

    def interrupted() -> Board:
        raise KeyboardInterrupt

    monkeypatch.setattr(feed, "catch_up", interrupted)
    with pytest.raises(KeyboardInterrupt):
        Painter(feed, Canvas()).pump(0.001)
