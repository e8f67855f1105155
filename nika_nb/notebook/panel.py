"""The live panel of one run: a display that is updated by traits and ends as its own still."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import uuid4

from nika_nb.board import html, mimebundle
from nika_nb.board.clean import block
from nika_nb.board.state import Board
from nika_nb.board.style import COLOUR, QUIET
from nika_nb.notebook.shown import show, update, view

Stop = Callable[[], None]
INTERRUPT = "interrupt the kernel (■) to stop the run"


class Panel:
    """One output of one cell. Everything but `show` may be called from any one thread at a time.

    `stop` is given for runs in the background only: while a cell runs no click is delivered, there
    the kernel's own interrupt is felt.
    """

    def __init__(self, board: Board, stop: Stop | None = None) -> None:
        from ipywidgets import HTML, VBox

        self.display_id = uuid4().hex
        self._board = board
        self._tick = 0
        self._head, self._body, self._foot = (HTML(layout={"margin": "0"}) for _ in range(3))
        self.box = VBox(layout={"margin": "0"})
        self._shown: tuple[str, str] = ("", "")
        self._controls(stop)

    def show(self) -> None:
        """Put the panel into the cell that runs now."""
        self.paint(self._board)
        show(self._live(), self.display_id)

    def paint(self, board: Board, now: int | None = None) -> None:
        """Bring the panel up to date; what has not changed is not sent."""
        self._board = board
        self._tick += 1
        head, body = html.live_head(board, now, self._tick), html.live_body(board, now)
        if head != self._shown[0]:
            self._head.value = head
        if body != self._shown[1]:
            self._body.value = body
        self._shown = (head, body)

    def finish(self, board: Board) -> None:
        """The run has stopped: the widget holds the still (a reloaded page has only that), and so
        does the display, without a widget."""
        self._board = board
        still = mimebundle(board)
        self._head.value, self._body.value, self._foot.value = still["text/html"], "", ""
        self._shown = ("", "")
        self.box.children = (self._head,)
        update(still, self.display_id)

    def reopen(self, board: Board, stop: Stop | None = None) -> None:
        """The run goes on after an answer: the panel lives again, in its old place."""
        self._controls(stop)
        self.paint(board)
        update(self._live(), self.display_id)

    def failure(self, text: str) -> None:
        """Say in the panel that something around the run went wrong."""
        self._foot.value = f'<div style="color:{COLOUR["failed"]};line-height:1.4">{block(text)}</div>'
        self.box.children = (*(child for child in self.box.children if child is not self._foot), self._foot)

    # -- inside ----------------------------------------------------------------------------

    def _controls(self, stop: Stop | None) -> None:
        from ipywidgets import Button

        children = [self._head, self._body, self._foot]
        if stop is None:
            self._foot.value = f'<div style="{QUIET};font-size:12px;padding-left:15px">{INTERRUPT}</div>'
        else:
            button = Button(description="Stop", icon="stop", tooltip="Stop this run")
            button.on_click(lambda pressed: self._stopped(pressed, stop))
            children.append(button)
        self.box.children = tuple(children)

    def _stopped(self, button: Any, stop: Stop) -> None:
        """Never raises: no cell would show it."""
        button.disabled, button.description = True, "Stopping…"
        try:
            stop()
        except Exception as error:  # noqa: BLE001 - shown in the panel instead
            self.failure(f"{type(error).__name__}: {error}")

    def _live(self) -> dict[str, Any]:
        return view(self.box) | mimebundle(self._board)
