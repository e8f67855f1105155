"""The row buttons of a run that is over: run from here, roll an item again, open an output."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from shlex import quote
from typing import Any

from nika_nb.board.clean import block, inline, one_line
from nika_nb.board.outputpage import page_html
from nika_nb.board.rows import ITEM_STATES, Row
from nika_nb.board.state import Board
from nika_nb.board.style import COLOUR, MONO, QUIET, RUN_TONE, ink, plain
from nika_nb.board.text import UNICODE
from nika_nb.board.told import named
from nika_nb.notebook.clicks import clicked
from nika_nb.notebook.closing import close
from nika_nb.notebook.echo import Echoes
from nika_nb.notebook.living import VANISHING, vanishes
from nika_nb.notebook.shown import blanks, thread
from nika_nb.runs.results import sections_of

Roll = Callable[[str], None]

_LINE = f"{MONO};font-size:12px;line-height:1.4;padding:7px 0 0 8px;overflow-wrap:anywhere;{QUIET}"


class Actions:
    """Acts on one row of a run; each button shows the line it stands for.

    `roll` begins another run from a task or an item, and returns at once.
    """

    def __init__(self, roll: Roll) -> None:
        from ipywidgets import BoundedIntText, Dropdown, HBox, Layout, VBox

        self._roll = roll
        self._trace = Path()
        self._rows: dict[str, Row] = {}
        near = {"description_width": "initial"}
        self.task = Dropdown(description="Row", style=near, layout={"width": "min(340px, 100%)"})
        self.item = BoundedIntText(description="Item", min=0, style=near, layout={"width": "140px"})
        self.said, self.opened, style, *lines = blanks(6)
        style.value = VANISHING
        beside = Layout(margin="0", flex="1 1 0", min_width="0")
        for line in lines:
            line.layout = beside
        self._lines = dict(zip(("from", "item", "open"), lines, strict=True))
        self.buttons = {
            "from": self._button("Run from here", "play", lambda: self._again(self.row.id)),
            "item": self._button("Roll this item again", "refresh", lambda: self._again(self.unit)),
            "open": self._button("Open output", "search", self._open),
        }
        row, item_row = Layout(), Layout()
        rows = {"from": row, "item": item_row, "open": row}
        boxes = [HBox([self.buttons[name], self._lines[name]], layout=rows[name]) for name in rows]
        self._item_row = item_row
        top = HBox([self.task, self.item], layout={"flex_flow": "row wrap"})
        edge = {"margin": "0", "padding": "4px 12px"}
        self.box = VBox([top, *boxes, self.said, self.opened, style], layout=edge)
        vanishes(self.box)
        self._echoes = Echoes(self.task, self.item)
        self._turn = threading.Lock()
        self.task.observe(lambda _: self._chosen(), "value")
        self.item.observe(lambda _: self._told(), "value")

    def renew(self, board: Board, trace: Path) -> None:
        """The run that they act on is over, and this is how."""
        rows = board.tasks
        self._rows, self._trace = {row.id: row for row in rows}, trace
        again = self.task.value in self._rows
        chosen, item = self.task.value if again else _telling(rows), self.item.value
        self.task.options = [(f"{UNICODE[row.state]} {one_line(row.id, 60)}", row.id) for row in rows]
        self.task.value = chosen
        self.box.layout.border_left = f"3px solid {RUN_TONE[board.state]}"
        self._chosen()
        if again:
            self.item.value = min(item, self.item.max)
        self._enable(True)

    def say(self, text: str, wrong: bool = False) -> None:
        tone, role = (ink(COLOUR["failed"]), "alert") if wrong else (QUIET, "status")
        style = f"{tone};white-space:pre-wrap"
        self.said.value = plain(f'<div role="{role}" style="{style}">{block(text)}</div>') if text else ""

    def close(self) -> None:
        """They go from the page."""
        self._echoes.close()
        close(self.box)

    # -- inside ----------------------------------------------------------------------------

    @property
    def row(self) -> Row:
        return self._rows[self.task.value]

    @property
    def unit(self) -> str:
        """What is looked into: the task, of a fan-out one item."""
        return named(self.row.id, self.item.value if self._items else None)

    @property
    def _items(self) -> int:
        return len(self.row.items.states) if self.row.items else 0

    def _chosen(self) -> None:
        """Another row: where it is a fan-out, its first failed item, else the first."""
        if not self._rows:
            return
        states = self.row.items.states if self.row.items else b""
        failed = states.find(ITEM_STATES.index("failed"))
        self.item.max = max(0, len(states) - 1)
        self.item.value = max(0, failed)
        shown = "" if states else "none"
        self.item.layout.display = self._item_row.display = shown
        self.opened.value = ""
        self._told()

    def _told(self) -> None:
        name = quote(self._trace.name)
        lines = {
            "from": f"%nika resume {name} --from {quote(self.row.id)}",
            "item": f"%nika resume {name} --from {quote(self.unit)}",
            "open": f"%nika show {name} {quote(self.unit)}",
        }
        for key, line in lines.items():
            self.buttons[key].tooltip = one_line(line)
            self._lines[key].value = f'<div style="{_LINE}">{inline(line)}</div>'

    def _button(self, label: str, icon: str, action: Callable[[], None]) -> Any:
        from ipywidgets import Button

        button = Button(description=label, icon=icon, layout={"width": "190px", "flex": "none"})
        button.on_click(lambda _: self._pressed(action))
        return button

    def _pressed(self, action: Callable[[], None]) -> None:
        """The first click wins, on whichever button, and acts on what the page shows."""
        with self._turn:
            if self.buttons["from"].disabled:
                return
            self._enable(False)
        self.say("")
        self._echoes.then(partial(clicked, action, self._wrong), self._wrong)

    def _again(self, key: str) -> None:
        self.opened.value = ""
        self._roll(key)

    def _open(self) -> None:
        """A journal may be long: it is read beside the kernel's other work."""
        thread(partial(self._read, self._trace, self.unit), "nika-output").start()

    def _read(self, trace: Path, unit: str) -> None:
        def opened() -> None:
            self.opened.value = page_html(unit, sections_of(trace, unit))

        if clicked(opened, self._wrong):
            self._enable(True)

    def _wrong(self, text: str) -> None:
        self.say(text, wrong=True)
        self._enable(True)

    def _enable(self, on: bool) -> None:
        for widget in (*self.buttons.values(), self.task, self.item):
            widget.disabled = not on


def _telling(rows: list[Row]) -> str:
    """The row that is most likely meant: the first that failed, else the last that ran."""
    failed = (row.id for row in rows if row.state == "failed")
    ran = (row.id for row in reversed(rows) if row.state in ("ok", "running", "retrying"))
    return next(failed, None) or next(ran, rows[0].id)
