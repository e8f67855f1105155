"""A real pseudo-terminal with a command in it, and what its screen shows."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
import time
import unicodedata
from pathlib import Path

from tests.doors import PATIENCE, command, environment

INTERRUPT = "\x03"
END_OF_INPUT = "\x04"

_CODE = re.compile(r"\x1b\[(\??)([0-9;]*)([A-Za-z])")


class Screen:
    """What a terminal of so many columns shows, line by line, lines that scrolled away included."""

    def __init__(self, columns: int) -> None:
        self.columns = columns
        self.rows: list[list[str]] = [[]]
        self.row = self.column = 0

    def feed(self, text: str) -> None:
        at = 0
        while at < len(text):
            code = _CODE.match(text, at)
            if code:
                self._obey(code[1], code[2], code[3])
                at = code.end()
            else:
                self._put(text[at])
                at += 1

    def _obey(self, private: str, numbers: str, letter: str) -> None:
        if private:
            return
        if letter == "A":
            assert int(numbers or 1) <= self.row, "the cursor would leave the top"
            self.row -= int(numbers or 1)
        elif letter == "J":
            del self.rows[self.row + 1 :]
            del self.rows[self.row][self.column :]
        else:
            raise AssertionError(f"a sequence that this terminal does not know: {numbers}{letter}")

    def _put(self, sign: str) -> None:
        if sign == "\r":
            self.column = 0
        elif sign == "\n":
            self._down()
        elif sign >= " ":
            wide = 2 if unicodedata.east_asian_width(sign) in ("W", "F") else 1
            if self.column + wide > self.columns:
                self.column = 0
                self._down()
            line = self.rows[self.row]
            line += " " * (self.column - len(line))
            line[self.column : self.column + wide] = [sign, *[""] * (wide - 1)]
            self.column += wide

    def _down(self) -> None:
        self.row += 1
        if self.row == len(self.rows):
            self.rows.append([])

    @property
    def lines(self) -> list[str]:
        return ["".join(row).rstrip() for row in self.rows]

    @property
    def text(self) -> str:
        return "\n".join(self.lines)


class Sitting:
    """`nika-nb` in a terminal of its own. `expect` waits for text, `type` writes it."""

    def __init__(self, *words: str | Path, cwd: Path, columns: int = 100, rows: int = 30, **env: str) -> None:
        self.said = ""
        self.screen = Screen(columns)
        self._seen = 0
        self.code: int | None = None
        argv, environ = command(*words), environment(**{"TERM": "xterm", "PYTHONUTF8": "1"} | env)
        self.pid, self._fd = pty.fork()
        if self.pid == 0:
            try:
                os.chdir(cwd)
                os.execve(argv[0], argv, environ)
            finally:
                os._exit(127)
        self.resize(columns, rows)

    def resize(self, columns: int, rows: int) -> None:
        fcntl.ioctl(self._fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def type(self, text: str) -> None:
        os.write(self._fd, text.encode("utf-8"))

    def signal(self, number: signal.Signals) -> None:
        os.kill(self.pid, number)

    def expect(self, text: str) -> None:
        """Waits until the text comes, from where the last expectation ended."""
        until = time.monotonic() + PATIENCE
        while text not in self.said[self._seen :]:
            assert self._read(until), f"{text!r} did not come; it said:\n{self.said}"
        self._seen = self.said.index(text, self._seen) + len(text)

    def end(self) -> int:
        """The exit code."""
        until = time.monotonic() + PATIENCE
        while self._read(until):
            pass
        _, status = os.waitpid(self.pid, 0)
        os.close(self._fd)
        self.code = os.waitstatus_to_exitcode(status)
        return self.code

    def _read(self, until: float) -> bool:
        ready, _, _ = select.select([self._fd], [], [], max(0.0, until - time.monotonic()))
        try:
            data = os.read(self._fd, 1 << 16) if ready else b""
        except OSError:  # Linux says so when the other side has closed
            return False
        text = data.decode("utf-8", "replace")
        self.said += text
        self.screen.feed(text)
        return bool(text)
