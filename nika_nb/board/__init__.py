"""The state of a run, folded from events or a journal, and drawn as text, HTML and SVG (pure functions)."""

from nika_nb.board.state import Board, board_of
from nika_nb.board.still import mimebundle, still_html, still_text, unfinished

__all__ = ["Board", "board_of", "mimebundle", "still_html", "still_text", "unfinished"]
