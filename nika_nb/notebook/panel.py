"""The panel of one run: a still that any page can show, and a live view in front of it while it works."""

from __future__ import annotations

from typing import Any

from nika_nb.board import html, mimebundle, unfinished
from nika_nb.board.state import Board
from nika_nb.board.style import RUN_TONE
from nika_nb.notebook.closing import close, root
from nika_nb.notebook.live import Live, Stop, Trace, wrong
from nika_nb.notebook.living import hidable, instead_of_still
from nika_nb.notebook.shown import EMPTY, Spots, blanks, show, update, view

PADDING = "6px 32px 6px 12px"  # a still has as much room: JupyterLab keeps 20 pixels at its right
BRIEF = 200  # rows of the still that the widget holds
INTERRUPT = "interrupt the kernel (■) to stop the run"


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
        self.spots = spots or Spots()
        self._put = show if spots is None else update
        self._hint = hint
        self._board = board
        self._hides, self._still = blanks(2)
        self._name = f"nika-run-{self.spots.panel}"
        self._live: Live | None = None
        self._place: Any = None  # what stands below the still when the run is over
        self._left: list[Any] = []  # such places before it, that a page loaded since may show
        self.box = root(padding=PADDING)
        self.box.add_class(self._name)
        self._hides.value = instead_of_still(self._name)
        self._shown = False
        self._begin(stop, trace)

    def show(self) -> None:
        """Put both into the cell that runs now, or where room was kept for them."""
        self.paint(self._board)
        self._put(self._twin(), self.spots.panel)
        self._put(view(self.box) | EMPTY, self.spots.live)
        self._shown = True

    def paint(self, board: Board, now: int | None = None) -> None:
        """Bring the panel up to date. With a clock at most one piece is sent, and only what has changed."""
        self._board = board
        if self._live is None:
            return
        if now is None:
            self._live.all(board)
            self.box.layout.border_left = f"3px solid {RUN_TONE[board.state]}"
        else:
            self._live.step(board, now)

    def finish(self, board: Board, said: str = "", after: Any = None, *, asked: bool = False) -> None:
        """The run has stopped: its still stands alone, with `said` below it, and `after`, a widget.

        asked: what it asks stands in outputs of its own, and is not told here as well.

        A page that was loaded meanwhile knows no displays and hears only the widget it shows, so that
        holds the still, of very many rows those that matter most, and `after` as well.
        """
        self._board = board
        still, below = mimebundle(board, asked=asked), wrong(said) if said else ""
        large = len(board.rows) > BRIEF
        brief = html.still(board, limit=BRIEF, asked=asked) if large else still["text/html"]
        if said:
            still = {
                "text/html": still["text/html"] + below,
                "text/plain": f"{still['text/plain']}\n\n{said}",
            }
        self.box.layout.border_left, self.box.layout.padding = "0", "0"
        self._still.value = brief + below
        self.box.children = (self._hides, self._still, *([after] if after is not None else []))
        update(hidable(still, self._name), self.spots.panel)
        self._stand(after)
        self._close_live()

    def alone(self) -> None:
        """What stands below the still goes, where something does."""
        if self._place is not None:
            self.box.children = (self._hides, self._still)
            update(EMPTY, self.spots.live)
            self._leave(())

    def reopen(self, board: Board, stop: Stop | None = None, trace: Trace | None = None) -> None:
        """The run goes on, or another one in its place: the panel lives again where it was."""
        self._board = board
        self._begin(stop, trace)
        self.box.layout.padding = PADDING
        self.paint(board)
        update(self._twin(), self.spots.panel)
        update(view(self.box) | EMPTY, self.spots.live)
        self._still.value = ""
        if self._place is not None:
            self._leave((self.box,))

    def failure(self, text: str) -> None:
        """Something around the run broke: its last known state, and what was said, are what stays."""
        if not self._board.over:
            self._board.close()
        self.finish(self._board, text)

    @property
    def roots(self) -> list[Any]:
        """What stands, or stood, in displays of its own."""
        return [self.box, *self._left, *([self._place] if self._place is not None else [])]

    def close(self) -> None:
        """No page needs any widget of it."""
        self._close_live()
        for place in self.roots:
            place.children = ()
        close(*self.roots, self._hides, self._still)

    # -- inside ----------------------------------------------------------------------------

    def _begin(self, stop: Stop | None, trace: Trace | None) -> None:
        self._close_live()
        self._live = Live(self._tell, stop, trace, self._hint)
        self.box.children = (self._hides, *self._live.widgets)

    def _close_live(self) -> None:
        if self._live is not None:
            self._live.close()
            self._live = None

    def _tell(self) -> int:
        """What the file would keep of this output is brought up to date as well."""
        if not self._shown:
            return 0
        found = self._twin()
        update(found, self.spots.panel)
        return sum(len(part.encode()) for part in found.values())

    def _twin(self) -> dict[str, str]:
        return hidable(unfinished(self._board), self._name)

    def _stand(self, after: Any) -> None:
        before, self._place = self._place, root(after) if after is not None else None
        update(view(self._place) | EMPTY if self._place is not None else EMPTY, self.spots.live)
        if before is not None:
            self._drop(before, ())

    def _leave(self, instead: tuple[Any, ...]) -> None:
        place, self._place = self._place, None
        self._drop(place, instead)

    def _drop(self, place: Any, instead: tuple[Any, ...]) -> None:
        """A place that no display shows any more. A page that was loaded since still does.

        It is not closed here: JupyterLab hides an output whose widget is closed, also when another one has
        come into its place.
        """
        place.children = instead if place.loaded_anew else ()
        self._left.append(place)
