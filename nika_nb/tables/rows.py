"""Frames → plain rows, before they become columns."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from nika_nb.trace.frame import Frame
from nika_nb.trace.trace import Trace
from nika_nb.values import dumps, loads

_STATES = {
    "task_completed": "success",
    "task_cache_hit": "success",
    "task_failed": "failure",
    "task_skipped": "skipped",
    "task_cancelled": "cancelled",
}


def task_rows(trace: Trace) -> list[dict[str, Any]]:
    """One row per scheduled task: its last known state and figures."""
    rows: dict[str, dict[str, Any]] = {}
    for frame, text in trace.texts():
        task = frame.get("task")
        if not isinstance(task, str):
            continue
        row = rows.setdefault(task, {"task": task, "state": "pending", "cached": False})
        _take(row, frame, text)
    _mark_paused(trace, rows)
    return list(rows.values())


def _take(row: dict[str, Any], frame: Frame, text: str | None) -> None:
    if frame.kind == "task_scheduled":
        row |= {"verb": _text(frame.get("verb")), "note": _text(frame.get("note"))}
    elif frame.kind == "verb_invoked":
        row.setdefault("started", frame.timestamp)
        row["state"] = "running"
    elif frame.kind == "task_started":
        row |= {name: _text(frame.get(name)) for name in ("reason", "parts", "note")}
        row.setdefault("started", frame.timestamp)  # engines that do not tell when work began
    elif frame.kind == "nb_item_completed":
        row["items"] = row.get("items", 0) + 1
    elif frame.kind in _STATES:
        _end(row, frame, text)


def _end(row: dict[str, Any], frame: Frame, text: str | None) -> None:
    outcome = _json(frame.get("outcome"))
    payload = _object(outcome.get("payload"))
    error = _object(payload.get("error"))
    row |= {
        "state": _text(outcome.get("class")) or _STATES[frame.kind],
        "cause": _text(outcome.get("cause")),
        "cached": frame.kind == "task_cache_hit",
        "ended": frame.timestamp,
        "duration": _whole(frame.get("duration_ms")),
        "attempts": _whole(payload.get("attempts")),
        "tokens": _whole(frame.get("tokens")),
        "cost_usd": _number(frame.get("cost_usd")),
        "saved_usd": _number(frame.get("saved_usd")),
        "saved": _whole(frame.get("saved_ms")),
        "output": text,
        "error_code": _text(error.get("code")),
        "error_message": _text(error.get("message")),
        "def_hash": _text(frame.get("def_hash")),
        "input_hash": _text(frame.get("input_hash")),
    }


def _mark_paused(trace: Trace, rows: dict[str, dict[str, Any]]) -> None:
    for prompt in trace.prompts:
        if prompt.task in rows:
            rows[prompt.task]["state"] = "paused"


def event_rows(trace: Trace) -> Iterator[dict[str, Any]]:
    """One row per frame."""
    for frame in trace.frames:
        yield {
            "line": frame.line,
            "time": frame.timestamp,
            "kind": frame.kind,
            "task": _text(frame.get("task")),
            "item": _whole(frame.get("item")),
            "attempt": _whole(frame.get("attempt")),
            "note": _text(frame.get("note")),
            "detail": _text(frame.get("detail")),
            "id": frame.id,
            "run": frame.run,
            "run_id": frame.correlation,
            "fields": dumps(frame.fields),
        }


def _json(text: Any) -> dict[str, Any]:
    try:
        value = loads(text) if isinstance(text, str) else None
    except (ValueError, RecursionError):
        value = None
    return _object(value)


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _whole(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _number(value: Any) -> float | None:
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) else None
