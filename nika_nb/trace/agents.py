"""What an agent did, from the frames of its turns: each reply of the model, and each tool it called."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from nika_nb.trace.fields import said, whole
from nika_nb.trace.frame import Frame

TURN = "agent_budget_checkpoint"  # a reply of the model is in
CALL = "tool_invoked"
ARGUMENTS = "nb_arguments"
ERROR = "nb_error"


def failed(fields: Mapping[str, Any]) -> bool:
    """Whether a tool call gave an error."""
    return fields.get("status") != "ok"


def note_of(kind: str, fields: Mapping[str, Any]) -> str | None:
    """`turn 2 · nika:read · NIKA-BUILTIN-001`, `turn 2 · 41 tokens`; None of any other frame."""
    turn = f"turn {fields.get('turn', '?')}"
    if kind == TURN:
        return f"{turn} · {fields.get('total_tokens', 0):,} tokens so far"
    if kind != CALL:
        return None
    how = (said(fields.get("code")) or "failed") if failed(fields) else "ok"
    return f"{turn} · {said(fields.get('tool')) or '?'} · {how}"


def detail_of(kind: str, fields: Mapping[str, Any]) -> str | None:
    """The arguments of a tool call and what it failed with, as far as they are journaled."""
    known = (said(fields.get(name)) for name in (ARGUMENTS, ERROR))
    return " · ".join(filter(None, known)) or None if kind == CALL else None


def told(frames: Iterable[Frame], task: str, item: int | None = None) -> Iterator[str]:
    """A line a turn, and a line a call below it. Of a task that was tried again, attempt by attempt."""
    attempt, before = 1, 0
    for frame in frames:
        if frame.kind not in (TURN, CALL) or (frame.get("task"), frame.get("item")) != (task, item):
            continue
        if (whole(frame.get("attempt")) or 1) != attempt:
            attempt, before = whole(frame.get("attempt")) or 1, 0
            yield f"attempt {attempt}"
        if frame.kind == TURN:
            total = whole(frame.get("total_tokens")) or 0
            yield f"turn {frame.get('turn', '?')} · {total - before:,} tokens"
            before = total
        else:
            yield f"  {_call(frame.fields)}"


def _call(fields: Mapping[str, Any]) -> str:
    arguments = said(fields.get(ARGUMENTS)) or "(arguments not recorded)"
    line = f"{'✖' if failed(fields) else '✔'} {said(fields.get('tool')) or '?'} {arguments}"
    why = (said(fields.get(name)) for name in ("code", ERROR))
    return " ".join(" · ".join([line, *filter(None, why)]).split())
