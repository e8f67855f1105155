"""One journaled event as one short line: what a still keeps of the journal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nika_nb.board.clean import error_line, one_line
from nika_nb.catalog.frames import LIVE_ONLY
from nika_nb.engine.outcome import cancelled_said

KEPT = 120  # lines
_SILENT = LIVE_ONLY | {"task_scheduled", "nb_source_page", "nb_output_page", "nb_prompt_page", "nb_child"}
_TOLD = ("note", "reason", "plane", "gate", "decision", "tool", "code", "when", "blocked_by", "detail")


def told(kind: str, fields: Mapping[str, Any], after_ms: int) -> str:
    """`+0.027s  task_completed  hash_notes  exec · shasum`; empty for what is not worth a line."""
    if kind in _SILENT or (fields.get("item") is not None and fields.get("status") != "failure"):
        return ""
    task = str(fields.get("task", ""))
    if fields.get("item") is not None:
        task += f"[{fields['item']}]"
    told = (_fact(kind, name, fields[name]) for name in _TOLD if fields.get(name) not in (None, ""))
    facts = " · ".join(map(error_line, told))
    words = "  ".join(one_line(word, 100) for word in (kind, task, facts) if word)
    return f"+{after_ms / 1000:.3f}s  {words}"


def _fact(kind: str, name: str, value: Any) -> str:
    return cancelled_said(str(value)) if (kind, name) == ("task_cancelled", "note") else str(value)
