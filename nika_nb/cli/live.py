"""The console of a terminal that can be painted over: lines that stay, and below them what runs now."""

from __future__ import annotations

import sys
import time

from nika_nb.board import text
from nika_nb.board.rows import BUSY, State
from nika_nb.cli import region
from nika_nb.cli.console import Plain
from nika_nb.runs.run import Run

_BETWEEN = 0.1  # seconds: at most ten paintings a second


def paintable() -> bool:
    """Whether standard error is a terminal that can be painted over."""
    return region.paintable(sys.stderr)


class Live(Plain):
    """As the plain console, with a region at the end that is painted anew: the running rows, the meter.

    What settled is printed above the region once.
    """

    def __init__(self, run: Run, *, asks: bool = False) -> None:
        super().__init__(run, asks=asks)
        self._waiting: list[str] = []  # lines that are to stay
        self._screen = region.Region(sys.stderr)
        self._painted = 0.0
        self._frame = 0

    def tell(self, *lines: str) -> None:
        self._waiting += lines

    def tick(self) -> None:
        now = time.monotonic()
        if now - self._painted >= _BETWEEN:
            self._painted = now
            self._frame += 1
            self._paint(self._region())

    def end(self) -> None:
        self._paint([])
        super().end()

    def _paint(self, lines: list[str]) -> None:
        self._screen.paint(lines, self._waiting)
        self._waiting = []

    def _region(self) -> list[str]:
        board = self.run.board
        if not self._opened or board.over:
            return []
        columns, height = self._screen.size()
        now = None if board.virtual else time.time_ns()
        lines = [*self._rows(height - 3, now), text.meter(board, now)]
        return [region.fit(line, columns - 1) for line in lines]

    def _rows(self, most: int, now: int | None) -> list[str]:
        """What runs now, as much of it as there is room for."""
        board = self.run.board
        busy = [row for row in board.tasks if row.state in BUSY]
        glyphs: dict[State, str] = text.UNICODE | {
            "running": text.SPINNER[self._frame // 2 % len(text.SPINNER)]
        }
        shown = busy if len(busy) <= most else busy[: max(0, most - 1)]
        lines = [text.line(row, text.id_width(board), now, glyphs) for row in shown]
        left = len(busy) - len(shown)
        return lines + ([f"  … and {left} more"] if left and most > 0 else [])
