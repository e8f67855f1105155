"""The live panel of one run: a display that is updated by traits and ends as its own still."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import uuid4

from nika_nb.board import html, mimebundle
from nika_nb.board.clean import inline
from nika_nb.board.state import Board


class Panel:
    """One output of one cell. Everything but `show` may be called from any single thread at a time.

    `stop` is given for runs in the background only: a click on a button is not delivered while a
    cell runs, there the kernel's own interrupt is felt.
    """

    def __init__(self, board: Board, stop: Callable[[], None] | None = None) -> None:
        from ipywidgets import HTML, Button, HBox, VBox

        self.display_id = uuid4().hex
        self._board = board
        self._stop = stop
        self._tick = 0
        self._head = HTML()
        self._body = HTML()
        self._foot = HTML()
        self._button = Button(description="Stop", icon="stop") if stop else None
        if self._button:
            self._button.on_click(self._stopped)
        self._controls = HBox([self._button] if self._button else [])
        self._box = VBox([self._head, self._body, self._foot, self._controls])
        self._shown = ("", "")

    def show(self) -> None:
        """Put the panel into the cell that runs now."""
        from IPython.display import display

        self.paint(self._board)
        display(self._bundle(), raw=True, display_id=self.display_id)

    def paint(self, board: Board, now: int | None = None) -> None:
        """Bring the panel up to date; what has not changed is not sent."""
        self._tick += 1
        head, body = html.head(board, now, self._tick // 3), html.live(board, now)
        if head != self._shown[0]:
            self._head.value = head
        if body != self._shown[1]:
            self._body.value = body
        self._shown = (head, body)

    def finish(self, board: Board) -> None:
        """The end: the still into the widget (a reloaded page has only that), then in its place."""
        from IPython.display import update_display

        still = mimebundle(board)
        self._head.value, self._body.value, self._foot.value = still["text/html"], "", ""
        self._controls.children = ()
        update_display(still, raw=True, display_id=self.display_id)

    def failure(self, text: str) -> None:
        """Say in the panel that something around the run went wrong."""
        self._foot.value = f'<div style="color:{html.COLOUR["failed"]}">{inline(text)}</div>'

    def _bundle(self) -> dict[str, Any]:
        view = self._box._repr_mimebundle_()
        data = dict(view[0] if isinstance(view, tuple) else view)
        return data | mimebundle(self._board)

    def _stopped(self, button: Any) -> None:
        button.disabled = True
        button.description = "Stopping…"
        if self._stop:
            self._stop()
