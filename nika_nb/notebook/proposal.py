"""A forecast in a cell, and the button that carries it out in the same cell, once it has returned."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any
from uuid import uuid4

from nika_nb.board.clean import block, inline
from nika_nb.board.forecast import Forecast
from nika_nb.board.style import COLOUR, MONO, QUIET, ink, plain
from nika_nb.interrupts import undisturbed
from nika_nb.notebook.clicks import clicked
from nika_nb.notebook.closing import belongs, close, rest, root
from nika_nb.notebook.living import VANISHING, stays, vanishes
from nika_nb.notebook.shown import EMPTY, Spots, show, update, view
from nika_nb.notebook.surface import Surface

Carry = Callable[[Spots], Any]  # begins the run and shows it at these spots; returns at once; its widget


class Proposal:
    """What a run would do, shown; *Run* does it. line: what the button stands for.

    A click is delivered when the cell has returned, so the run goes on behind it as any run in the
    background does: its panel and its questions come up where the button was.
    """

    def __init__(self, ahead: Forecast, line: str, carry: Carry) -> None:
        from ipywidgets import HTML, Button, HBox

        self.button = Button(description="Run", icon="play", button_style="primary", tooltip=line)
        self._ahead = ahead
        self._carry = carry
        self._spots = Spots()
        self._own = uuid4().hex
        self._turn = threading.RLock()  # the first click, or the cell that runs again
        said = f'<span style="{QUIET};{MONO};font-size:12px">{inline(line)}</span>'
        self._told = HTML(said + VANISHING, layout={"margin": "2px 8px"})
        edge = {"border_left": f"3px solid {COLOUR['running']}", "padding": "0 12px 6px 10px"}
        self.box = root(HBox([self.button, self._told]), **edge)
        vanishes(self.box)
        self.button.on_click(lambda _: self._clicked())

    def show(self, surface: Surface) -> None:
        """The forecast, the button, and room for the run, in the cell that runs now."""
        show(self._ahead._repr_mimebundle_(), uuid4().hex)
        with undisturbed():  # a button without room for what it does would do it unseen
            show(view(self.box) | EMPTY, self._own)
            self._spots.reserve()
            belongs(self, surface.cell_id, surface.execution)

    def _clicked(self) -> None:
        """The first click counts; none where the cell has run again."""
        with self._turn:
            if self.button.disabled or self.button.comm is None:
                return
            self.button.disabled = True
            if not clicked(self._begin, self._say):
                self.button.disabled = False

    def _begin(self) -> None:
        panel = self._carry(self._spots)
        self.box.layout.border_left, self.box.layout.padding = "0", "0"
        stays(self.box)
        row, self.box.children = self.box.children, (panel,) if panel is not None else ()
        update(EMPTY, self._own)
        close(*row)
        rest(self)

    def retire(self) -> None:
        """A page that was loaded anew knows no displays and hears only the widgets: there the box stays."""
        if not self.box.loaded_anew:
            self.clear()

    def clear(self) -> None:
        with self._turn:
            self.box.children = self.box.children if self.button.comm is not None else ()
            close(self.box)

    def _say(self, text: str) -> None:
        style = f"{ink(COLOUR['failed'])};white-space:pre-wrap"
        self._told.value = plain(f'<div role="alert" style="{style}">{block(text)}</div>')
