"""The graph or the timeline of a board by itself: SVG for a file, text, HTML for a notebook."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from nika_nb.board.graph import Graph
from nika_nb.board.state import Board
from nika_nb.board.style import plain
from nika_nb.board.svg import fitting, image
from nika_nb.board.timeline import timeline_html, timeline_svg, timeline_text


@dataclass(frozen=True, slots=True, repr=False)
class Drawing:
    """What a board looked like when it was asked for. what: graph or timeline."""

    what: str
    _svg: str
    _text: str
    _html: str

    @classmethod
    def graph(cls, board: Board) -> Drawing:
        """Every task behind what it waits for, coloured by its state."""
        drawn = Graph(board)
        svg, text = drawn.svg(), drawn.text()
        return cls("graph", svg, text, image(svg, f"graph: {text}", fitting(svg)))

    @classmethod
    def timeline(cls, board: Board) -> Drawing:
        """A bar per task, from its beginning to its end."""
        return cls("timeline", timeline_svg(board), timeline_text(board), plain(timeline_html(board)))

    def svg(self) -> str:
        """A whole document, as a file holds it."""
        return self._svg

    def text(self) -> str:
        """The same in lines."""
        return self._text

    def __repr__(self) -> str:
        return self._text

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        return {"text/plain": self._text, "text/html": self._html}
