"""Who is at work on a trace: a lock of the operating system's that dies with its holder."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import TracebackType

from nika_nb.errors import ResumeRefused, UsageError

# A look at a lock takes it for microseconds; whoever wants it for long tries a few times.
_TRIES = 20
_PAUSE = 0.01  # seconds between tries
_LOOKS = 3  # at a lock and the table of locks, which may change in between

# A process that was killed while it started a program leaves its locks to the half-started one, which
# drops them as it becomes that program: seconds at the very most, on a machine that is busy.
_DYING = 10.0


_held: set[int] = set()  # descriptors that hold a lock


def claim(fd: int) -> bool:
    """Takes the exclusive lock of an open file until `let_go`; False when it is taken."""
    tries, until = _TRIES, time.monotonic() + _DYING
    while tries > 0 or (time.monotonic() < until and _left_behind(fd)):
        if _taken(fd):
            return True
        tries -= 1
        time.sleep(_PAUSE)
    return _taken(fd)  # it may have been given back while its holder was looked for


def _taken(fd: int) -> bool:
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    _held.add(fd)
    return True


def let_go(fd: int | None) -> None:
    """Closes a file, where there is one, and gives its lock back where it had been taken."""
    if fd is not None:
        _held.discard(fd)
        os.close(fd)


def _disinherit() -> None:
    # A forked process is no holder: it would keep the lock of one that was killed for as long as it lives.
    # The descriptors stay taken, for whoever knows their numbers.
    nowhere = os.open(os.devnull, os.O_RDWR)
    for fd in _held:
        os.dup2(nowhere, fd, inheritable=False)
    _held.clear()
    os.close(nowhere)


os.register_at_fork(after_in_child=_disinherit)


def _left_behind(fd: int) -> bool:
    """Whether the process that took the lock is gone."""
    pid = _locker(os.fstat(fd))
    return pid is not None and not _lives(pid)


def holder(path: Path) -> tuple[bool, int | None]:
    """Whether somebody holds the file's lock, and their process id where the system tells it.

    Whoever is gone holds nothing.
    """
    try:
        fd = os.open(path, os.O_RDONLY)
    except (OSError, ValueError):
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
            return (True, pid) if _lives(pid) else (False, None)
    return True, None


def _lives(pid: int) -> bool:
    """Whether a process of the table of locks still works; one that was not waited for yet does not."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace")
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] not in ("Z", "X")


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
        let_go(fd)


class Turn:
    """The right to do one thing, by a file that is there for this alone and goes with its holder.

    A context manager. Whoever comes second raises what `refusal` makes of the holder's process id. What a
    killed holder left is taken over. Where no file can be made it gives the right to everybody: neither
    could what they do be recorded there.
    """

    def __init__(self, path: Path, refusal: Callable[[int | None], Exception]) -> None:
        self.path = path
        self._refusal = refusal
        self._fd: int | None = None

    def __enter__(self) -> Turn:
        with suppress(OSError):
            for _ in range(_TRIES):
                if self._fd is None:
                    self._take()
        return self

    def _take(self) -> None:
        """Leaves it where whoever stopped just then took the file away, or its folder."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with suppress(FileNotFoundError):
            fd = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            if not claim(fd):
                os.close(fd)
                raise self._refusal(holder(self.path)[1])
            if self._still(fd):
                self._fd = fd
            else:
                let_go(fd)

    def _still(self, fd: int) -> bool:
        try:
            return os.path.samestat(os.fstat(fd), os.stat(self.path))
        except FileNotFoundError:
            return False

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        fd, self._fd = self._fd, None
        if fd is not None:
            with suppress(OSError):
                self.path.unlink()
            let_go(fd)


def busy(path: Path, pid: int | None) -> str:
    """The sentence for whoever came second."""
    who = "another thread of this process" if pid == os.getpid() else f"process {pid}"
    who = who if pid else "another process"
    return (
        f"{path.name} is being worked on by {who}: nothing was run and nothing was consumed. "
        "Try again when it has stopped"
    )
