"""The graph and, beside it, the timeline, as a piece of a page: in a live view and in a still."""

from __future__ import annotations

from nika_nb.board.graph import Graph
from nika_nb.board.state import Board
from nika_nb.board.style import plain
from nika_nb.board.svg import fitted, fitting, image
from nika_nb.board.timeline import timeline_svg, timeline_text

SMALL = 24  # tasks up to which the picture is shown without being asked for
LIVE = 100  # boxes of a live graph, which is sent again and again
TALL = 480  # pixels that it may be high before it scrolls

_BOTH = f"display:flex;flex-wrap:wrap;align-items:flex-start;gap:10px 32px;overflow:auto;max-height:{TALL}px"


def live_picture(board: Board, now: int | None = None) -> str:
    """Both drawings in the page's own colour; their titles can be read by pointing at them."""
    graph, time = Graph(board, LIVE).svg("currentColor"), timeline_svg(board, now, "currentColor")
    return plain(f'<div style="{_BOTH};padding:6px 0 10px 0">{fitted(graph)}{fitted(time)}</div>')


def still_picture(board: Board) -> str:
    """Both as images, with their words for those who do not see them; folded where they are large."""
    if len(board.rows) < 2:
        return ""
    drawn = Graph(board)
    boxes, bars = drawn.svg(), timeline_svg(board)
    graph = image(boxes, f"graph: {drawn.text()}", fitting(boxes))
    time = image(bars, f"timeline: {timeline_text(board)}", fitting(bars))
    shown = " open" if len(board.rows) <= SMALL else ""
    summary = '<summary style="cursor:pointer;opacity:.68;font-size:12px">graph and timeline</summary>'
    inner = f'<div style="{_BOTH};padding:4px 0 8px 0">{graph}{time}</div>'
    return f'<details{shown} style="margin:2px 0">{summary}{inner}</details>'
