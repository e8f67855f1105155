"""The live view of one run: what moves while it works. When the run stops it has served its time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nika_nb.board import html, tracepage
from nika_nb.board.clean import block, inline
from nika_nb.board.head import announced
from nika_nb.board.picture import SMALL, live_picture
from nika_nb.board.state import Board
from nika_nb.board.style import COLOUR, QUIET, ink, plain
from nika_nb.notebook.clicks import clicked
from nika_nb.notebook.closing import close
from nika_nb.notebook.living import vanishes
from nika_nb.notebook.pages import Piece, Pieces
from nika_nb.notebook.shown import blanks

Stop = Callable[[], None]
Trace = Callable[[], tuple[str, bytes]]  # the journal's name and what it holds by now
_UNSEEN = "position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap"


class Live:
    """Head, picture, rows and items of a run at work, and what can be clicked meanwhile.

    stop, trace: for runs in the background only; hint: what is said where there are no buttons. tell:
    called now and then, when something has changed; how many bytes that sent.
    """

    def __init__(
        self, tell: Callable[[], int], stop: Stop | None = None, trace: Trace | None = None, hint: str = ""
    ) -> None:
        from ipywidgets import Layout, Stack, ToggleButtons, VBox, jslink

        self._head, self._picture, self._body, self._items, self._said, self._foot = blanks(6)
        margin = self._head.layout
        self._switch = ToggleButtons(
            options=["Tasks"], index=0, style={"button_width": "auto"}, layout={"margin": "2px 0 8px 0"}
        )
        wide = Layout(margin="0", width="100%")  # else what a stack shows is as wide as its words
        self._rows = VBox(layout=wide)
        self._picture.layout = self._items.layout = wide
        self._stack = Stack([self._rows], selected_index=0, layout=margin)
        self._views: tuple[str, ...] = ()
        # The page switches by itself: while a cell runs, no kernel could be asked.
        self._link = jslink((self._switch, "index"), (self._stack, "selected_index"))
        self._pieces = Pieces(
            [
                Piece(html.live_head, _sends(self._head), 0.4),
                Piece(html.live_body, _sends(self._body), 0.4),
                Piece(live_picture, _sends(self._picture), 1),
                Piece(_items, _sends(self._items), 2),
                Piece(_announcement, _sends(self._said), 1),
                Piece(_version, lambda _: tell(), 5),
            ]
        )
        vanishes(self._foot)
        rows = self._controls(stop, trace, hint)
        self.widgets = (self._head, self._switch, self._stack, *rows, self._foot, self._said)

    def all(self, board: Board) -> None:
        """Everything at once."""
        self._arrange(board)
        self._pieces.all(board)

    def step(self, board: Board, now: int) -> None:
        """At most one piece, and only what has changed."""
        if not self._pieces.free(now):
            return
        if self._arrange(board):
            self._pieces.rest(now, 1.2)  # that is worth a handful of messages
        else:
            self._pieces.step(board, now)

    def close(self) -> None:
        """They have gone from the page."""
        close(*self.widgets, self._link, self._picture, self._items, self._body, self._rows)

    # -- inside ----------------------------------------------------------------------------

    def _controls(self, stop: Stop | None, trace: Trace | None, hint: str) -> list[Any]:
        """Buttons only where a click is delivered: in a run that no cell waits for."""
        from ipywidgets import HBox

        if stop is None:
            self._foot.value = f'<div style="{QUIET};font-size:12px">{hint}</div>'
            return []
        buttons = [self._button("Stop", "stop", "Stopping…", stop)]
        if trace is not None:
            buttons.append(self._button("View trace", "search", "View trace", lambda: self._look(trace)))
        row = HBox(buttons)
        vanishes(row)
        return [row]

    def _arrange(self, board: Board) -> bool:
        """The picture above the rows where it is small; what is large stands behind a switch of its own.

        Whether that has changed.
        """
        small = len(board.rows) <= SMALL
        views = ["Tasks", *([] if small else ["Graph and timeline"])]
        views += ["Items"] if any(row.items for row in board.tasks) else []
        if tuple(views) == self._views:
            return False
        self._views = tuple(views)
        places = {"Tasks": self._rows, "Graph and timeline": self._picture, "Items": self._items}
        self._rows.children = (*((self._picture,) if small else ()), self._body)
        self._stack.children = tuple(places[name] for name in views)
        self._switch.options = views
        self._switch.layout.display = "" if len(views) > 1 else "none"
        return True

    def _button(self, label: str, icon: str, then: str, action: Stop) -> Any:
        from ipywidgets import Button

        button = Button(description=label, icon=icon)
        button.on_click(lambda pressed: self._pressed(pressed, then, action))
        return button

    def _pressed(self, button: Any, then: str, action: Stop) -> None:
        button.disabled, button.description = then != button.description, then
        clicked(action, self._wrong)

    def _look(self, trace: Trace) -> None:
        self._foot.value = tracepage.trace_html(*trace())

    def _wrong(self, text: str) -> None:
        self._foot.value = wrong(text)


def _sends(widget: Any) -> Callable[[str], int]:
    def send(drawn: str) -> int:
        widget.value = drawn
        return len(drawn.encode())

    return send


def _items(board: Board, now: int | None) -> str:
    return html.live_items(board) if any(row.items for row in board.tasks) else ""


def _announcement(board: Board, now: int | None) -> str:
    said = inline(announced(board))
    return f'<div role="status" aria-live="polite" aria-atomic="true" style="{_UNSEEN}">{said}</div>'


def _version(board: Board, now: int | None) -> str:
    return str((id(board), board.version))


def wrong(text: str) -> str:
    """What went wrong, as the page shows it."""
    return plain(f'<div style="{ink(COLOUR["failed"])};white-space:pre-wrap">{block(text)}</div>')
