"""What stands in a field when a button is clicked: known only once the page has said all it had to say.

A page tells the kernel of one change of a field at a time: while the kernel has not come to it (a cell
runs, the line is slow), what is typed next waits in the page. A click does not wait, and overtakes it. So
the kernel asks for an echo: what the page sends after that was done after the click.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

PATIENCE = 4.0  # seconds after which there will be no echo
MISSED = "The page went away before all of the answer had come. Look at it and send it again."

Action = Callable[[], Any]
Missed = Callable[[str], None]


class Echo:
    """One for all forms of a kernel: two hidden numbers, and a link by which the page keeps them equal."""

    def __init__(self) -> None:
        from ipywidgets import IntText, jsdlink

        self._call, self._answer = IntText(0), IntText(0)
        self._link = jsdlink((self._call, "value"), (self._answer, "value"))
        self._answer.observe(self._heard, "value")
        self._waiting: dict[int, tuple[Action, Missed]] = {}
        self._heard_once = False
        self._turn = threading.Lock()
        self._count = 0

    def then(self, action: Action, missed: Missed) -> None:
        """Does something once the page has echoed; at once where it never does, for it may not know how.

        missed: called instead, with a sentence, where the page has echoed before and does not now.
        """
        with self._turn:
            self._count += 1
            number = self._count
            self._waiting[number] = (action, missed)
        self._call.value = number
        late = threading.Timer(PATIENCE, self._late, (number,))
        late.daemon = True
        late.start()

    def _heard(self, change: Any) -> None:
        self._heard_once = True
        for number in sorted(self._waiting):
            if number <= change["new"] and (waiting := self._waiting.pop(number, None)):
                waiting[0]()

    def _late(self, number: int) -> None:
        waiting = self._waiting.pop(number, None)
        if waiting is None:
            return
        action, missed = waiting
        missed(MISSED) if self._heard_once else action()


_echo: Echo | None = None


def settled(action: Action, missed: Missed) -> None:
    """Does something once all fields are as the page has them; at once where there is no page."""
    from IPython.core.getipython import get_ipython

    global _echo
    if getattr(get_ipython(), "kernel", None) is None:
        action()
        return
    _echo = _echo or Echo()
    _echo.then(action, missed)
