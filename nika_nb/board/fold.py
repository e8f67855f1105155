"""What each kind of frame does to a board, one function a kind; kinds that are not here change nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from nika_nb.board.clean import last_line, one_line
from nika_nb.board.fields import (
    Fields,
    attempts_of,
    item_fault_of,
    json_of,
    let_go_on,
    preview_of,
    prompt_of,
    recovered_from,
    retry_of,
    took_of,
)
from nika_nb.board.rows import Row, RunState, State
from nika_nb.board.spending import ITEM, RETRIES
from nika_nb.board.taking import files_changed, items_of, nulls_of, spend, take_note, talk_of, tell_item
from nika_nb.engine.budget import beyond
from nika_nb.trace import agents
from nika_nb.trace.child import CHILD
from nika_nb.trace.fields import number, shape_of

if TYPE_CHECKING:
    from nika_nb.board.state import Board

KEPT_FAULTS = 20  # failed items kept with their sentence


def _workflow_started(board: Board, fields: Fields, at: int) -> None:
    board.started = at
    board.workflow = str(fields.get("workflow", ""))
    board.permits = str(fields.get("permits", ""))
    board.virtual = fields.get("clock") == "virtual"
    budget = shape_of(fields.get("budget"))
    board.cap_usd = number(budget.get("max_cost_usd"))
    board.spent_before = number(budget.get("spent_usd")) or 0.0
    board.resumed_trace = str(fields.get("resumed_trace") or fields.get("resumed_head") or "")
    board.resumed = board.resumed or bool(board.resumed_trace)


def _task_scheduled(board: Board, fields: Fields, at: int) -> None:
    row = board.row(str(fields["task"]))
    row.verb = str(fields.get("verb", ""))
    take_note(row, fields)
    row.does = row.note
    needs = [need for need in json_of(fields.get("needs"), []) if isinstance(need, list) and len(need) == 3]
    row.needs = tuple((str(n[0]), str(n[1]), str(n[2] or "")) for n in needs)
    board.touch(row)


def _verb_invoked(board: Board, fields: Fields, at: int) -> None:
    row = board.row(str(fields["task"]))
    take_note(row, fields)
    if row.settled:
        return
    row.nulls = row.nulls if row.started else nulls_of(board, row)
    board.begin(row, at)
    if fields.get("item") is None:
        row.attempts = max(row.attempts, int(fields.get("attempt", 1)))
    else:
        items_of(row).running += 1 if int(fields.get("attempt", 1)) == 1 else 0
        items_of(row).mark(fields["item"], "running")
    board.become(row, "running")


def _task_started(board: Board, fields: Fields, at: int) -> None:
    row = board.row(str(fields["task"]))
    take_note(row, fields)
    row.reason = str(fields.get("reason", "") or "")
    row.parts = tuple(str(part) for part in json_of(fields.get("parts"), []))
    row.why_detail = str(fields.get("detail", "") or "")
    board.resumed = board.resumed or bool(row.reason)
    board.ran(row)
    if row.state == "pending":
        board.become(row, "running")
    board.touch(row)


def _task_retrying(board: Board, fields: Fields, at: int) -> None:
    row = board.row(str(fields["task"]))
    row.detail = retry_of(fields)
    spend(row, RETRIES, fields)
    if fields.get("item") is None:
        row.attempts = max(row.attempts, int(fields.get("attempt", 1)))
        board.become(row, "retrying")
    board.touch(row)


def _task_recovered(board: Board, fields: Fields, at: int) -> None:
    row = board.row(str(fields["task"]))
    row.recovered = str(fields.get("code", ""))
    board.touch(row)


def _item_completed(board: Board, fields: Fields, at: int) -> None:
    row = board.row(str(fields["task"]))
    items = items_of(row)
    items.done += 1
    status = fields.get("status")
    if fields.get("matched"):
        items.cached += 1
        row.changed |= files_changed(fields)
    else:
        items.running = max(0, items.running - 1)
    spend(row, ITEM, fields)
    items.recovered += bool(recovered_from(fields))
    items.skipped += status == "skipped"
    if code := let_go_on(fields):
        items.let_go, items.let_go_on = items.let_go + 1, items.let_go_on or code
    if status == "failure":
        items.failed += 1
        if len(items.faults) < KEPT_FAULTS:
            items.faults.append(item_fault_of(fields))
    tell_item(items, fields)
    board.touch(row)


def _agent_replied(board: Board, fields: Fields, at: int) -> None:
    row = board.row(str(fields["task"]))
    talk_of(row).turns += 1
    board.touch(row)


def _tool_invoked(board: Board, fields: Fields, at: int) -> None:
    row = board.row(str(fields["task"]))
    talk_of(row).calls += 1
    talk_of(row).failed += agents.failed(fields)
    board.touch(row)


def _task_completed(board: Board, fields: Fields, at: int) -> None:
    row = _settle(board, fields, at, "ok")
    board.ran(row)
    row.detail = ""
    row.warning = str(fields.get("warning", "") or "")
    row.not_resumable = str(fields.get("not_resumable", "") or "")
    row.preview = preview_of(fields)


def _task_cache_hit(board: Board, fields: Fields, at: int) -> None:
    row = _settle(board, fields, at, "cached")
    row.duration_ms = None
    row.changed |= files_changed(fields)
    row.preview = preview_of(fields)
    board.hits += 1
    board.resumed = True


def _task_failed(board: Board, fields: Fields, at: int) -> None:
    row = _settle(board, fields, at, "failed")
    row.detail = str(fields.get("detail", "") or "")
    row.warning = str(fields.get("warning", "") or "")


def _task_skipped(board: Board, fields: Fields, at: int) -> None:
    row = _settle(board, fields, at, "skipped")
    row.when = str(fields.get("when", "") or "")
    row.detail = str(fields.get("detail", "") or "")


def _task_cancelled(board: Board, fields: Fields, at: int) -> None:
    row = _settle(board, fields, at, "cancelled")
    row.blocked_by = str(fields.get("blocked_by", "") or "")
    row.detail = str(fields.get("detail", "") or "")


def _settle(board: Board, fields: Fields, at: int, state: State) -> Row:
    row = board.row(str(fields["task"]))
    take_note(row, fields)
    row.tail, row.ended = "", at
    row.called = {}
    row.duration_ms = took_of(fields, row.duration_ms)
    row.attempts = int(fields.get("attempts") or row.attempts or attempts_of(fields))
    spend(row, "task_completed", fields)
    if row.items:
        row.items.rest()
        row.items.total = row.items.total or row.items.done
    if state in ("ok", "failed") and not row.nulls:  # it may have failed before it began
        row.nulls = nulls_of(board, row)
    row.recovered = recovered_from(fields) or row.recovered
    row.gave_null = fields.get("output") == "null"
    board.become(row, state)
    return row


def _approval_decided(board: Board, fields: Fields, at: int) -> None:
    row = board.row(str(fields["task"]))
    verdict = "allowed" if fields.get("decision") == "allow" else "refused"
    row.decided = " · ".join([verdict, *(str(fields[key]) for key in ("source", "why") if fields.get(key))])
    board.touch(row)


def _workflow_paused(board: Board, fields: Fields, at: int) -> None:
    board.state = "paused"
    board.prompts = tuple(prompt_of(p) for p in json_of(fields.get("prompts"), [])) or (prompt_of(fields),)
    for prompt in board.prompts:
        row = board.row(prompt.task)
        row.detail = prompt.message
        board.become(row, "paused")


def _ends(state: RunState) -> Callable[[Board, Fields, int], None]:
    def handler(board: Board, fields: Fields, at: int) -> None:
        board.state = state
        board.detail = str(fields.get("detail", "") or "")
        if state == "completed":
            board.detail = board.detail or _beyond_its_cap(board)

    return handler


def _beyond_its_cap(board: Board) -> str:
    """A run that had nothing left to start when it crossed its cap, in a sentence."""
    spent = round(board.spent_before + board.cost_usd, 10)
    if board.cap_usd is None or spent <= board.cap_usd:
        return ""
    return f"{beyond(spent, board.cap_usd)}: all was under way by then"


def _child(board: Board, fields: Fields, at: int) -> None:
    """What a called workflow is at: `its_task ✔ 2/3`. What that one calls in turn is not shown."""
    row = board.row(str(fields["task"]))
    if row.settled:
        return
    event = json_of(fields.get("event"), {})
    spend(row, CHILD, {**fields, "event": event})
    sign = _CHILD_SIGNS.get(str(event.get("kind")))
    if fields.get("within") or not event:
        return
    count = row.called.setdefault(str(fields.get("item")), [0, 0])
    if event["kind"] == "workflow_started":
        count[:] = [0, 0]
    elif event["kind"] == "task_scheduled":
        count[1] += 1
    elif sign:
        count[0] += 0 if event["kind"] == "verb_invoked" else 1
        item = "" if fields.get("item") is None else f"[{fields['item']}] "
        row.tail = one_line(f"{item}{event['fields']['task']} {sign} {count[0]}/{count[1]}")
        board.touch(row)


_CHILD_SIGNS = {
    "verb_invoked": "◐",
    "task_completed": "✔",
    "task_cache_hit": "↷",
    "task_failed": "✖",
    "task_skipped": "↷",
    "task_cancelled": "⊘",
}


def _live_output(board: Board, fields: Fields, at: int) -> None:
    row = board.row(str(fields["task"]))
    if not row.settled:
        row.tail = last_line(str(fields.get("text", ""))) or row.tail
        board.touch(row)


def _live_progress(board: Board, fields: Fields, at: int) -> None:
    row = board.row(str(fields["task"]))
    items = items_of(row)
    items.total = fields.get("total", items.total)
    items.done = max(items.done, int(fields.get("done", 0)))
    board.touch(row)


HANDLERS: dict[str, Callable[[Board, Fields, int], None]] = {
    "workflow_started": _workflow_started,
    "task_scheduled": _task_scheduled,
    "verb_invoked": _verb_invoked,
    "task_started": _task_started,
    "task_retrying": _task_retrying,
    "task_recovered": _task_recovered,
    "nb_item_completed": _item_completed,
    agents.TURN: _agent_replied,
    agents.CALL: _tool_invoked,
    "task_completed": _task_completed,
    "task_cache_hit": _task_cache_hit,
    "task_failed": _task_failed,
    "task_skipped": _task_skipped,
    "task_cancelled": _task_cancelled,
    "approval_decided": _approval_decided,
    "workflow_paused": _workflow_paused,
    "nb_child": _child,
    "workflow_completed": _ends("completed"),
    "workflow_failed": _ends("failed"),
    "workflow_cancelled": _ends("cancelled"),
    "live_output": _live_output,
    "live_progress": _live_progress,
}
