"""The pieces of a panel: one at a time, only what changed, as much as a page can take."""

from __future__ import annotations

from collections.abc import Callable

from nika_nb.board.state import Board
from nika_nb.notebook.pages import RATE, SECOND, Piece, Pieces

BOARD = Board()


class Page:
    """Receives what is sent, and by which piece."""

    def __init__(self) -> None:
        self.sent: list[tuple[str, str]] = []

    def piece(self, name: str, draw: Callable[[int], str], every: float) -> Piece:
        def send(text: str) -> int:
            self.sent.append((name, text))
            return len(text)

        return Piece(lambda _, now: draw(now or 0), send, every)


def test_each_piece_gets_its_turn() -> None:
    """Two that always change share the steps; neither starves the other."""
    page = Page()
    pieces = Pieces([page.piece(name, str, 0.4) for name in "ab"])
    for step in range(1, 21):
        pieces.step(BOARD, step * SECOND // 5)
    names = [name for name, _ in page.sent]
    assert len(names) <= 20
    assert min(names.count("a"), names.count("b")) >= 8


def test_what_has_not_changed_gives_its_turn_away() -> None:
    """The step goes to whoever has something to say."""
    page = Page()
    pieces = Pieces([page.piece("still", lambda now: "same", 0.1), page.piece("moves", str, 0.4)])
    pieces.all(BOARD, 0)
    page.sent.clear()
    for step in range(1, 11):
        pieces.step(BOARD, step * SECOND // 2)
    assert [name for name, _ in page.sent] == ["moves"] * 9  # the first step begins to count


def test_the_rate_is_kept_however_large_the_pieces() -> None:
    """Ten seconds of pieces that are too large for their turns send no more than ten seconds' worth, and
    leave room for the small ones.
    """
    page = Page()
    large = [page.piece(name, lambda now: f"{now}" + "x" * 120_000, 0.2) for name in ("one", "other")]
    pieces = Pieces([*large, page.piece("small", str, 0.4)])
    for step in range(1, 51):
        pieces.step(BOARD, step * SECOND // 5)
    assert sum(len(text) for _, text in page.sent) <= 11 * RATE
    names = [name for name, _ in page.sent]
    assert names.count("one") >= 4
    assert names.count("small") >= 6


def test_everything_is_sent_when_it_has_to_be() -> None:
    """The first sight and the last state do not wait for a turn; what was forgotten is sent again."""
    page = Page()
    pieces = Pieces([page.piece(name, lambda now: "x", 100) for name in "abc"])
    pieces.all(BOARD)
    pieces.all(BOARD)
    assert [name for name, _ in page.sent] == ["a", "b", "c"]
    pieces.forget()
    pieces.all(BOARD)
    assert len(page.sent) == 6
