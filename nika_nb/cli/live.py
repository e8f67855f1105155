"""The console of a terminal that can be painted over: lines that stay, and below them what runs now."""

from __future__ import annotations

import os
import sys
import time
import unicodedata

from nika_nb.board import text
from nika_nb.board.rows import BUSY, State
from nika_nb.cli.console import Plain
from nika_nb.runs.run import Run

_BETWEEN = 0.1  # seconds: at most ten paintings a second
_FIRST, _LAST = "\x1b[?2026h", "\x1b[?2026l"  # the terminal shows what stands between as one


def paintable() -> bool:
    """Whether standard error is a terminal that can move its cursor and show our signs."""
    capable = os.environ.get("TERM", "dumb") not in ("", "dumb")
    return capable and sys.stderr.isatty() and sys.stderr.encoding.lower().startswith("utf")


class Live(Plain):
    """As the plain console, with a region at the end that is painted anew: the running rows, the meter.

    The region is never higher nor wider than the terminal; what settled is printed above it once. A
    terminal that is made narrower meanwhile may keep a torn row, never lose a line that stays.
    """

    def __init__(self, run: Run, *, asks: bool = False) -> None:
        super().__init__(run, asks=asks)
        self._waiting: list[str] = []  # lines that are to stay
        self._shown: list[str] = []  # the region as it stands on the screen
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

    def _paint(self, region: list[str]) -> None:
        if not self._waiting and region == self._shown:
            return
        lines = [*self._waiting, *region]
        erased = f"\r\x1b[{len(self._shown)}A\x1b[J" if self._shown else ""
        sys.stderr.write(_FIRST + erased + "".join(f"{line}\n" for line in lines) + _LAST)
        sys.stderr.flush()
        self._waiting, self._shown = [], region

    def _region(self) -> list[str]:
        board = self.run.board
        if not self._opened or board.over:
            return []
        columns, height = _size()
        now = None if board.virtual else time.time_ns()
        lines = [*self._rows(height - 3, now), text.meter(board, now)]
        return [fit(line, columns - 1) for line in lines]

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


def _size() -> tuple[int, int]:
    """(columns, rows) of the terminal."""
    try:
        size = os.get_terminal_size(sys.stderr.fileno())
    except OSError:
        return 80, 24
    return size.columns or 80, size.lines or 24


def width(line: str) -> int:
    """The columns that a line takes."""
    return sum(map(_cells, line))


def fit(line: str, columns: int) -> str:
    """The line in at most so many columns, the cut marked by an ellipsis."""
    if width(line) <= columns:
        return line
    kept, taken = "", 0
    for sign in line:
        taken += _cells(sign)
        if taken > columns - 1:
            break
        kept += sign
    return f"{kept}…" if columns > 0 else ""


def _cells(sign: str) -> int:
    if unicodedata.combining(sign) or unicodedata.category(sign) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(sign) in ("W", "F") else 1
