"""A replay on a terminal: one screen that follows the keys, and the last of it stays when it is left."""

from __future__ import annotations

import sys

from nika_nb.board import stepped, text
from nika_nb.board.clean import one_line
from nika_nb.board.replay import Replay, Step
from nika_nb.board.state import Board
from nika_nb.board.window import window
from nika_nb.cli.keys import CLOSED, DOWN, END, HOME, LEFT, RIGHT, UP, Keys
from nika_nb.cli.region import Region, fit
from nika_nb.cli.replay import notes, pause

HELP = "  space plays and stops · ← → step · home end · ↑ ↓ choose an output · q leaves"
_HIDE, _SHOW = "\x1b[?25l", "\x1b[?25h"  # the cursor
_TRACK = 40  # columns of the line that stands for the slider
_MOST_NOTES = 4
_MOST_OUTPUT = 12  # lines


class Screening:
    """Steps with the keys, or plays. speed: times the recorded pace; None: evenly, and not by itself."""

    def __init__(self, replay: Replay, start: int = 0, speed: float | None = None) -> None:
        self._replay = replay
        self._index = start
        self._speed = speed
        self._playing = speed is not None
        self._chosen: str | None = None  # the output that is shown; None: of what settled here
        self._region = Region(sys.stdout)

    def run(self) -> None:
        """Until it is left, or an interrupt; the terminal is then as it was."""
        sys.stdout.write(_HIDE)
        try:
            with Keys() as keys:
                while self._turn(keys):
                    pass
        finally:
            sys.stdout.write(_SHOW)
            sys.stdout.flush()

    def _turn(self, keys: Keys) -> bool:
        """Paints, waits for keys or for the next step, and follows; whether it goes on."""
        self._playing = self._playing and self._index < len(self._replay) - 1
        self._paint()
        wait = pause(self._replay, self._index + 1, self._speed) if self._playing else None
        pressed = keys.pressed(wait)
        if not pressed:
            self._index += 1
        return all(self._follow(key) for key in pressed)

    def _follow(self, key: str) -> bool:
        last = len(self._replay) - 1
        moves = {LEFT: self._index - 1, RIGHT: self._index + 1, HOME: 0, END: last}
        if key in moves:
            self._playing = False
            self._index = max(0, min(last, moves[key]))
        elif key == " ":
            self._index = 0 if self._index == last and not self._playing else self._index
            self._playing = not self._playing
        elif key in (UP, DOWN):
            self._choose(1 if key == DOWN else -1)
        return key not in ("q", "Q", CLOSED)

    def _choose(self, by: int) -> None:
        """The next of the outputs that are known here; in front of the first is what settled here."""
        names = [None, *self._replay[self._index].outputs]
        at = names.index(self._chosen) if self._chosen in names else 0
        self._chosen = names[(at + by) % len(names)]

    # -- the screen ----------------------------------------------------------------------------

    def _paint(self) -> None:
        columns, height = self._region.size()
        lines = self._lines(self._replay[self._index], height - 1)
        self._region.paint([fit(line, columns - 1) for line in lines[: height - 1]])

    def _lines(self, step: Step, height: int) -> list[str]:
        """What fits on a screen: the step, the rows, and of an output as much as there is room for."""
        board = step.board
        head = [
            f"  {stepped.title(self._replay)}",
            *self._notes(),
            "",
            self._track(),
            f"  {stepped.spoken(step)}",
        ]
        foot = ["", HELP]
        room = max(3, height - len(head) - len(foot) - 3)
        output = self._output(step, min(_MOST_OUTPUT, room // 2))
        return [
            *head,
            "",
            *self._rows(board, room - len(output)),
            text.meter(board, board.last),
            *output,
            *foot,
        ]

    def _notes(self) -> list[str]:
        found = notes(self._replay)
        left = len(found) - _MOST_NOTES
        return found if left <= 0 else [*found[:_MOST_NOTES], f"  ! and {left} more"]

    def _track(self) -> str:
        """`▶ ━━━━●────── `: how far it is."""
        at = round((_TRACK - 1) * self._index / max(1, len(self._replay) - 1))
        return f"  {'▶' if self._playing else '‖'} {'━' * at}●{'─' * (_TRACK - 1 - at)}"

    def _rows(self, board: Board, most: int) -> list[str]:
        """As many of the rows as there is room for, those that matter most, with what stands under them."""
        shown = window(board, max(1, most - 1))
        width = text.id_width(board)
        pieces = [[text.line(row, width, board.last), *text.under(row)] for row in shown]
        lines = [line for piece in pieces for line in piece]
        if len(lines) > most:
            lines = [piece[0] for piece in pieces]
        left = len(board.rows) - len(shown)
        return [*lines, f"  … and {left} more"] if left else lines

    def _output(self, step: Step, most: int) -> list[str]:
        name = self._chosen or step.task
        lines = stepped.known(step, name, most)
        what = "of what settled here" if self._chosen is None else f"of {one_line(self._chosen, 60)}"
        return ["", f"  output {what}", *lines] if lines else []
