"""The single writer of a journal: one file per invocation, one chained line per event."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from nika_nb.catalog.frames import FILE_BOUND, RUN_ENDS, TASK_ENDS
from nika_nb.engine.events import Event
from nika_nb.trace.chain import Chain
from nika_nb.trace.lock import claim

_NAMESAKES = 1000  # seeded runs start with the same id: how many may lie in one folder


class Journal:
    """A sink for events, to be handed to an engine as it is: `Journal(folder, run=…)`.

    folder: where the file is created, with its parents, at the first event. run: this invocation's
    id; correlation: the durable run's. durability: `process` (every line reaches the system at
    once, the disk at every stop) or `disk` (the disk after every settled task as well).

    path: the file, None before the first event. size: its bytes. Nothing here raises: trouble
    retires the journal, `error` holds the sentence, the run goes on.
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
        self.error: str | None = None
        self._chain = Chain(run, correlation)
        self._sync_kinds = RUN_ENDS | TASK_ENDS if durability == "disk" else RUN_ENDS
        self._fd: int | None = None
        self._whole = True  # the file ends with a newline
        self._synced = True
        self._closed = False
        self._turn = threading.Lock()

    @property
    def head(self) -> str | None:
        """The hash of the last written line, None before the first."""
        return self._chain.head

    @property
    def events(self) -> int:
        """How many lines were written."""
        return self._chain.events

    def __call__(self, event: Event) -> None:
        """Writes the event, in pages when it is large; live-only events are not written."""
        with self._turn:
            if self._closed or self.error:
                return
            try:
                self._write(event)
            except Exception as error:  # noqa: BLE001 - no trouble of the journal's may reach the run
                self._retire(error)
            finally:
                if not self._whole and not self.error:
                    self._retire(InterruptedError("it was interrupted in the middle of a line"))

    def close(self) -> None:
        """Brings everything to the disk and lets the file's lock go; may be called twice."""
        with self._turn:
            self._closed = True
            try:
                self._sync()
                self._still_there()
            except OSError as error:
                self._retire(error)
            self._release()

    def _write(self, event: Event) -> None:
        for part, line in self._chain.lines(event):
            if self.size + len(line) + 1 > FILE_BOUND:
                raise OSError(f"it would grow beyond {FILE_BOUND >> 20} MiB")
            if self.path is None:
                self._open(part)
            self._append(line)
        if event.kind in self._sync_kinds:
            self._sync()

    def _open(self, first: Event) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        for name in _names(first):
            try:
                flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND
                self._fd = os.open(self.folder / name, flags, 0o600)
            except FileExistsError:
                continue
            self.path = self.folder / name
            _lock(self._fd)
            return
        raise FileExistsError(f"{self.folder} holds too many traces of this name")

    def _append(self, line: bytes) -> None:
        assert self._fd is not None
        left = memoryview(line + b"\n")
        self._whole, self._synced = False, False
        while left:
            left = left[os.write(self._fd, left) :]
        self._whole = True
        self.size += len(line) + 1

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
        why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        where = self.path or self.folder
        self.error = f"journal {where} ends after {self.events} events: {why} — the run itself is unaffected"
        self._release()

    def _release(self) -> None:
        fd, self._fd = self._fd, None
        if fd is not None:
            os.close(fd)


def _lock(fd: int) -> None:
    # Readers see by the lock that the writer lives; a file system without locks only loses that.
    try:
        claim(fd)
    except OSError:
        return


def _names(first: Event) -> Iterator[str]:
    stamp = datetime.fromtimestamp(first.at // 10**9, UTC).strftime("%Y-%m-%dT%H-%M-%SZ")
    digits = first.id.replace("-", "") or "0" * 32
    yield f"{stamp}-{digits[-4:]}.ndjson"
    yield f"{stamp}-{digits}.ndjson"
    for n in range(2, _NAMESAKES):
        yield f"{stamp}-{digits}-{n}.ndjson"
