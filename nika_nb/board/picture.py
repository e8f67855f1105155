"""The graph and, beside it, the timeline, as a piece of a page: in a live view and in a still."""

from __future__ import annotations

from nika_nb.board.graph import Graph
from nika_nb.board.state import Board
from nika_nb.board.style import plain
from nika_nb.board.svg import PAGE, fitted, fitting, image
from nika_nb.board.timeline import timeline_html

SMALL = 24  # tasks up to which the picture is shown without being asked for
LIVE = 100  # boxes of a live graph, which is sent again and again
TALL = 480  # pixels that it may be high before it scrolls

_BOTH = f"display:flex;flex-wrap:wrap;align-items:flex-start;gap:10px 32px;overflow:auto;max-height:{TALL}px"


def live_picture(board: Board, now: int | None = None) -> str:
    """Both in the page's own colour; the boxes' titles can be read by pointing at them."""
    graph = fitted(Graph(board, LIVE).svg(PAGE))
    return plain(_both(graph, timeline_html(board, now), "padding:6px 0 10px 0"))


def still_picture(board: Board) -> str:
    """The graph as an image, with its words for those who do not see it; both folded where they are large."""
    if len(board.rows) < 2:
        return ""
    drawn = Graph(board)
    svg = drawn.svg()
    graph = image(svg, f"graph: {drawn.text()}", fitting(svg))
    shown = " open" if len(board.rows) <= SMALL else ""
    summary = '<summary style="cursor:pointer;opacity:.68;font-size:12px">graph and timeline</summary>'
    inner = _both(graph, timeline_html(board), "padding:4px 0 8px 0")
    return f'<details{shown} style="margin:2px 0">{summary}{inner}</details>'


def _both(graph: str, timeline: str, look: str) -> str:
    return f'<div style="{_BOTH};{look}">{graph}<div style="max-width:100%">{timeline}</div></div>'
