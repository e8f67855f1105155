"""What stands below the still of a run that is over: another one can begin there, in the same panel."""

from __future__ import annotations

import threading
from typing import Any, Protocol

from nika_nb.interrupts import undisturbed
from nika_nb.notebook.actions import Actions
from nika_nb.notebook.closing import rest, wake
from nika_nb.notebook.panel import Panel
from nika_nb.notebook.questions import Questions
from nika_nb.notebook.shown import thread
from nika_nb.notebook.surface import Surface
from nika_nb.runs.run import Run


class Stage(Protocol):
    """Where a run is drawn."""

    run: Run
    questions: Questions
    panel: Panel | None
    turn: threading.RLock

    def take(self, run: Run) -> None:
        """From here on it is this run."""
        ...

    def follow(self) -> None:
        """Paints a run that goes on until it stops. Raises nothing."""
        ...

    def retire(self) -> None:
        """Another run begins."""
        ...


class Again:
    """The row buttons of the run on a stage, where somebody is there to click them."""

    def __init__(self, surface: Surface, stage: Stage) -> None:
        self._surface = surface
        self._stage = stage
        self._actions: Actions | None = None
        self.rolled = False  # a button was used: no cell of its own shows what runs now

    def below(self) -> Any:
        """The row buttons of the run that has stopped, or what it asks; None where there is nothing."""
        run, panel = self._stage.run, self._stage.panel
        if run.prompts:
            return self._stage.questions.sheet() if self.rolled else None
        if panel is None or run.trace is None or not self._useful(run):
            return None
        if self._actions is None:
            self._actions = Actions(self._roll)
        self._actions.renew(run.board, run.trace)
        return self._actions.box

    def retire(self) -> None:
        """They go from the page; the still above stays."""
        actions, self._actions = self._actions, None
        if self._stage.panel is not None:
            self._stage.panel.alone()
        if actions is not None:
            actions.close()

    def _useful(self, run: Run) -> bool:
        text = run.request.source.text
        return self._surface.interactive and bool(text) and run.board.over and bool(run.board.rows)

    def _roll(self, key: str) -> None:
        """A click: judged and begun here, watched from a thread of its own. Raises NikaError."""
        with self._stage.turn:
            if not wake(self._stage):
                return  # another run has begun, and the buttons go
            try:
                run = self._stage.run.resume(from_=key, background=True)
            except BaseException:
                rest(self._stage)
                raise
            with undisturbed():
                self.rolled = True
                self._stage.take(run)
                if self._actions is not None:
                    self._actions.say("\n".join(run.notices))
                thread(self._stage.follow).start()
