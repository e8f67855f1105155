"""The single writer of a journal: one file per invocation, one chained line per event."""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from nika_nb.catalog.frames import FILE_BOUND, RUN_ENDS, TASK_ENDS
from nika_nb.engine.events import Event
from nika_nb.files import no_folder
from nika_nb.trace.chain import Chain
from nika_nb.trace.folder import shown
from nika_nb.trace.lock import claim, let_go

_NAMESAKES = 1000  # seeded runs start with the same id: how many may lie in one folder
_MOST_HELD = 64 << 20  # bytes of lines that wait for room on the disk
_NAMED = 5  # tasks that a sentence names


@dataclass(frozen=True, slots=True)
class _Line:
    """A line that is not in the file yet, and the event it holds."""

    event: Event
    data: bytes


class Journal:
    """A sink for events, to be handed to an engine as it is: `Journal(folder, run=…)`.

    folder: where the file is created, with its parents, at the first event. run: this invocation's
    id; correlation: the durable run's. durability: `process` (every line reaches the system at
    once, the disk at every stop) or `disk` (the disk after every settled task as well).

    path: the file, None before its first line. size: its bytes. trouble: why the file does not tell
    all that happened, in a few words, None while it does. Nothing here raises, and no trouble
    reaches the run: what cannot be written now waits, in order, and is tried again with every later
    event and at the end. The file never holds half a line of it.
    """

    def __init__(
        self,
        folder: Path,
        *,
        run: str | None = None,
        correlation: str | None = None,
        durability: str = "process",
    ) -> None:
        self.folder = folder
        self.path: Path | None = None
        self.size = 0
        self._chain = Chain(run, correlation)
        self._sync_kinds = RUN_ENDS | TASK_ENDS if durability == "disk" else RUN_ENDS
        self._held: deque[_Line] = deque()
        self._waiting = 0  # bytes of what is held
        self.trouble: str | None = None
        self._retired = False
        self._dropped = 0  # lines that were taken and will never be written
        self._lost: list[str] = []  # tasks that ended well and that the file does not tell of
        self._fd: int | None = None
        self._whole = True  # the file ends with a newline
        self._synced = True
        self._closed = False
        self._turn = threading.Lock()

    @property
    def head(self) -> str | None:
        """The hash of the last line, None before the first; of one that waits where any does."""
        return self._chain.head

    @property
    def events(self) -> int:
        """How many lines there are, those that wait included."""
        return self._chain.events

    @property
    def written(self) -> int:
        """How many lines are in the file."""
        return self._chain.events - len(self._held) - self._dropped

    @property
    def retired(self) -> bool:
        """Whether nothing will be written any more: the file ends where it ends."""
        return self._retired

    @property
    def error(self) -> str | None:
        """What is wrong, in a sentence; None while the file holds all that happened."""
        with self._turn:
            if self.trouble is None:
                return None
            where = shown(self.path or self.folder)
            ends = f"journal {where} ends after {self.written} events: {self.trouble}"
            return f"{ends} — the run itself is unaffected{self._untold()}"

    def _untold(self) -> str:
        lost = [*self._lost, *(_ended_well(line.event) for line in self._held)]
        names = list(dict.fromkeys(f"`{name}`" for name in lost if name))
        if not names:
            return ""
        more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
        return f". What it does not tell of runs again on a resume: {', '.join(names[:_NAMED])}{more}"

    def __call__(self, event: Event) -> None:
        """Writes the event, in pages when it is large; live-only events are not written."""
        with self._turn:
            if self._closed:
                return
            try:
                self._take(event)
            except Exception as error:  # noqa: BLE001 - no trouble of the journal's may reach the run
                self._retire(error)
            finally:
                self._mend()

    def close(self) -> None:
        """Brings everything to the disk and lets the file's lock go; may be called twice."""
        with self._turn:
            self._closed = True
            self._finish()

    def complete(self) -> bool:
        """Tries once more to write what waits, after `close` too; whether the file now tells all."""
        with self._turn:
            if self._held and not self._retired:
                self._finish()
            return self.trouble is None

    # -- a line ----------------------------------------------------------------------------

    def _take(self, event: Event) -> None:
        if self._retired:
            self._lost.append(_ended_well(event))
            return
        for part, data in self._chain.lines(event):
            self._hold(_Line(part, data))
            self._write()
        if event.kind in self._sync_kinds and not self._held:
            self._sync()

    def _hold(self, line: _Line) -> None:
        self._held.append(line)
        self._waiting += len(line.data) + 1
        if self.size + self._waiting > FILE_BOUND:
            raise OSError(f"it would grow beyond {FILE_BOUND >> 20} MiB")
        if self._waiting > _MOST_HELD:
            raise OSError(f"{self.trouble}, for too long")

    def _write(self) -> None:
        """Writes what is held as far as there is room for it."""
        try:
            while self._held:
                if self._fd is None:
                    self._open()
                self._append(self._held[0].data)
                self._waiting -= len(self._held.popleft().data) + 1
        except OSError as error:
            amiss = no_folder(self.folder) if self.path is None else None
            self.trouble = str(amiss) if amiss is not None else _why(error)
            self._mend()
        else:
            self.trouble = None

    def _append(self, line: bytes) -> None:
        assert self._fd is not None
        left = memoryview(line + b"\n")
        self._whole, self._synced = False, False
        while left:
            left = left[os.write(self._fd, left) :]
        self._whole = True
        self.size += len(line) + 1

    def _mend(self) -> None:
        """Takes half a line back; without its first line a file is none."""
        if self._whole or self._fd is None:
            return
        try:
            os.ftruncate(self._fd, self.size)
            self._whole = True
            if not self.size and self.path is not None:
                self.path.unlink()
                self._release()
                self.path = None
        except OSError as error:
            self._retire(error)

    # -- the file --------------------------------------------------------------------------

    def _open(self) -> None:
        """Makes the file for the first line that waits, or opens it where it had been closed."""
        if self.path is not None:
            self._reopen(self.path)
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        for name in _names(self._held[0].event):
            try:
                flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND
                self._fd = os.open(self.folder / name, flags, 0o600)
            except FileExistsError:
                continue
            _lock(self._fd)
            if os.fstat(self._fd).st_nlink:
                self.path = self.folder / name
                return
            self._release()  # whoever tidied up saw an empty file that nobody held yet
        raise FileExistsError(f"{self.folder} holds too many traces of this name")

    def _reopen(self, path: Path) -> None:
        self._fd = os.open(path, os.O_WRONLY | os.O_APPEND)
        if not _lock(self._fd) or os.fstat(self._fd).st_size != self.size:
            self._release()
            raise OSError("somebody else is at work on it")

    def _finish(self) -> None:
        """The last try, to the disk; the lock goes with the file."""
        if self._retired:
            return
        try:
            self._write()
            self._sync()
            self._still_there()
        except OSError as error:
            self._retire(error)
        self._release()

    def _sync(self) -> None:
        if self._fd is not None and not self._synced:
            os.fsync(self._fd)
            self._synced = True

    def _still_there(self) -> None:
        """Raises OSError where nobody can find what was written."""
        if self._fd is None or self.path is None:
            return
        try:
            same = os.path.samestat(os.fstat(self._fd), os.stat(self.path))
        except FileNotFoundError:
            same = False
        if not same:
            raise OSError("the file was removed or moved while the run was at work")

    def _retire(self, error: BaseException) -> None:
        self.trouble, self._retired = _why(error), True
        self._lost += [_ended_well(line.event) for line in self._held]
        self._dropped += len(self._held)
        self._held.clear()
        self._release()

    def _release(self) -> None:
        fd, self._fd = self._fd, None
        let_go(fd)


def _why(error: BaseException) -> str:
    return error.strerror if isinstance(error, OSError) and error.strerror else str(error)


def _ended_well(event: Event) -> str:
    """The task that an event says has ended well; empty for any other."""
    return str(event.get("task")) if event.kind == "task_completed" else ""


def _lock(fd: int) -> bool:
    """Whether nobody else holds it."""
    # Readers see by the lock that the writer lives; a file system without locks only loses that.
    try:
        return claim(fd)
    except OSError:
        return True


def _names(first: Event) -> Iterator[str]:
    stamp = datetime.fromtimestamp(first.at // 10**9, UTC).strftime("%Y-%m-%dT%H-%M-%SZ")
    digits = first.id.replace("-", "") or "0" * 32
    yield f"{stamp}-{digits[-4:]}.ndjson"
    yield f"{stamp}-{digits}.ndjson"
    for n in range(2, _NAMESAKES):
        yield f"{stamp}-{digits}-{n}.ndjson"
