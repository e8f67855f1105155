"""The painter: one owner folds the events of a run and paints its panel, at most five times a second."""

from __future__ import annotations

import threading
import time
from typing import Protocol

from nika_nb.board.state import Board
from nika_nb.interrupts import interrupts


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

    interval: seconds from one paint to the next. A panel sends only what has changed.
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
            if force or time.monotonic() - self._painted >= self.interval:
                self.panel.paint(self.run.catch_up(), time.time_ns())
                self._painted = time.monotonic()  # behind it, so that a slow one is followed by no quick one

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
