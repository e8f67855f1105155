"""What stands in a field when a button is clicked: known only once the page has said all it had to say.

A page tells the kernel of one change of a field at a time: while the kernel has not come to it (a cell
runs, the line is slow), what is typed next waits in the page. A click does not wait, and overtakes it. So
the kernel asks the field for an echo: what the page sends after that was done after the click. No other
widget could give it, for a kernel may hear two widgets at the same time, each in a thread of its own.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial
from typing import Any

from nika_nb.notebook.closing import close

PATIENCE = 4.0  # seconds after which there will be no echo
MISSED = "The page went away before all had come that was put in there. Look at it and click again."

Action = Callable[[], Any]
Missed = Callable[[str], None]

_heard_once = False  # whether this kernel's page knows how to


def has_page() -> bool:
    """Whether there is anybody to ask: not in a plain shell."""
    from IPython.core.getipython import get_ipython

    return getattr(get_ipython(), "kernel", None) is not None


def cell_at_work() -> bool:
    """Whether a cell runs. Where no other thread hears a page, an echo has to wait until it has ended."""
    from IPython.core.getipython import get_ipython

    trap = getattr(get_ipython(), "display_trap", None)
    return bool(getattr(trap, "is_active", False))


class Echoes:
    """Of the fields that a click acts on: one after the other, for what comes of one may change the next."""

    def __init__(self, *fields: Any) -> None:
        self._fields = fields
        self._echoes: list[Echo] = []

    def then(self, action: Action, missed: Missed) -> None:
        """Does something once the page has told all that stands in them; at once where there is no page.

        missed: called instead, with a sentence, where the page has gone.
        """
        if has_page():
            self._echoes = self._echoes or [Echo(field) for field in self._fields]
        for echo in reversed(self._echoes):
            action = partial(echo.then, action, missed)
        action()

    def close(self) -> None:
        """The fields go from the page."""
        close(*(echo.link for echo in self._echoes))


class Echo:
    """Of one field: two hidden numbers of it, and a link by which the page keeps them equal."""

    def __init__(self, field: Any) -> None:
        from ipywidgets import jsdlink
        from traitlets import Int

        field.add_traits(asked=Int(0).tag(sync=True), echoed=Int(0).tag(sync=True))
        self.link = jsdlink((field, "asked"), (field, "echoed"))
        field.observe(self._heard, "echoed")
        self._field = field
        self._waiting: dict[int, tuple[Action, Missed]] = {}

    def then(self, action: Action, missed: Missed) -> None:
        """Does something once the page has echoed; after a while, where it never has: it may not know how.

        missed: called instead, with a sentence, where the page has echoed before and does not now.
        """
        number = self._field.asked + 1
        self._waiting[number] = (action, missed)
        self._field.asked = number
        self._wait(number)

    def _wait(self, number: int, worked: bool = False) -> None:
        late = threading.Timer(PATIENCE, self._late, (number, worked))
        late.daemon = True
        late.start()

    def _heard(self, change: Any) -> None:
        global _heard_once
        _heard_once = True
        waiting = self._waiting.pop(change["new"], None)
        if waiting is not None:
            waiting[0]()

    def _late(self, number: int, worked: bool) -> None:
        """worked: whether a cell did when it was looked last; its end leaves as much time as there was."""
        works = cell_at_work()
        if number in self._waiting and (works or worked):
            self._wait(number, works)
            return
        waiting = self._waiting.pop(number, None)
        if waiting is None:
            return
        action, missed = waiting
        missed(MISSED) if _heard_once else action()
