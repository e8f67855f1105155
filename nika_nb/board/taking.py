"""What a row takes from a frame, whatever the frame's kind: its note, its figures, what it read."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from nika_nb.board.fields import Fields
from nika_nb.board.rows import Items, Row, Talk
from nika_nb.engine.outcome import null_said
from nika_nb.trace.fields import names_of

if TYPE_CHECKING:
    from nika_nb.board.state import Board

_COUNT = re.compile(r" · (\d+) items?\b")


def nulls_of(board: Board, row: Row) -> tuple[str, ...]:
    """What the task reads of others that gave nothing: they have settled before it begins."""
    found = []
    for name, kind, binding in row.needs:
        producer = board.rows.get(name) if kind == "value" else None
        if producer is not None and producer.state == "skipped":
            found.append(null_said(binding, name))
        elif producer is not None and producer.recovered and producer.gave_null:
            found.append(null_said(binding, name, f"recovered from {producer.recovered}"))
    return tuple(dict.fromkeys(found))


def files_changed(fields: Fields) -> dict[str, None]:
    return dict.fromkeys(names_of(fields.get("files_changed")))


def take_note(row: Row, fields: Fields) -> None:
    note = fields.get("note")
    if note:
        row.note = str(note)
        found = _COUNT.search(row.note)
        if found:
            items_of(row).total = int(found.group(1))


def items_of(row: Row) -> Items:
    if row.items is None:
        row.items = Items()
    return row.items


def talk_of(row: Row) -> Talk:
    if row.talk is None:
        row.talk = Talk()
    return row.talk


def spend(row: Row, kind: str, fields: Fields) -> None:
    row.spending.take(kind, fields)
    total = row.spending.total
    row.cost_usd, row.tokens, row.unpriced = total.sums.usd, total.sums.tokens or 0, total.unpriced
    saved = total.saved
    row.saved_usd, row.saved_tokens, row.saved_ms = saved.usd or 0.0, saved.tokens or 0, saved.ms or 0
