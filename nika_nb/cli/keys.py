"""Keys as they are pressed on a terminal, without a newline behind them."""

from __future__ import annotations

import os
import re
import select
import signal
import sys
import termios
import tty
from types import TracebackType
from typing import Any

LEFT, RIGHT, UP, DOWN, HOME, END = "left", "right", "up", "down", "home", "end"
CLOSED = "closed"  # nobody can press a key any more

_NAMED = {
    "\x1b[A": UP, "\x1b[B": DOWN, "\x1b[C": RIGHT, "\x1b[D": LEFT, "\x1b[H": HOME, "\x1b[F": END,
    "\x1bOA": UP, "\x1bOB": DOWN, "\x1bOC": RIGHT, "\x1bOD": LEFT, "\x1bOH": HOME, "\x1bOF": END,
    "\x1b[1~": HOME, "\x1b[4~": END,
}  # fmt: skip
_KEY = re.compile(r"\x1b(?:\[[0-9;]*[A-Za-z~]|O[A-Za-z])|.", re.DOTALL)


class Keys:
    """Inside `with`, standard input gives single keys; behind it the terminal is as it was.

    A request to end raises SystemExit there, so that the terminal is given back then as well.
    """

    def __init__(self) -> None:
        self._fd = sys.stdin.fileno()
        self._before: list[Any] = []
        self._ending: Any = None

    def __enter__(self) -> Keys:
        self._ending = signal.signal(signal.SIGTERM, _end)
        self._before = termios.tcgetattr(self._fd)
        tty.setcbreak(self._fd)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        termios.tcsetattr(self._fd, termios.TCSADRAIN, self._before)
        signal.signal(signal.SIGTERM, self._ending)

    def pressed(self, seconds: float | None) -> list[str]:
        """The keys that were pressed by now; waits at most so long (None: as long as it takes) for the first.

        A letter as itself, the others by the names above.
        """
        ready, _, _ = select.select([self._fd], [], [], seconds)
        if not ready:
            return []
        data = os.read(self._fd, 1024)
        if not data:
            return [CLOSED]
        return [_NAMED.get(key, key) for key in _KEY.findall(data.decode("utf-8", "replace"))]


def _end(number: int, _: object) -> None:
    raise SystemExit(128 + number)
