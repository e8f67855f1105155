"""Of very many rows, those that are most worth seeing."""

from __future__ import annotations

from heapq import nlargest

from nika_nb.board.rows import Row, State
from nika_nb.board.state import Board

WINDOW = 40  # rows of a live view
URGENT: dict[State, int] = {"paused": 5, "failed": 4, "retrying": 3, "running": 3}


def window(board: Board, limit: int = WINDOW) -> list[Row]:
    """At most so many rows, in document order: waiting and failed, at work, then the newest."""
    rows = board.tasks
    if len(rows) <= limit:
        return rows
    fresh = {task: at for at, task in enumerate(list(board.recent))}
    best = nlargest(
        limit, rows, key=lambda row: (URGENT.get(row.state, 0), fresh.get(row.id, -1), -row.index)
    )
    return sorted(best, key=lambda row: row.index)
