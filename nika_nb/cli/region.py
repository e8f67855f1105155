"""A part of a terminal that is painted anew again and again, never higher nor wider than the terminal."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Sequence
from typing import TextIO

_FIRST, _LAST = "\x1b[?2026h", "\x1b[?2026l"  # the terminal shows what stands between as one


def paintable(stream: TextIO) -> bool:
    """Whether it is a terminal that can move its cursor and show our signs."""
    capable = os.environ.get("TERM", "dumb") not in ("", "dumb")
    return capable and stream.isatty() and stream.encoding.lower().startswith("utf")


class Region:
    """The last lines of a terminal. Above them stands what stays.

    A terminal that is made narrower meanwhile may keep a torn row, never lose a line that stays.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._shown: list[str] = []  # as it stands on the screen

    def paint(self, lines: Sequence[str], above: Sequence[str] = ()) -> None:
        """These lines in place of those that stood there; `above` stays. Nothing where nothing changed."""
        if not above and list(lines) == self._shown:
            return
        erased = f"\r\x1b[{len(self._shown)}A\x1b[J" if self._shown else ""
        painted = "".join(f"{line}\n" for line in (*above, *lines))
        self._stream.write(_FIRST + erased + painted + _LAST)
        self._stream.flush()
        self._shown = list(lines)

    def size(self) -> tuple[int, int]:
        """(columns, rows) of the terminal."""
        try:
            size = os.get_terminal_size(self._stream.fileno())
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
