"""The pieces of a live panel, and whose turn it is to be sent: one at a time, as much as a page can take."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from nika_nb.board.state import Board

RATE = 150_000  # bytes a second that all pieces together may send
SHARE = 75_000  # bytes a second that one piece may send
SECOND = 10**9  # nanoseconds

Draw = Callable[[Board, int | None], str]
Send = Callable[[str], int]  # how many bytes went out


@dataclass
class Piece:
    """Something that is drawn from a board and sent where it differs from what was sent last.

    every: seconds between two drawings; more, where what is drawn is large.
    """

    draw: Draw
    send: Send
    every: float
    sent: str = ""
    drawn_at: int = 0

    def due(self, now: int) -> float:
        """How late the piece is, in turns of its own: 1 when it should be drawn."""
        return (now - self.drawn_at) / (max(self.every, len(self.sent) / SHARE) * SECOND)

    def bring(self, board: Board, now: int | None) -> int:
        """Draws and sends; how many bytes went out, 0 where nothing has changed."""
        self.drawn_at = now or 0
        drawn = self.draw(board, now)
        if drawn == self.sent:
            return 0
        self.sent = drawn
        return self.send(drawn)


class Pieces:
    """All pieces of one panel."""

    def __init__(self, pieces: Sequence[Piece]) -> None:
        self.pieces = pieces
        self._free_at = 0

    def all(self, board: Board, now: int | None = None) -> None:
        """Everything at once: what is shown first, and what must not be left behind."""
        for piece in self.pieces:
            piece.bring(board, now)

    def forget(self) -> None:
        """The widgets hold something else by now: all is sent anew."""
        for piece in self.pieces:
            piece.sent = ""

    def free(self, now: int) -> bool:
        """Whether something may be sent now."""
        return now >= self._free_at

    def rest(self, now: int, seconds: float) -> None:
        """Something else was sent: nothing more for a while."""
        self._free_at = now + int(seconds * SECOND)

    def step(self, board: Board, now: int) -> None:
        """At most one piece: of those that are due and have changed, the latest."""
        if not self.free(now):
            return
        for piece in self.pieces:
            piece.drawn_at = piece.drawn_at or now  # drawn with all the others, when nobody looked at a clock
        due = [piece for piece in self.pieces if piece.due(now) >= 1]
        for piece in sorted(due, key=lambda piece: -piece.due(now)):
            size = piece.bring(board, now)
            if size:
                self._free_at = now + size * SECOND // RATE
                return
