"""Boards that are kept on the way through a journal, so that no look back has to begin at its beginning."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import fields, replace
from typing import Any

from nika_nb.board.rows import Row
from nika_nb.board.state import Board

MOST = 128  # boards that are kept
MOST_ROWS = 500_000  # and rows that they may have together; the items of a fan-out weigh as some more
_ITEMS = 100  # items that weigh as one row


class Moving(Board):
    """A board that goes on from another one: a row that both have is copied before it changes."""

    _own: set[str]

    @classmethod
    def of(cls, board: Board) -> Moving:
        moving = cls(**_parts(board))
        moving._own = set()
        return moving

    def fork(self) -> Board:
        """The board as it stands; whatever comes next does not reach it."""
        self._own.clear()
        return Board(**_parts(self))

    def row(self, task: str) -> Row:
        row = super().row(task)
        if task not in self._own:
            self._own.add(task)
            row = self.rows[task] = _copied(row)
        return row

    def close(self) -> None:
        for task in list(self._busy):
            self.row(task)
        super().close()


def _parts(board: Board) -> dict[str, Any]:
    """The fields of a board, each container a new one; what the containers hold is shared."""
    found = {field.name: getattr(board, field.name) for field in fields(board)}
    return {name: value.copy() if hasattr(value, "copy") else value for name, value in found.items()}


def _copied(row: Row) -> Row:
    """A row that shares nothing that can change."""
    return replace(row, **{field.name: _deeply(getattr(row, field.name)) for field in fields(row)})


def _deeply(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _deeply(inside) for key, inside in value.items()}
    if isinstance(value, list):
        return [_deeply(inside) for inside in value]
    if isinstance(value, bytearray):
        return value.copy()
    if hasattr(value, "__dataclass_fields__"):
        return replace(value, **{field.name: _deeply(getattr(value, field.name)) for field in fields(value)})
    return value


class Kept:
    """Boards by the number of the stop they stand at, ever sparser as there come more."""

    def __init__(self) -> None:
        self._numbers: list[int] = []
        self._boards: list[Board] = []
        self._gap = 1

    def offer(self, number: int, board: Moving) -> None:
        """Keeps the board where the last kept one lies far enough behind. Numbers only grow."""
        if self._numbers and number - self._numbers[-1] < self._gap:
            return
        self._numbers.append(number)
        self._boards.append(board.fork())
        most = max(2, min(MOST, MOST_ROWS // _weight(board)))
        while len(self._numbers) > most:
            self._thin()

    def before(self, number: int) -> tuple[int, Board] | None:
        """The last board that is kept at this stop or in front of it."""
        at = bisect_right(self._numbers, number) - 1
        return (self._numbers[at], self._boards[at]) if at >= 0 else None

    def _thin(self) -> None:
        self._gap *= 2
        del self._numbers[1::2], self._boards[1::2]


def _weight(board: Board) -> int:
    """How many rows a board is worth, at least one."""
    items = sum(len(row.items.states) for row in board.rows.values() if row.items)
    return 1 + len(board.rows) + items // _ITEMS
