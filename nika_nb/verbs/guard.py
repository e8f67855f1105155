"""The guard: this engine's line to its watcher, so that children die with the engine, however it dies."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import threading
from itertools import count
from pathlib import Path

_CLOSE_SECONDS = 2.0


class Guard:
    """One watcher per run, started with the first child and closed with the run.

    Safe from any thread. In a forked copy of the engine every method does nothing.
    """

    def __init__(self) -> None:
        self._owner = os.getpid()
        self._lock = threading.Lock()
        self._numbers = count(1)
        self._alive: dict[int, list[str]] = {}
        self._watcher: subprocess.Popen[bytes] | None = None
        self._closed = False

    def intend(self, *descriptors: int) -> int:
        """Say that a child is about to start with these output pipes; the number it will go by."""
        number = next(self._numbers)
        inodes = " ".join(str(os.fstat(descriptor).st_ino) for descriptor in descriptors)
        self._note(number, f"intent {number} {inodes}\n")
        return number

    def started(self, number: int, group: int) -> None:
        self._note(number, f"start {number} {group}\n")

    def ended(self, number: int) -> None:
        with self._lock:
            if self._alive.pop(number, None) is not None:
                self._send(f"end {number}\n")

    def close(self) -> None:
        """End the watcher, and with it whatever was still registered."""
        with self._lock:
            self._closed = True
            watcher, self._watcher = self._watcher, None
        if watcher is None or os.getpid() != self._owner or watcher.stdin is None:
            return
        with contextlib.suppress(OSError):
            watcher.stdin.close()
        try:
            watcher.wait(_CLOSE_SECONDS)
        except subprocess.TimeoutExpired:
            watcher.kill()
            watcher.wait()

    def _note(self, number: int, line: str) -> None:
        with self._lock:
            self._alive.setdefault(number, []).append(line)
            self._send(line)

    def _send(self, line: str) -> None:
        if os.getpid() != self._owner or self._closed:
            return
        if self._watcher is None or not _wrote(self._watcher, line):
            self._restart()

    def _restart(self) -> None:
        """Start a watcher and tell it everything that is alive."""
        if self._watcher is not None:
            self._watcher.poll()
        self._watcher = _start()
        if self._watcher is not None:
            _wrote(self._watcher, "".join(line for lines in self._alive.values() for line in lines))


def _wrote(watcher: subprocess.Popen[bytes], text: str) -> bool:
    if watcher.stdin is None:
        return False
    try:
        watcher.stdin.write(text.encode("ascii"))
    except OSError:
        return False
    return True


def _start() -> subprocess.Popen[bytes] | None:
    """A watcher in a session of its own; None where no interpreter can be started."""
    if not sys.executable:
        return None
    program = Path(__file__).with_name("watcher.py")
    command = [sys.executable, "-I", "-S", "-B", str(program), str(os.getpid())]
    try:
        return subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            bufsize=0,
            cwd="/",
            env={},
            start_new_session=True,
        )
    except OSError:
        return None
