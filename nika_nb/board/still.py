"""The still twins of a board: what a saved notebook keeps of a run."""

from __future__ import annotations

from nika_nb.board.html import still as still_html
from nika_nb.board.state import Board
from nika_nb.board.text import still as still_text

__all__ = ["mimebundle", "still_html", "still_text"]


def mimebundle(board: Board, now: int | None = None) -> dict[str, str]:
    """`text/html` and `text/plain`, no widget: it reads the same on a page that runs nothing."""
    return {"text/html": still_html(board, now), "text/plain": still_text(board, now)}
