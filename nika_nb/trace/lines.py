"""The lines of a journal file: bounded, streamed, and read only as far as it reached when opened."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from nika_nb.catalog.frames import FILE_BOUND, LINE_BOUND
from nika_nb.errors import NikaError, UsageError


class TraceUnreadable(NikaError):
    """A file that is no journal, or none that may be opened."""

    exit_code = 3


@dataclass(frozen=True, slots=True)
class Line:
    """One line without its newline.

    number counts from 1, blank lines too. data is empty where size is beyond LINE_BOUND. whole: the
    line ends with a newline. end: the offset of the byte after it.
    """

    number: int
    data: bytes
    size: int
    whole: bool
    end: int

    @property
    def over(self) -> bool:
        return self.size > LINE_BOUND

    @property
    def blank(self) -> bool:
        return not self.over and not self.data.strip()


def open_trace(path: Path) -> BinaryIO:
    """The file, for reading. Raises UsageError where there is none that can be opened."""
    try:
        if path.is_dir():
            raise UsageError(f"{path} is a folder, not a trace: name one of the files in it")
        if not stat.S_ISREG(path.stat().st_mode):
            raise UsageError(f"{path} is no file: a trace is one, and nothing else is read")
        return path.open("rb")
    except FileNotFoundError:
        raise UsageError(f"there is no trace at {path}: look in .nika/traces beside the notebook") from None
    except OSError as error:
        raise UsageError(f"the trace {path} cannot be opened: {error.strerror}") from None
    except ValueError as error:  # a NUL, or half of a surrogate pair
        raise UsageError(f"{path} cannot be a path: {error}") from None


def oversize(stream: BinaryIO) -> int | None:
    """The file's bytes where they are more than a journal may have."""
    size = os.fstat(stream.fileno()).st_size
    return size if size > FILE_BOUND else None


def bounded(path: Path, stream: BinaryIO) -> None:
    """Raises TraceUnreadable for a file that is larger than a journal may be."""
    if size := oversize(stream):
        raise TraceUnreadable(
            f"{path} is {size} bytes, beyond the {FILE_BOUND} bytes of a journal: it was not read"
        )


def lines(stream: BinaryIO, *, offset: int = 0, number: int = 0) -> Iterator[Line]:
    """The lines from an offset on, numbered after `number`, up to the first that has no newline yet."""
    end = offset
    while raw := stream.readline(LINE_BOUND + 2):
        number += 1
        whole = raw.endswith(b"\n")
        size = len(raw) - whole
        data = raw[:-1] if whole else raw
        if size > LINE_BOUND:
            data = b""
            if not whole:
                size, whole = _rest(stream, size)
        end += size + whole
        yield Line(number, data, size, whole, end)
        if not whole:  # whatever comes after was written while this was read
            return


def _rest(stream: BinaryIO, size: int) -> tuple[int, bool]:
    """The whole size of a line that is too long to be held, and whether it ends."""
    while more := stream.readline(LINE_BOUND):
        size += len(more)
        if more.endswith(b"\n"):
            return size - 1, True
    return size, False
