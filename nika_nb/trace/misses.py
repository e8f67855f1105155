"""Why a task has to run although there is a trace: what differs, what is missing, how it ended."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nika_nb.catalog.frames import TASK_SUCCESSES
from nika_nb.engine.memory import Hit, Miss
from nika_nb.engine.outcome import blocked_said
from nika_nb.plan.identity import Identity
from nika_nb.trace.fields import inner, said, shape_of
from nika_nb.trace.frame import Frame
from nika_nb.trace.remembered import Record, Remembered
from nika_nb.values import unequal


def missed(known: Remembered | None, *, asked: bool) -> Miss:
    """Why there is no success of a task that could be used. asked: the trace waits for its answer."""
    if known is None:
        return Miss("new")
    last = known.last
    if last is None and None in known.failed_open:
        return Miss("not-recorded", detail=ended(known.failed_open[None]))
    if last is None:
        detail = "was running" if known.flying or known.item_ends else "never started"
        return Miss("not-recorded", detail="waited for an answer" if asked else detail)
    if last.kind in TASK_SUCCESSES:
        reason = last.get("not_resumable")
        if isinstance(reason, str):
            return Miss("not-resumable", detail=reason)
        return Miss("not-recorded", detail=known.why)
    return Miss("not-recorded", detail=ended(last))


def missed_item(known: Remembered | None, identity: Identity, index: int) -> Miss:
    """The same for one item of a task."""
    if known is None:
        return Miss("new")
    same = known.by_index.get(index)
    if same is not None and same.keys != (identity.def_hash, identity.input_hash):
        return differs(same, identity)
    end = known.item_ends.get(index)
    if end is not None and end.get("status") != "success":
        return Miss("not-recorded", detail=ended(end))
    if end is not None and isinstance(end.get("not_resumable"), str):
        return Miss("not-resumable", detail=end.get("not_resumable"))
    if index in known.flying:
        return Miss("not-recorded", detail="was running")
    if known.last is not None and known.last.kind in TASK_SUCCESSES and known.item_ends:
        return Miss("new")
    return Miss("not-recorded", detail="never started")


def better(found: Miss, behind: Hit | Miss) -> Hit | Miss:
    """What the earlier trace knows, where that says more than that the later one broke off."""
    telling = isinstance(behind, Hit) or behind.reason in ("definition", "input", "not-resumable")
    return behind if telling else found


def differs(record: Record, identity: Identity) -> Miss:
    """The parts of a task or an item that are not what they were when it succeeded."""
    if record.def_hash != identity.def_hash:
        recorded = shape_of(record.frame.get("definition_parts"))
        return Miss("definition", _differing(recorded, identity.definition_parts))
    return Miss("input", _differing(shape_of(record.frame.get("input_parts")), identity.input_parts))


def _differing(recorded: Mapping[str, Any], current: Mapping[str, str]) -> tuple[str, ...]:
    """Empty where no parts were recorded."""
    return unequal(recorded, current) if recorded and current else ()


def ended(frame: Frame) -> str:
    """How a task or an item ended that is no success: `failed (NIKA-…)`, `blocked (a failed)`, `skipped`."""
    status = {"task_failed": "failure", "task_cancelled": "cancelled", "task_skipped": "skipped"}
    kind = status.get(frame.kind) or str(frame.get("status"))
    by = said(frame.get("blocked_by")) if kind == "cancelled" else None
    if by is not None:
        return f"blocked ({blocked_said(by, said(frame.get('note')) or '')})"
    if kind != "failure":
        return kind
    error = inner(shape_of(frame.get("outcome")), "payload").get("error")
    code = error.get("code") if isinstance(error, dict) else None
    code = code or str(frame.get("detail") or "").partition(" · ")[0]
    return f"failed ({code})" if code else "failed"
