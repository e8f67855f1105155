"""The live panel of one run: a display that is updated by traits and ends as its own still."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import uuid4

from nika_nb.board import html, mimebundle, tracepage, unfinished
from nika_nb.board.clean import block
from nika_nb.board.state import Board
from nika_nb.board.style import COLOUR, QUIET, RUN_TONE, plain
from nika_nb.notebook.shown import show, update, view

Stop = Callable[[], None]
Trace = Callable[[], tuple[str, bytes]]  # the journal's name and what it holds by now
PADDING = "6px 12px"
TELL_EVERY = 5 * 10**9  # nanoseconds
INTERRUPT = "interrupt the kernel (■) to stop the run"


class Panel:
    """One output of one cell. Everything but `show` may be called from any one thread at a time.

    `stop` and `trace` are given for runs in the background only: while a cell runs no click is
    delivered, there the kernel's own interrupt is felt.
    """

    def __init__(self, board: Board, stop: Stop | None = None, trace: Trace | None = None) -> None:
        from ipywidgets import HTML, VBox

        self.display_id = uuid4().hex
        self._board = board
        self._tick = 0
        self._head, self._body, self._foot = (HTML(layout={"margin": "0"}) for _ in range(3))
        self.box = VBox(layout={"margin": "0", "padding": PADDING})
        self._drawn: tuple[int, int, int] | None = None
        self._told = (-1, 0)  # the board's version in the display's own text, and when it was sent
        self._controls(stop, trace)

    def show(self) -> None:
        """Put the panel into the cell that runs now."""
        self.paint(self._board)
        show(self._live(), self.display_id)

    def paint(self, board: Board, now: int | None = None) -> None:
        """Bring the panel up to date; what has not changed is not sent."""
        self._board = board
        self._tick += 1
        self._head.value = html.live_head(board, now, self._tick)
        state = (id(board), board.version, (now or 0) // 10**9)
        if state != self._drawn:
            self._drawn = state
            self._body.value = html.live_body(board, now)
        self.box.layout.border_left = f"3px solid {RUN_TONE[board.state]}"
        self._keep_told(state[1], now or 0)

    def _keep_told(self, version: int, now: int) -> None:
        """Every few seconds what the file would keep of this output is brought up to date as well."""
        if version != self._told[0] and now - self._told[1] > TELL_EVERY:
            if self._told[1]:
                update(self._live(), self.display_id)
            self._told = (version, now)

    def finish(self, board: Board, said: str = "") -> None:
        """The run has stopped: its still, without a widget, takes the panel's place.

        The widget holds it too: a reloaded page hears only that. `said` is added below.
        """
        self._board = board
        still = mimebundle(board)
        if said:
            still = {
                "text/html": still["text/html"] + _wrong(said),
                "text/plain": f"{still['text/plain']}\n\n{said}",
            }
        self.box.layout.border_left, self.box.layout.padding = "0", "0"
        self._head.value, self._body.value, self._foot.value = still["text/html"], "", ""
        self._drawn = None
        self.box.children = (self._head,)
        update(still, self.display_id)

    def reopen(self, board: Board, stop: Stop | None = None, trace: Trace | None = None) -> None:
        """The run goes on after an answer: the panel lives again, in its old place."""
        self._controls(stop, trace)
        self.box.layout.padding = PADDING
        self.paint(board)
        update(self._live(), self.display_id)

    def failure(self, text: str) -> None:
        """Something around the run broke: its last known state, and what was said, are what stays."""
        if not self._board.over:
            self._board.close()
        self.finish(self._board, text)

    # -- inside ----------------------------------------------------------------------------

    def _controls(self, stop: Stop | None, trace: Trace | None) -> None:
        """Buttons only where a click is delivered: in a run that no cell waits for."""
        from ipywidgets import HBox

        if stop is None:
            self._foot.value = f'<div style="{QUIET};font-size:12px">{INTERRUPT}</div>'
            self.box.children = (self._head, self._body, self._foot)
            return
        self._foot.value = ""
        buttons = [self._button("Stop", "stop", "Stopping…", stop)]
        if trace is not None:
            buttons.append(self._button("View trace", "search", "View trace", lambda: self._look(trace)))
        self.box.children = (self._head, self._body, HBox(buttons), self._foot)

    def _button(self, label: str, icon: str, then: str, action: Stop) -> Any:
        from ipywidgets import Button

        button = Button(description=label, icon=icon)
        button.on_click(lambda pressed: self._pressed(pressed, then, action))
        return button

    def _pressed(self, button: Any, then: str, action: Stop) -> None:
        """Never raises: no cell would show it."""
        button.disabled, button.description = then != button.description, then
        try:
            action()
        except Exception as error:  # noqa: BLE001 - shown in the panel instead
            self._foot.value = _wrong(f"{type(error).__name__}: {error}")

    def _look(self, trace: Trace) -> None:
        self._foot.value = tracepage.trace_html(*trace())

    def _live(self) -> dict[str, Any]:
        return view(self.box) | unfinished(self._board)


def _wrong(text: str) -> str:
    return plain(f'<div style="color:{COLOUR["failed"]};white-space:pre-wrap">{block(text)}</div>')
