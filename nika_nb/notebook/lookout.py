"""The lookout: sees that a question which stands open here was answered somewhere else."""

from __future__ import annotations

import threading
from typing import Protocol

from nika_nb.notebook.shown import thread

EVERY = 1.0  # seconds between looks
_UNSURE = 2  # looks after a change in which another one may not show


class Open(Protocol):
    """Questions that stand open on a page."""

    def stamp(self) -> tuple[int, ...]:
        """Figures that change when somebody answers them. Cheap to come by."""
        ...

    def look(self) -> bool:
        """Brings the page up to date; whether there is more to look for."""
        ...


class Lookout:
    """One thread for all open questions of a kernel, from the first one to the last.

    Once a second it asks the system when the folders of their traces were last written to, and looks
    further only where that has changed. It ends with the last question, and with the kernel.
    """

    def __init__(self, every: float = EVERY) -> None:
        self.every = every
        self._open: dict[Open, tuple[int, ...]] = {}
        self._unsure: dict[Open, int] = {}
        self._turn = threading.Lock()
        self._thread: threading.Thread | None = None

    def watch(self, questions: Open) -> None:
        """From now on, until nothing of them is open any more."""
        with self._turn:
            self._open[questions] = ()
            if self._thread is None:
                self._thread = thread(self._work, "nika-lookout")
                self._thread.start()

    def forget(self, questions: Open) -> None:
        """Nobody sees them any more."""
        with self._turn:
            self._open.pop(questions, None)
            self._unsure.pop(questions, None)

    def glance(self) -> None:
        """Looks at once: whoever answered from a cell finds the questions closed when it ends."""
        with self._turn:
            watched = list(self._open)
        for questions in watched:
            if self._changed(questions) and not _looked(questions):
                self.forget(questions)

    def rest(self) -> None:
        """Looks for nothing any more."""
        with self._turn:
            self._open.clear()

    def _work(self) -> None:
        pause = threading.Event()
        while self._left():
            pause.wait(self.every)
            self.glance()

    def _left(self) -> bool:
        """Whether there is anything to look for; where not, the thread ends with this question."""
        with self._turn:
            if not self._open:
                self._thread = None
            return bool(self._open)

    def _changed(self, questions: Open) -> bool:
        seen = questions.stamp()
        with self._turn:
            if questions not in self._open:
                return False
            if seen != self._open[questions]:
                self._open[questions] = seen
                self._unsure[questions] = _UNSURE
            left = self._unsure.pop(questions, 0)
            if left > 1:
                self._unsure[questions] = left - 1
            return left > 0


def _looked(questions: Open) -> bool:
    try:
        return questions.look()
    except Exception:  # noqa: BLE001 - nobody would see it, and the next change is looked at again
        return True


lookout = Lookout()
