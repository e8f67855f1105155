"""The panel of one run: a still that any page can show, and a live view in front of it while it works."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nika_nb.board import html, mimebundle, tracepage, unfinished
from nika_nb.board.clean import block, inline
from nika_nb.board.head import announced
from nika_nb.board.picture import SMALL, live_picture
from nika_nb.board.state import Board
from nika_nb.board.style import COLOUR, QUIET, RUN_TONE, ink, plain
from nika_nb.notebook.clicks import clicked
from nika_nb.notebook.pages import Piece, Pieces
from nika_nb.notebook.shown import EMPTY, Spots, blanks, show, update, view

Stop = Callable[[], None]
Trace = Callable[[], tuple[str, bytes]]  # the journal's name and what it holds by now
PADDING = "6px 12px"
BRIEF = 200  # rows of the still that the widget holds
INTERRUPT = "interrupt the kernel (■) to stop the run"
_UNSEEN = "position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap"


class Panel:
    """Two outputs of one cell: the still, and the live panel, which hides it while it stands there.

    A page without the kernel shows the still, whatever became of the kernel and when. Everything but
    `show` may be called from any one thread at a time.

    `stop` and `trace` are given for runs in the background only: while a cell runs no click is
    delivered, there the kernel's own interrupt is felt. What a page can do by itself, switching between
    views, works all the same. `spots` are displays that room was kept with, `hint` what a page says where
    no click is delivered.
    """

    def __init__(
        self,
        board: Board,
        stop: Stop | None = None,
        trace: Trace | None = None,
        *,
        spots: Spots | None = None,
        hint: str = INTERRUPT,
    ) -> None:
        from ipywidgets import Stack, ToggleButtons, VBox, jslink

        self.spots = spots or Spots()
        self._put = show if spots is None else update
        self._hint = hint
        self._board = board
        self._hides, self._head, self._picture, self._body, self._items, self._said, self._foot = blanks(7)
        margin = self._head.layout
        self._switch = ToggleButtons(options=["Tasks"], index=0, style={"button_width": "auto"})
        self._rows = VBox(layout=margin)
        self._stack = Stack([self._rows], selected_index=0, layout=margin)
        self._views: tuple[str, ...] = ()
        # The page switches by itself: while a cell runs, no kernel could be asked.
        self._link = jslink((self._switch, "index"), (self._stack, "selected_index"))
        self._name = f"nika-run-{self.spots.panel}"
        self._hides.value = f"<style>.{self._name}{{display:none}}</style>"
        self._place: Any = None  # what stands below the still when the run is over
        self.box = VBox(layout={"margin": "0", "padding": PADDING})
        self._pieces = Pieces(
            [
                Piece(html.live_head, self._sends(self._head), 0.4),
                Piece(html.live_body, self._sends(self._body), 0.4),
                Piece(live_picture, self._sends(self._picture), 1),
                Piece(_items, self._sends(self._items), 2),
                Piece(_announcement, self._sends(self._said), 1),
                Piece(_version, self._tell, 5),
            ]
        )
        self._shown = False
        self._controls(stop, trace)

    def show(self) -> None:
        """Put both into the cell that runs now, or where room was kept for them."""
        self.paint(self._board)
        self._put(self._twin(), self.spots.panel)
        self._put(view(self.box) | EMPTY, self.spots.live)
        self._shown = True

    def paint(self, board: Board, now: int | None = None) -> None:
        """Bring the panel up to date. With a clock at most one piece is sent, and only what has changed."""
        self._board = board
        if now is None:
            self._arrange(board)
            self._pieces.all(board)
            self.box.layout.border_left = f"3px solid {RUN_TONE[board.state]}"
        elif self._pieces.free(now):
            if self._arrange(board):
                self._pieces.rest(now, 1.2)  # that is worth a handful of messages
            else:
                self._pieces.step(board, now)

    def finish(self, board: Board, said: str = "", after: Any = None) -> None:
        """The run has stopped: its still stands alone, with `said` below it, and `after`, a widget.

        A page that was loaded meanwhile knows no displays and hears only the widget it shows, so that
        holds the still, of very many rows those that matter most, and `after` as well.
        """
        self._board = board
        still, below = mimebundle(board), _wrong(said) if said else ""
        brief = still["text/html"] if len(board.rows) <= BRIEF else html.still(board, limit=BRIEF)
        if said:
            still = {
                "text/html": still["text/html"] + below,
                "text/plain": f"{still['text/plain']}\n\n{said}",
            }
        self.box.layout.border_left, self.box.layout.padding = "0", "0"
        self.box.children = (self._hides, self._head, *([after] if after is not None else []))
        self._head.value = brief + below
        for widget in (self._picture, self._body, self._items, self._said, self._foot):
            widget.value = ""
        self._pieces.forget()
        update(self._hidable(still), self.spots.panel)
        self._stand(after)

    def alone(self) -> None:
        """What stands below the still goes, where something does."""
        if self._place is not None:
            self._place = None
            self.box.children = (self._hides, self._head)
            update(EMPTY, self.spots.live)

    def reopen(self, board: Board, stop: Stop | None = None, trace: Trace | None = None) -> None:
        """The run goes on, or another one in its place: the panel lives again where it was."""
        self._board = board
        self._controls(stop, trace)
        self.box.layout.padding = PADDING
        self.paint(board)
        if self._place is not None:
            self._place.children = (self.box,)  # a page that was loaded since shows this
            self._place = None
        update(self._twin(), self.spots.panel)
        update(view(self.box) | EMPTY, self.spots.live)

    def failure(self, text: str) -> None:
        """Something around the run broke: its last known state, and what was said, are what stays."""
        if not self._board.over:
            self._board.close()
        self.finish(self._board, text)

    # -- what is sent ----------------------------------------------------------------------

    def _sends(self, widget: Any) -> Callable[[str], int]:
        def send(drawn: str) -> int:
            widget.value = drawn
            return len(drawn.encode())

        return send

    def _tell(self, _: str) -> int:
        """What the file would keep of this output is brought up to date as well."""
        if not self._shown:
            return 0
        found = self._twin()
        update(found, self.spots.panel)
        return sum(len(part.encode()) for part in found.values())

    def _twin(self) -> dict[str, str]:
        return self._hidable(unfinished(self._board))

    def _hidable(self, still: dict[str, str]) -> dict[str, str]:
        return still | {"text/html": f'<div class="{self._name}">{still["text/html"]}</div>'}

    def _stand(self, after: Any) -> None:
        from ipywidgets import VBox

        self._place = VBox([after], layout={"margin": "0"}) if after is not None else None
        update(view(self._place) | EMPTY if self._place is not None else EMPTY, self.spots.live)

    # -- what stands where -----------------------------------------------------------------

    def _controls(self, stop: Stop | None, trace: Trace | None) -> None:
        """Buttons only where a click is delivered: in a run that no cell waits for."""
        from ipywidgets import HBox

        said = f'<div style="{QUIET};font-size:12px">{self._hint}</div>'
        self._foot.value = said if stop is None else ""
        buttons = [self._button("Stop", "stop", "Stopping…", stop)] if stop is not None else []
        if stop is not None and trace is not None:
            buttons.append(self._button("View trace", "search", "View trace", lambda: self._look(trace)))
        rows = [HBox(buttons)] if buttons else []
        views = (self._head, self._switch, self._stack)
        self.box.children = (self._hides, *views, *rows, self._foot, self._said)

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
        clicked(action, self._say_wrong)

    def _say_wrong(self, text: str) -> None:
        self._foot.value = _wrong(text)

    def _look(self, trace: Trace) -> None:
        self._foot.value = tracepage.trace_html(*trace())


def _items(board: Board, now: int | None) -> str:
    return html.live_items(board) if any(row.items for row in board.tasks) else ""


def _announcement(board: Board, now: int | None) -> str:
    said = inline(announced(board))
    return f'<div role="status" aria-live="polite" aria-atomic="true" style="{_UNSEEN}">{said}</div>'


def _version(board: Board, now: int | None) -> str:
    return str((id(board), board.version))


def _wrong(text: str) -> str:
    return plain(f'<div style="{ink(COLOUR["failed"])};white-space:pre-wrap">{block(text)}</div>')
