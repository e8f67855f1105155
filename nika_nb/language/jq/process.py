"""One evaluator process: started, asked one thing at a time, and ended from any thread."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from signal import SIGABRT, SIGALRM, SIGBUS, SIGSEGV, Signals

from nika_nb.language.jq.child import HEADER, allowance

_START_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Limits:
    """What one evaluation may use: seconds, bytes of memory, bytes and number of its values.

    One second more is granted for every 16 MiB of input.
    """

    seconds: float = 5.0
    memory: int = 2 << 30
    size: int = 64 << 20
    count: int = 1_000_000


class Gone(Exception):
    """There is no answer: the process could not start or has ended. `reap` says how."""


class Evaluator:
    """A running `child.py`. `ask` and `reap` belong to one thread; `end` may be called from any."""

    def __init__(self, limits: Limits) -> None:
        """Start it. Raises Gone, with a sentence, where that is impossible."""
        self._limits = limits
        self._mutex = threading.Lock()
        self._turn = 0
        self._why = ""
        self._process = _start(limits)

    @property
    def alive(self) -> bool:
        return not self._why and self._process.poll() is None

    def greet(self) -> None:
        """Wait until it is ready: starting does not count as evaluating. Raises Gone."""
        with self._within(_START_SECONDS, f"its process was not ready after {_START_SECONDS:g} s"):
            self._receive()

    def ask(self, program: str, value: bytes) -> tuple[str, bytes]:
        """The kind and the body of its answer. Raises Gone."""
        with self._within(allowance(self._limits.seconds, len(value)), slow(self._limits)):
            self._send(b"p", program.encode("utf-8"))
            self._send(b"i", value)
            return self._receive()

    def end(self, why: str) -> None:
        """Kill it; whoever waits for its answer is told why."""
        with self._mutex:
            self._why = self._why or why
            self._process.kill()

    def reap(self) -> str:
        """Wait for its end and free what it held; a sentence about how it ended."""
        process = self._process
        process.kill()
        last_words = process.stderr.read(1 << 16) if process.stderr else b""
        process.wait()
        with contextlib.suppress(OSError):  # its input may hold what it never read
            process.__exit__(None, None, None)
        return self._why or _verdict(process.returncode, last_words.decode("utf-8", "replace"), self._limits)

    @contextlib.contextmanager
    def _within(self, seconds: float, why: str) -> Iterator[None]:
        """Kill the process when the body takes longer; an end of it becomes a Gone."""
        timer = threading.Timer(seconds, self._expire, (self._next_turn(), why))
        timer.daemon = True
        timer.start()
        try:
            yield
        except (OSError, EOFError):
            raise Gone from None
        finally:
            timer.cancel()
            self._next_turn()

    def _next_turn(self) -> int:
        with self._mutex:
            self._turn += 1
            return self._turn

    def _expire(self, turn: int, why: str) -> None:
        with self._mutex:
            if turn == self._turn:
                self._why = self._why or why
                self._process.kill()

    def _send(self, kind: bytes, body: bytes) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(HEADER.pack(kind, len(body)))
        self._process.stdin.write(body)
        self._process.stdin.flush()

    def _receive(self) -> tuple[str, bytes]:
        kind, length = HEADER.unpack(self._read(HEADER.size))
        return kind.decode("ascii"), self._read(length)

    def _read(self, length: int) -> bytes:
        assert self._process.stdout is not None
        data = self._process.stdout.read(length)
        if len(data) < length:
            raise EOFError
        return data


def slow(limits: Limits) -> str:
    return f"it took longer than {limits.seconds:g} s and was ended · compute less at a time"


def greedy(limits: Limits) -> str:
    return f"it needed more memory than {limits.memory / (1 << 30):g} GiB · compute less at a time"


def _verdict(code: int, last_words: str, limits: Limits) -> str:
    if "memory allocation" in last_words or "MemoryError" in last_words:
        return greedy(limits)
    if code == -SIGALRM:
        return slow(limits)
    if -code in (SIGSEGV, SIGBUS, SIGABRT):
        return f"it crashed its process ({Signals(-code).name}) · nest less deeply"
    if code < 0:
        return f"its process was ended by {Signals(-code).name}"
    tail = last_words.strip().rpartition("\n")[2][:200]
    return f"its process ended with exit code {code}" + (f": {tail}" if tail else "")


def _start(limits: Limits) -> subprocess.Popen[bytes]:
    """A child in a session of its own, so that an interrupt at the keyboard does not reach it."""
    found = find_spec("jaq")
    if found is None or found.origin is None or not sys.executable:
        raise Gone("the package `jaq-rs` is not installed")
    folder = Path(os.path.abspath(found.origin)).parent.parent
    program = Path(__file__).with_name("child.py")
    bounds = map(str, (limits.seconds, limits.memory, limits.size, limits.count))
    try:
        return subprocess.Popen(
            [sys.executable, "-I", "-S", "-B", program, str(os.getpid()), folder, *bounds],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd="/",
            env={},
            start_new_session=True,
        )
    except OSError as error:
        raise Gone(f"its process could not start: {error.strerror}") from None
