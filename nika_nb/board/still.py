"""The still twins of a board: what a saved notebook keeps of a run."""

from __future__ import annotations

from pathlib import PurePath

from nika_nb.board.clean import inline
from nika_nb.board.html import GO_ON
from nika_nb.board.html import still as still_html
from nika_nb.board.state import Board
from nika_nb.board.style import QUIET, plain
from nika_nb.board.text import still as still_text
from nika_nb.board.window import WINDOW, window

__all__ = ["mimebundle", "still_html", "still_text", "unfinished"]


def mimebundle(board: Board, now: int | None = None, *, asked: bool = False) -> dict[str, str]:
    """`text/html` and `text/plain`, no widget: it reads the same on a page that runs nothing.

    asked: what the run asks is told below it, in an output of its own.
    """
    return {"text/html": still_html(board, now, asked=asked), "text/plain": still_text(board, now)}


def unfinished(board: Board, now: int | None = None) -> dict[str, str]:
    """The still of a run at work, for whoever finds it after its kernel has gone.

    It is sent again and again, so of very many rows it holds a window.
    """
    name = PurePath(board.trace_path).name
    said = (
        f"This is how the run stood when the page was last told. If its kernel is gone, %nika attach {name} "
        f"shows all that was journaled, and {GO_ON}"
    )
    page, text = still_html(board, now, WINDOW), still_text(board, now, rows=window(board))
    note = plain(f'<div style="{QUIET};font-size:12px;padding:4px 15px">{inline(said, 400)}</div>')
    return {"text/html": page + note, "text/plain": f"{text}\n\n    {said}"}
