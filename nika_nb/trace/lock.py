"""Who is at work on a trace: a lock of the operating system's that dies with its holder."""

from __future__ import annotations

import fcntl
import os
import time
from pathlib import Path
from types import TracebackType

from nika_nb.errors import ResumeRefused, UsageError

# A look at a lock takes it for microseconds; whoever wants it for long tries a few times.
_TRIES = 20
_PAUSE = 0.01  # seconds between tries
_LOOKS = 3  # at a lock and the table of locks, which may change in between


def claim(fd: int) -> bool:
    """Takes the exclusive lock of an open file for as long as it stays open; False when it is taken."""
    for attempt in range(_TRIES):
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        except BlockingIOError:
            if attempt < _TRIES - 1:
                time.sleep(_PAUSE)
    return False


def holder(path: Path) -> tuple[bool, int | None]:
    """Whether somebody holds the file's lock, and their process id where the system tells it."""
    try:
        fd = os.open(path, os.O_RDONLY)
    except OSError:
        return False, None
    try:
        return _looked(fd)
    except OSError:  # a file system without locks: nobody can hold one
        return False, None
    finally:
        os.close(fd)


def _looked(fd: int) -> tuple[bool, int | None]:
    """As `holder`. A lock that is given back while its holder is looked for is looked at again."""
    for _ in range(_LOOKS):
        try:
            fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
            return False, None
        except BlockingIOError:
            pid = _locker(os.fstat(fd))
        if pid is not None:
            return True, pid
    return True, None


def _locker(stat: os.stat_result) -> int | None:
    """The process that locked this file by /proc/locks, None where there is none to read."""
    try:
        table = Path("/proc/locks").read_text(encoding="ascii", errors="replace")
    except OSError:
        return None
    device = f"{os.major(stat.st_dev):02x}:{os.minor(stat.st_dev):02x}"
    exact: list[int] = []
    by_inode: list[int] = []
    for row in table.splitlines():
        words = row.split()
        if len(words) < 6 or words[1] != "FLOCK" or not words[4].isdecimal() or words[4] == "0":
            continue
        place, _, inode = words[5].rpartition(":")
        if inode == str(stat.st_ino):
            (exact if place == device else by_inode).append(int(words[4]))
    # Some file systems show another device number here than stat() does.
    found = exact or by_inode
    return found[0] if len(found) == 1 else None


class ResumeLock:
    """The right to resume one trace: one holder at a time, in any process or thread of this machine.

    A context manager. Raises ResumeRefused naming the winner when the trace is taken already.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._fd: int | None = None

    def __enter__(self) -> ResumeLock:
        try:
            fd = os.open(self.path, os.O_RDONLY)
        except OSError as error:
            raise UsageError(f"{self.path} cannot be resumed: {error.strerror}") from None
        if not claim(fd):
            os.close(fd)
            raise ResumeRefused(busy(self.path, holder(self.path)[1]))
        self._fd = fd
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()

    def release(self) -> None:
        """Gives the right back; harmless when it is not held."""
        fd, self._fd = self._fd, None
        if fd is not None:
            os.close(fd)


def busy(path: Path, pid: int | None) -> str:
    """The sentence for whoever came second."""
    who = "another thread of this process" if pid == os.getpid() else f"process {pid}"
    who = who if pid else "another process"
    return (
        f"{path.name} is being worked on by {who}: nothing was run and nothing was consumed. "
        "Try again when it has stopped"
    )
