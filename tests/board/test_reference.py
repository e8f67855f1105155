"""Journals of another engine, drawn by the same board."""

from __future__ import annotations

from pathlib import Path

from nika_nb.board import board_of, still_text
from nika_nb.board.html import still
from nika_nb.trace.frame import Frame, decode
from tests.board.test_hostile import inert


def frames(journal: Path) -> list[Frame]:
    found = []
    for line in journal.read_bytes().splitlines():
        try:
            found.append(decode(line))
        except ValueError:
            continue
    return found


def test_every_stored_journal_can_be_drawn(conformance: Path) -> None:
    """The dialect is shared: whatever the reference wrote has a board, a page and a text."""
    journals = sorted(conformance.rglob("*.ndjson"))
    assert len(journals) > 20
    for journal in journals:
        board = board_of(frames(journal))
        inert(still(board))
        assert still_text(board).startswith("  🦋 nika · ")
        assert board.over


def test_a_reference_journal_tells_its_tasks_and_times(conformance: Path) -> None:
    """Without a dispatch frame a task's own duration is what it took."""
    board = board_of(frames(conformance / "tests/runtime/trace/001-golden-chained-journal/trace.ndjson"))
    assert [(row.id, row.state) for row in board.tasks] == [("think", "ok"), ("stamp", "ok")]
    assert board.rows["stamp"].elapsed_ms() == board.rows["stamp"].duration_ms
    assert board.ran_live == 2
