"""The player of a replay: a play button, a slider over the steps, the state at each, outputs to look into."""

from __future__ import annotations

import threading
from collections.abc import Callable
from itertools import chain, islice
from typing import Any
from uuid import uuid4

from nika_nb.board import stepped_html
from nika_nb.board.clean import block, one_line
from nika_nb.board.replay import Replay
from nika_nb.board.style import COLOUR, ink, plain, signed
from nika_nb.interrupts import undisturbed
from nika_nb.notebook.clicks import clicked
from nika_nb.notebook.closing import belongs, close
from nika_nb.notebook.shown import EMPTY, show, view
from nika_nb.notebook.surface import Surface

OFFERED = 300  # names that one may choose from
HERE = "what settled here"
INTERVAL = 800  # milliseconds from one step to the next
SPEEDS = {"½×": 0.5, "1×": 1.0, "2×": 2.0, "5×": 5.0, "20×": 20.0}
FINER = "items and called tasks"
_HEARD = {
    "play": (r"\f04b", "play"), "pause": (r"\f04c", "pause"), "stop": (r"\f04d", "to the beginning"),
    "step-backward": (r"\f048", "one step back"), "step-forward": (r"\f051", "one step forward"),
}  # fmt: skip


class Player:
    """The widgets of one replay. Whatever is clicked or dragged only reads.

    A callback's prints and exceptions belong to no cell, so what goes wrong is said in the player.
    """

    def __init__(self, replay: Replay) -> None:
        from ipywidgets import HTML, HBox, VBox

        self.replay = replay
        self._turn = threading.RLock()  # a kernel may hear several widgets at the same time
        self.classes = f"nika-replay-{uuid4().hex}"
        self._head, self._marks, self._status, self._state, self._value = (
            HTML(layout={"margin": "0"}) for _ in range(5)
        )
        self._build()
        buttons = [self.play, self.back, self.forth, self.speed, *([self.finer] if replay.has_finer else [])]
        proofs = HTML(stepped_html.proofs(replay), layout={"margin": "6px 0 0 0"})
        inspected = VBox([self.name, self._value], layout={"margin": "8px 0 0 0"})
        parts = [
            self._head,
            HBox(buttons, layout={"align_items": "center"}),
            self.slider,
            self._marks,
            self._status,
            self._state,
            inspected,
            proofs,
        ]
        self.box = VBox(parts, layout={"margin": "0", "padding": "6px 12px"})
        self.box.add_class(f"of-{self.classes}")
        self._head.value = _style(self.classes) + stepped_html.head(replay) + _gone(self.classes)
        self._load(replay, 0)

    def show(self) -> None:
        """Two outputs in the cell that runs now: a page without the kernel shows the second, the still."""
        with undisturbed():  # the first one hides the second
            show(view(self.box) | EMPTY, uuid4().hex)
            show(stepped_html.mimebundle(self.replay, self.classes), uuid4().hex)

    def clear(self) -> None:
        """It is on no page any more."""
        close(self.box, self._link)

    # -- inside ----------------------------------------------------------------------------

    def _build(self) -> None:
        from ipywidgets import Button, Checkbox, Dropdown, IntSlider, Play, jslink

        narrow = {"width": "40px"}
        self.play = Play(interval=INTERVAL, show_repeat=False, tooltip="play the steps")
        self.slider = IntSlider(
            readout=False, tooltip="the step shown", layout={"width": "auto", "margin": "0"}
        )
        self.back = Button(icon="step-backward", tooltip="one step back", layout=narrow)
        self.forth = Button(icon="step-forward", tooltip="one step forward", layout=narrow)
        self.speed = Dropdown(options=SPEEDS, value=1.0, description="speed", layout={"width": "130px"})
        self.speed.style.description_width = "initial"
        auto = {"width": "auto", "margin": "2px 2px 2px 12px"}
        self.finer = Checkbox(value=self.replay.fine, description=FINER, indent=False, layout=auto)
        own = {"description_width": "initial"}
        self.name = Dropdown(description="output of", style=own, layout={"width": "min(420px, 100%)"})
        self._link = jslink((self.play, "value"), (self.slider, "value"))
        self.back.on_click(lambda _: self._safely(lambda: self._move(-1)))
        self.forth.on_click(lambda _: self._safely(lambda: self._move(1)))
        self.speed.observe(lambda change: self._pace(change["new"]), "value")
        self.finer.observe(lambda change: self._safely(lambda: self._refine(change["new"])), "value")
        self.slider.observe(lambda _: self._safely(self._paint), "value")
        self.name.observe(lambda _: self._safely(self._paint_value), "value")

    def _load(self, replay: Replay, at: int) -> None:
        """Another replay of the same run, finer or coarser."""
        self.replay = replay
        last = len(replay) - 1
        self.slider.value = self.play.value = 0
        self.slider.max = self.play.max = last
        self.slider.value = self.play.value = at
        self._marks.value = stepped_html.marks(replay)
        self.name.options = [(HERE, ""), *((one_line(name, 80), name) for name in self._names())]
        self.name.value = ""
        self._safely(self._paint)

    def _names(self) -> list[str]:
        """Every task, then what lies within them, as many as one can still choose from."""
        last = self.replay[-1]
        return list(islice(chain(last.board.rows, last.within), OFFERED))

    def _refine(self, fine: bool) -> None:
        now = self.replay[self.slider.value]
        replay = self.replay.with_fine(fine)
        self._load(replay, replay.same(now).index)

    def _move(self, by: int) -> None:
        self.slider.value = max(0, min(self.slider.max, self.slider.value + by))

    def _pace(self, speed: float) -> None:
        self.play.interval = round(INTERVAL / speed)

    def _paint(self) -> None:
        step = self.replay[self.slider.value]
        self._status.value = stepped_html.status(step)
        self._state.value = stepped_html.state(step, live=True)
        self._paint_value()

    def _paint_value(self) -> None:
        step = self.replay[self.slider.value]
        self._value.value = stepped_html.known(step, self.name.value or step.task)

    def _safely(self, action: Callable[[], Any]) -> None:
        with self._turn:
            clicked(action, self._say)

    def _say(self, text: str) -> None:
        self._status.value = plain(f'<div role="alert" style="{ink(COLOUR["failed"])}">{block(text)}</div>')


def _style(name: str) -> str:
    """Where the player lives nobody needs its still; where its kernel has gone, that is said; its buttons
    are pictures only, so their pictures are told in words.
    """
    gone = f".jupyter-widgets-disconnected .gone-{name}{{display:block !important}}"
    heard = "".join(
        f'.of-{name} .fa-{sign}::before{{content:"{glyph}" / "{word}"}}'
        for sign, (glyph, word) in _HEARD.items()
    )
    return f"<style>.{name}{{display:none}} {gone}{heard}</style>"


def _gone(name: str) -> str:
    said = "The kernel that read the trace is gone, so nothing here moves any more: run the cell again."
    sign = signed("⚠", COLOUR["retrying"])
    return plain(f'<div class="gone-{name}" style="display:none">{sign} {said}</div>')


def players(shell: Any) -> None:
    """From here on the shell shows a replay with a player where somebody can use it, else as a still."""
    surface = Surface(shell)

    def draw(replay: Replay) -> None:
        if surface.has_widgets and surface.interactive:
            player = Player(replay)
            player.show()
            belongs(player, surface.cell_id, surface.execution)
        else:
            show(stepped_html.mimebundle(replay), uuid4().hex)

    shell.display_formatter.ipython_display_formatter.for_type(Replay, draw)
