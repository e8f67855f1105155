"""The state of a run, folded from events or a journal, and drawn as text, HTML and SVG (pure functions)."""

from nika_nb.board.graph import graph_svg, graph_text
from nika_nb.board.state import Board, board_of
from nika_nb.board.still import mimebundle, still_html, still_text, unfinished
from nika_nb.board.timeline import timeline_svg, timeline_text

__all__ = [
    "Board",
    "board_of",
    "graph_svg",
    "graph_text",
    "mimebundle",
    "still_html",
    "still_text",
    "timeline_svg",
    "timeline_text",
    "unfinished",
]
