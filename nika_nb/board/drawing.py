"""The graph or the timeline of a board by itself: SVG with a twin in text, an image in a notebook."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from nika_nb.board.graph import Graph
from nika_nb.board.state import Board
from nika_nb.board.svg import fitting, image
from nika_nb.board.timeline import timeline_svg, timeline_text


@dataclass(frozen=True, slots=True, repr=False)
class Drawing:
    """What a board looked like when it was asked for. what: graph or timeline."""

    what: str
    _svg: str
    _text: str

    @classmethod
    def graph(cls, board: Board) -> Drawing:
        """Every task behind what it waits for, coloured by its state."""
        drawn = Graph(board)
        return cls("graph", drawn.svg(), drawn.text())

    @classmethod
    def timeline(cls, board: Board) -> Drawing:
        """A bar per task, from its beginning to its end."""
        return cls("timeline", timeline_svg(board), timeline_text(board))

    def svg(self) -> str:
        """A whole document, as a file holds it."""
        return self._svg

    def text(self) -> str:
        """The same in lines."""
        return self._text

    def __repr__(self) -> str:
        return self._text

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        page = image(self._svg, f"{self.what}: {self._text}", fitting(self._svg))
        return {"text/plain": self._text, "text/html": page}
