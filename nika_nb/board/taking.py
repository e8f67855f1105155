"""What a row takes from a frame, whatever the frame's kind: its note, its figures, what it read."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from nika_nb.board.fields import Fields, preview_of
from nika_nb.board.rows import TOLD_ITEMS, Items, Row, State, Talk
from nika_nb.engine.outcome import null_said
from nika_nb.trace.fields import names_of

if TYPE_CHECKING:
    from nika_nb.board.state import Board

_COUNT = re.compile(r" · (\d+) items?\b")
_ITEM_ENDS: dict[str, State] = {"success": "ok", "failure": "failed"}


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


def tell_item(items: Items, fields: Fields) -> None:
    """What became of one item, for whoever opens the fan-out."""
    ended = _ITEM_ENDS.get(str(fields.get("status")), "skipped")
    index = fields.get("item")
    if not items.mark(index, "cached" if fields.get("matched") else ended) or not isinstance(index, int):
        return
    if fields.get("duration_ms") is not None and not fields.get("matched"):
        items.time(index, int(fields["duration_ms"]))
    if index < TOLD_ITEMS:
        items.previews[index] = preview_of(fields)


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
