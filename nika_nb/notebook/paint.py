"""The painter: one owner folds the events of a run and paints its panel, at most ten times a second."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Protocol

from nika_nb.board.state import Board


class Watched(Protocol):
    """A run as the painter sees it."""

    @property
    def running(self) -> bool: ...

    def catch_up(self) -> Board:
        """The board with everything that happened so far; another one after an answer. From any thread."""
        ...


class Paintable(Protocol):
    def paint(self, board: Board, now: int | None = None) -> None: ...


class Painter:
    """Watches a run and paints a panel, on whichever one thread calls `pump`.

    interval: seconds between two paints. A panel sends only what has changed.
    """

    def __init__(self, run: Watched, panel: Paintable, interval: float = 0.2) -> None:
        self.run = run
        self.panel = panel
        self.interval = interval
        self._painted = 0.0
        self._turn = threading.Lock()

    def step(self, *, force: bool = False) -> None:
        """Take in what is there, and paint when it is time to."""
        with self._turn:
            clock = time.monotonic()
            if force or clock - self._painted >= self.interval:
                self._painted = clock
                self.panel.paint(self.run.catch_up(), time.time_ns())

    def pump(self, interval: float = 0.03) -> None:
        """Paint until the run stops, the last state always. KeyboardInterrupt passes through."""
        pause = threading.Event()
        with interrupts() as pressed:
            while self.run.running:
                pause.wait(interval)
                if pressed.is_set():
                    raise KeyboardInterrupt
                self.step()
        self.step(force=True)


@contextmanager
def interrupts() -> Iterator[threading.Event]:
    """Set once an interrupt came, though what it raised was lost: in a callback of the garbage collector
    Python prints an exception and goes on. Only the main thread hears of interrupts.
    """
    pressed = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield pressed
        return
    before = signal.getsignal(signal.SIGINT)

    def heard(number: int, frame: Any) -> None:
        pressed.set()
        if callable(before):
            before(number, frame)

    signal.signal(signal.SIGINT, heard)
    try:
        yield pressed
    finally:
        signal.signal(signal.SIGINT, before)
