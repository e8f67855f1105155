"""What the first and the last lines of a journal tell, at the same price whatever its size."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from stat import S_ISREG

from nika_nb.catalog.frames import LINE_BOUND, RUN_ENDS
from nika_nb.trace.frame import Frame, decode, link
from nika_nb.trace.reader import is_running
from nika_nb.trace.trace import AFTER_END, State, state_of

_END = 16 << 10  # bytes that nearly always hold the first line of a file, or its last


@dataclass(frozen=True, slots=True)
class Ends:
    """The ends of a journal.

    last: the last whole line; head: its hash. end: the frame that ended the run, if one did. stat: of
    the file before it was read.
    """

    first: Frame
    last: Frame
    head: str
    end: Frame | None
    stat: os.stat_result

    @property
    def virtual(self) -> bool:
        """Whether its clock is none of this world."""
        return bool(self.first.get("clock") == "virtual")

    @property
    def began(self) -> int:
        """When its run began, in unix nanoseconds; of a virtual clock when it was written."""
        return self.stat.st_mtime_ns if self.virtual else self.first.timestamp

    @property
    def stopped(self) -> int:
        """When its last line was written."""
        return self.stat.st_mtime_ns if self.virtual else self.last.timestamp


def ends(path: Path) -> Ends | None:
    """The first and the last lines of a file, at the same price whatever its size; None for no journal."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK)  # to open a pipe would else be to wait
    except OSError:
        return None
    try:
        stat = os.fstat(fd)
        return _ends(fd, stat) if S_ISREG(stat.st_mode) else None
    except (OSError, ValueError):
        return None
    finally:
        os.close(fd)


def _ends(fd: int, stat: os.stat_result) -> Ends:
    """Raises ValueError where the first line is no frame."""
    start = os.pread(fd, _END, 0)
    if b"\n" not in start and len(start) == _END:
        start = os.pread(fd, LINE_BOUND + 1, 0)
    line = start.partition(b"\n")[0]
    first = decode(line, 1)
    final, data, end = _last(fd, stat.st_size, start) or (first, line, None)
    return Ends(first, final, link(data), end, stat)


@dataclass(frozen=True, slots=True)
class Stand:
    """The ends of a journal, and whether its writer lives. pid: its process, where that can be told."""

    ends: Ends
    running: bool = False
    pid: int | None = None

    @property
    def state(self) -> State:
        return state_of(self.ends.end.kind if self.ends.end else None, self.running)


def standing(path: Path) -> Stand | None:
    """Where a journal stands now: what ended between two looks at it has ended, and did not break off."""
    found = ends(path)
    if found is None or found.end is not None:
        return Stand(found) if found else None
    running, pid = is_running(path)
    return Stand(found if running else ends(path) or found, running, pid)


def _last(fd: int, size: int, start: bytes) -> tuple[Frame, bytes, Frame | None] | None:
    """(the last frame, its line, the frame that ended the run); None where no line can be read.

    start: the file's first bytes, of a small one all.
    """
    for reach in (_END, LINE_BOUND + _END):
        found: tuple[Frame, bytes] | None = None
        tail = start[:size] if size <= len(start) else os.pread(fd, reach, max(0, size - reach))
        for line in _backwards(tail):
            frame = _frame(line)
            if frame is None:
                continue
            found = found or (frame, line)
            if frame.kind not in AFTER_END:
                return (*found, frame if frame.kind in RUN_ENDS else None)
        if size <= reach:
            break
    return None


def _backwards(data: bytes) -> Iterator[bytes]:
    """Its lines, the last one first."""
    end = len(data)
    while end:
        start = data.rfind(b"\n", 0, end - 1) + 1
        yield from reversed(data[start:end].splitlines())
        end = start


def _frame(line: bytes) -> Frame | None:
    try:
        return decode(line)
    except ValueError:
        return None
