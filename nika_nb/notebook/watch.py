"""A run in a notebook: the panel while it works, the forms when it asks, the still when it is over."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from nika_nb.board import mimebundle, text, tracepage
from nika_nb.board.clean import block
from nika_nb.board.state import Board
from nika_nb.board.style import plain
from nika_nb.interrupts import raised_once, undisturbed
from nika_nb.notebook.again import Again
from nika_nb.notebook.clicks import clicked
from nika_nb.notebook.closing import belongs, rest, retire, wake
from nika_nb.notebook.paint import Painter
from nika_nb.notebook.panel import INTERRUPT, Panel
from nika_nb.notebook.questions import Questions
from nika_nb.notebook.shown import Spots, thread
from nika_nb.notebook.stage import Listed
from nika_nb.notebook.surface import Surface
from nika_nb.runs.run import Run

FOLLOWED = "interrupt the kernel (■) to stop following; the run itself goes on"


class NikaInterrupted(KeyboardInterrupt):
    """The run was interrupted: shown as one line instead of a traceback into this package."""

    def _render_traceback_(self) -> list[str]:
        return [f"KeyboardInterrupt: {self}"]


class Watch:
    """Shows one run, over all its answers. `block()` from the cell that started it.

    listed: it is one of many: its questions alone are drawn, with what a list says of the run, and the
    panel comes up among them once it goes on. spots: where it is shown, when no cell waits for it.
    """

    def __init__(
        self,
        run: Run,
        surface: Surface,
        *,
        quiet: bool = False,
        listed: Listed | None = None,
        spots: Spots | None = None,
    ) -> None:
        self.run = run
        self._surface = surface
        self._quiet = quiet
        self.panel: Panel | None = None
        self._listed = listed is not None
        self._wrong = ""  # what broke behind an answer, where no panel stands to say it
        self._spots = spots
        self._finished = False
        self.turn = threading.RLock()  # whoever changes what stands there: a click, a painter, a line, a look
        self.questions = Questions(run, surface, self, listed, spots)
        self._again = Again(surface, self)
        if surface.has_widgets:
            belongs(self, surface.cell_id, surface.execution)

    def block(self, begin: Callable[[], Any]) -> None:
        """Begins the run and paints until it stops. An interrupt ends it at once and is raised again."""
        with raised_once(self.run.stop):
            try:
                begin()
                self._open()
                self._pump()
                self._finish()
            except KeyboardInterrupt:
                self._end()
                raise NikaInterrupted(_ended(self.run)) from None

    def background(self, begin: Callable[[], Any]) -> None:
        """Begins the run and returns; it is painted from a thread of its own, into the spots kept for it."""
        behind = thread(self._behind)
        with raised_once(self.run.stop):
            try:
                begin()
                with undisturbed():
                    self._open(self.run.stop)
                    if self._surface.has_widgets:
                        behind.start()
            except KeyboardInterrupt:
                self._end(behind)
                raise NikaInterrupted(_ended(self.run)) from None

    def _behind(self) -> None:
        """The run to its end, and what it asks then; nothing is printed, for no cell would show it."""
        self._painted(self._pump)
        self.questions.ask()

    def _end(self, behind: threading.Thread | None = None) -> None:
        """After an interrupt: ends the run at once; the still is drawn, by whoever paints."""
        self.run.end_now()
        with suppress(KeyboardInterrupt):
            behind.join() if behind is not None and behind.ident else self._finish()

    def _finish(self, said: str = "") -> None:
        """The still takes the panel's place, with what the run asks below it: once, and wholly."""
        with undisturbed():
            if not self._finished:
                self._close(said)
                self._finished = True
                self.questions.ask()

    def accompany(self) -> None:
        """Shows a run that somebody else is at work on until it stops. An interrupt leaves it to them."""
        with raised_once():
            try:
                self._open(hint=FOLLOWED)
                self._pump()
                self._finish()
            except KeyboardInterrupt:
                left = self._left()
                if self.panel is not None:
                    with suppress(KeyboardInterrupt):
                        self._finish(left)
                raise NikaInterrupted(f"{self.run.workflow} is {left}") from None

    def _left(self) -> str:
        """How a run stands that nobody looks at any more."""
        if not self.run.running:
            return f"{self.run.state}; the interrupt came when it had stopped"
        name = self.run.trace.name if self.run.trace else ""
        return f"not followed here any more; it goes on, and `%nika attach {name}` follows it again"

    def draw(self) -> None:
        """Shows a run that is over, or was left by another kernel, from what is known of it."""
        if not self._listed:
            self._open()
            self._close()
        self.questions.ask()

    def _open(self, stop: Callable[[], None] | None = None, hint: str = INTERRUPT) -> None:
        """The panel; with a Stop button where no cell waits for the run."""
        if self._spots is None:
            self.announce()
        if self._quiet or not self._surface.has_widgets:
            return
        retire()
        trace = self._journal if stop else None
        panel = Panel(self._begun(), stop, trace, spots=self._spots, hint=hint)
        with undisturbed():  # a panel that is shown is known, and will be followed by its still
            panel.show()
            self.panel, self._finished = panel, False

    def announce(self) -> None:
        """What is said before a run starts, in the cell that runs now."""
        for notice in self.run.notices:
            print(notice)

    def _begun(self) -> Board:
        """The board once it knows its tasks: what is shown first is what a killed kernel leaves behind."""
        for _ in range(20):
            board = self.run.catch_up()
            if board.rows or not self.run.running:
                break
            self.run.pause_a_moment()
        return board

    def _pump(self) -> None:
        if self.panel is not None:
            Painter(self.run, self.panel).pump()
        self.run.wait()

    def _close(self, said: str = "") -> None:
        """The still takes the panel's place; `said` of a run that is left at work."""
        with self.turn:
            board = self.run.catch_up()
            board.trace_data = self._packed()
            if self.panel is None:
                self._print(board)
                return
            retire()
            after = None if self._listed or said else self._again.below()
            self.panel.finish(board, said, after, asked=bool(self.run.prompts))
            if not self.run.prompts:
                rest(self)

    def _print(self, board: Board) -> None:
        beyond = text.ending(board) if board.state == "completed" else []
        short = "\n".join([text.meter(board).strip(), *beyond])
        print(short if self._quiet else text.still(board))

    def _packed(self) -> bytes:
        """The journal as the still carries it; empty where it is too large, or gone."""
        trace = self.run.trace
        try:
            fits = trace is not None and trace.stat().st_size <= tracepage.CARRIED
            return tracepage.packed(self._journal()[1]) if fits else b""
        except OSError:
            return b""

    def _journal(self) -> tuple[str, bytes]:
        """The journal's name and bytes; empty where there is none."""
        trace = self.run.trace
        return (trace.name, trace.read_bytes()) if trace is not None else ("", b"")

    # -- behind an answer ------------------------------------------------------------------

    @property
    def widget(self) -> Any:
        """The live panel, to be shown among the questions as well; not where these stand in it."""
        return self.panel.box if self.panel is not None and not self._again.rolled else None

    @property
    def result(self) -> dict[str, str] | None:
        """How a run stands that has no display of its own, to be read below its questions."""
        if not (self._listed or self._quiet) or self.run.running or self.run.prompts:
            return None
        if self._listed:
            return mimebundle(self.run.board)
        line = "\n".join(filter(None, (text.meter(self.run.board), self._wrong)))
        page = plain(f'<div style="white-space:pre-wrap">{block(line)}</div>')
        return {"text/html": page, "text/plain": line}

    def appear(self) -> None:
        """The panel of a run that was only listed, for it goes on now."""
        if self._listed and self.panel is None:
            self.panel = Panel(self.run.catch_up())

    def follow(self) -> None:
        """The run after an answer, in the same panel."""
        self._painted(self._go_on)

    def _go_on(self) -> None:
        with self.turn:
            if self.panel is not None:
                self.panel.reopen(self.run.catch_up(), self.run.stop, self._journal)
        self._pump()

    def _painted(self, pump: Callable[[], None]) -> None:
        """A run that no cell waits for, to its still; what goes wrong is said in its panel."""

        def drawn() -> None:
            pump()
            self.redraw()

        clicked(drawn, self._failed)

    def _failed(self, text: str) -> None:
        with self.turn:
            self._wrong = text
            if self.panel is not None:
                self.panel.failure(text)

    def redraw(self) -> None:
        """The run was taken further elsewhere: its still as it is now."""
        if self.panel is not None:
            self._close()

    # -- behind a row button ---------------------------------------------------------------

    def take(self, run: Run) -> None:
        """From here on it is this run, in the same panel."""
        self.run = run
        if not any(root.loaded_anew for root in self.questions.roots):
            self.questions.close()
        self.questions = Questions(run, self._surface, self)

    # -- when it has served its time -------------------------------------------------------

    def retire(self) -> None:
        """Another run begins: what is shown of this one needs no widgets, where no page was loaded since."""
        with self.turn:
            self._again.retire()
            roots = [*self.questions.roots, *(self.panel.roots if self.panel is not None else [])]
            if not any(root.loaded_anew for root in roots):
                self._close_all()

    def clear(self) -> None:
        """Its cell runs again: nothing of it is on the page. One at work is closed when it has stopped."""
        with self.turn:
            if self.run.running:
                return
            wake(self)
            self._again.retire()
            self._close_all()

    def _close_all(self) -> None:
        self.questions.close()
        if self.panel is not None:
            self.panel.close()


def _ended(run: Run) -> str:
    """What an interrupt came to."""
    if run.state == "cancelled":
        return f"{run.workflow} was interrupted and its processes ended"
    return f"{run.workflow} is {run.state}; the interrupt came when it had stopped"
