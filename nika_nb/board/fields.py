"""What the fields of a frame say, read with care: a journal may come from anywhere."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from nika_nb.board.clean import error_text, one_line
from nika_nb.engine.contract import Prompt
from nika_nb.errors import visible
from nika_nb.trace.fields import inner, shape_of, whole

Fields = Mapping[str, Any]

PREVIEW = 160  # characters of an output worth showing
_HEAD = 60  # characters of an outcome in which its class and its cause stand


def preview_of(fields: Fields) -> str:
    """The beginning of an output's JSON text; a string is shown without its quotes."""
    text = fields.get("output")
    if not isinstance(text, str) or text in ("null", '""'):
        return ""
    if text.startswith('"'):
        text = _string(text[: PREVIEW * 6], len(text) > PREVIEW * 6)
    return one_line(text[: PREVIEW * 2], PREVIEW)


def _string(text: str, cut: bool) -> str:
    """The beginning of a JSON string, read as far as it goes."""
    for end in range(len(text), max(1, len(text) - 12), -1) if cut else ():
        value = json_of(text[:end] + '"', None)
        if isinstance(value, str):
            return value
    value = json_of(text, "")
    return value if isinstance(value, str) else ""


def json_of(value: Any, otherwise: Any) -> Any:
    """A field that is JSON text, read; what is absent or not JSON is `otherwise`."""
    if not isinstance(value, str):
        return otherwise if value is None else value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return otherwise


def recovered_from(fields: Fields) -> str:
    """The code of what a success recovered from; a whole outcome is read only where there is one."""
    return _code_in(fields, "recovered", "recovered_from")


def let_go_on(fields: Fields) -> str:
    """The code of what an item was skipped on."""
    return _code_in(fields, "error_skip", "error")


def _code_in(fields: Fields, cause: str, member: str) -> str:
    text = str(fields.get("outcome", ""))
    if f'"cause":"{cause}"' not in text[:_HEAD]:
        return ""
    return str(inner(inner(shape_of(text), "payload"), member).get("code", ""))


def attempts_of(fields: Fields) -> int:
    """How often a failure had been tried that is only told again; 0 where that is not known."""
    again = fields.get("started_ns") is not None and fields.get("detail") is not None
    payload = inner(shape_of(fields.get("outcome")), "payload") if again else {}
    return whole(payload.get("attempts")) or whole(inner(payload, "error").get("attempt")) or 0


def took_of(fields: Fields, known: int | None) -> int | None:
    """The milliseconds that the work of a task took; of an end that is told again, as it was told first."""
    if fields.get("duration_ms") is not None:
        return int(fields["duration_ms"])
    began, ended = fields.get("started_ns"), fields.get("ended_ns")
    return known if began is None or ended is None else max(0, (int(ended) - int(began)) // 10**6)


def prompt_of(found: Fields) -> Prompt:
    """A question as the journal tells it; the frame itself stands in where it lists none."""
    return Prompt(
        task=visible(str(found.get("task", ""))),
        mode=found.get("mode") or "confirm",
        message=str(found.get("message", "") or ""),
        choices=tuple(str(c) for c in json_of(found.get("choices"), []) or ()),
        default=found.get("default"),
        has_default="default" in found,
        item=found.get("item"),
        gates=tuple(found.get("gates") or ()),
        effects=tuple(found.get("effects") or ()),
        shown_hash=str(found.get("shown_hash") or found.get("approval_shown_hash") or ""),
        inner=visible(str(found.get("inner") or "")),
        conditions=tuple(map(str, found.get("conditions") or ())),
    )


def retry_of(fields: Fields) -> str:
    """Which attempt failed, of how many, and with what code."""
    tries = f"attempt {fields.get('attempt', '?')} of {fields.get('max_attempts', '?')} failed"
    return f"{tries} · {fields['code']}" if fields.get("code") else tries


def item_fault_of(fields: Fields) -> str:
    """`[3] CODE · message`: how an item of a fan-out failed, with all that its program said at its end."""
    outcome = json_of(fields.get("outcome"), {})
    error = (outcome.get("payload") or {}).get("error") or {}
    said = " · ".join(str(error[key]) for key in ("code", "message") if error.get(key))
    return error_text(f"[{fields.get('item')}] {said}")
