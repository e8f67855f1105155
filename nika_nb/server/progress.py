"""How far a run has come, told to whoever waits for it: seldom enough to bear, often enough to believe."""

from __future__ import annotations

import time
from collections.abc import Callable

from nika_nb.board.rows import Row
from nika_nb.board.state import Board
from nika_nb.board.text import items_said
from nika_nb.runs.run import Run

EVERY = 0.25  # seconds between two pieces of news
BEAT = 5.0  # seconds after which it is told that a run is still at work
_SHOWN = 3  # tasks at work that are named
_ENDS = {"ok": "completed", "cached": "cache hit"}

News = tuple[float, int, str]  # how many tasks have settled, of how many, what is happening


class Progress:
    """What has come of a run since the last word. Each word is about more than the last one."""

    def __init__(self, run: Run, clock: Callable[[], float] = time.monotonic) -> None:
        self._run = run
        self._clock = clock
        self._told = 0.0
        self._at = clock()
        self._settled: set[str] = set()

    def news(self) -> News | None:
        """What is due now. A task that is at work counts as far as its items and its calls have settled."""
        board, waited = self._run.catch_up(), self._clock() - self._at
        if waited < EVERY:
            return None
        done = _done(board)
        if done <= self._told and waited >= BEAT:
            done = self._told + (len(board.rows) - self._told) / 1000  # the same again may not be said
        return self._word(board, done)

    def last(self) -> News | None:
        """What is left to tell of a run that has stopped."""
        board = self._run.catch_up()
        return self._word(board, _done(board))

    def _word(self, board: Board, done: float) -> News | None:
        if done <= self._told:
            return None
        self._told, self._at = done, self._clock()
        just = [row for row in board.rows.values() if row.settled and row.id not in self._settled]
        self._settled.update(row.id for row in just)
        return done, len(board.rows), _ended(just) if just else _at_work(board)


def _done(board: Board) -> float:
    return sum(map(_share, board.rows.values()))


def _share(row: Row) -> float:
    """How much of a task is done, from 0 to 1."""
    if row.settled:
        return 1.0
    if row.items is not None and row.items.total:
        return min(1.0, row.items.done / row.items.total)
    all_of_them = sum(size for _, size in row.called.values())
    return sum(settled for settled, _ in row.called.values()) / all_of_them if all_of_them else 0.0


def _ended(just: list[Row]) -> str:
    last = max(just, key=lambda row: (row.ended or 0, row.index))
    more = f" and {len(just) - 1} more" if len(just) > 1 else ""
    return f"{last.id}: {_ENDS.get(last.state, last.state)}{more}"


def _at_work(board: Board) -> str:
    """The tasks at work, a fan-out with how many of its items have settled."""
    rows = [row for row in board.rows.values() if row.state in ("running", "retrying")]
    named = [f"{row.id}: {items_said(row) or row.state}" for row in rows[:_SHOWN]]
    more = [f"{len(rows) - _SHOWN} more"] if len(rows) > _SHOWN else []
    return ", ".join([*named, *more]) or board.state
