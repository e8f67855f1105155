"""The board as plain text: the console, the text twin of every display, one line per settled task."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from nika_nb.board.clean import error_line, error_text, one_line
from nika_nb.board.rows import SETTLED, STATES, Row, RunState, State, Talk, why
from nika_nb.board.state import Board, Fact
from nika_nb.catalog.frames import RUN_STOPS, TASK_ENDS
from nika_nb.engine.outcome import blocked_said, cancelled_said
from nika_nb.money import cost, money, spent
from nika_nb.values import plural

FAULTS = 5  # failed items that are told one by one
_LINES = 8  # of what a failure says, its last ones
WIDTH = 64  # columns of the meter, its indent not counted

UNICODE: dict[State, str] = {
    "pending": "○", "running": "◐", "ok": "✔", "failed": "✖", "retrying": "↻",
    "cached": "↷", "skipped": "↷", "cancelled": "⊘", "paused": "◇",
}  # fmt: skip
ASCII: dict[State, str] = {
    "pending": ".", "running": ">", "ok": "ok", "failed": "X", "retrying": "r",
    "cached": "~>", "skipped": "~>", "cancelled": "x", "paused": "?",
}  # fmt: skip
_SIGNS = str.maketrans(
    {"·": "-", "→": "->", "∥": "||", "─": "-", "✓": "ok", "…": "...", "↷": "~>", "◇": "?", "×": "x"}
)

SPINNER = "◐◓◑◒"  # one sign after the other stands for what runs

OF_RUN: dict[RunState, str] = {
    "running": "◐", "completed": "✔", "failed": "✖", "cancelled": "⊘", "paused": "◇", "incomplete": "…",
}  # fmt: skip


def duration(ms: int) -> str:
    """`27ms`, `13.2s`, `2m 05s`, `1h 02m`."""
    if ms < 1000:
        return f"{ms}ms"
    if ms < 59_950:
        return f"{ms / 1000:.1f}s"
    seconds = round(ms / 1000)
    if seconds < 3600:
        return f"{seconds // 60}m {seconds % 60:02d}s"
    return f"{seconds // 3600}h {seconds % 3600 // 60:02d}m"


def counted(counts: Mapping[State, int]) -> str:
    """`3 ok, 1 failed`: how many are in which state."""
    return ", ".join(f"{counts[state]:,} {state}" for state in STATES if counts[state])


def said(row: Row) -> str:
    """What a row says about itself: its note, or what stood in for running it."""
    if row.state == "cached":
        return "cache hit (resume)"
    if row.state == "cancelled":
        blocked = f"blocked · {one_line(blocked_said(row.blocked_by, row.note))}" if row.blocked_by else ""
        note = cancelled_said(row.note, "not started" if row.started is None else "stopped")
        return blocked or _with_talk(one_line(note), row.talk) or "cancelled"
    note = _with_talk(one_line(row.note), row.talk)
    return f"{note} · {row.unfinished}" if row.unfinished else note


def _with_talk(note: str, talk: Talk | None) -> str:
    """`agent · 3 turns · 2 tool calls, 1 failed`: what an agent used, instead of what it might have."""
    if talk is None:
        return note
    used = [plural(talk.turns, "turn"), *([plural(talk.calls, "tool call")] if talk.calls else [])]
    failed = f", {talk.failed} failed" if talk.failed else ""
    return f"{_MOST_TURNS.sub('', note)} · {' · '.join(used)}{failed}"


_MOST_TURNS = re.compile(r" · (?:up to )?\d+ turns?\b")  # older journals name the figure alone


def items_said(row: Row) -> str:
    """`12/40 · 1 failed`: how far a fan-out is, while it goes on or where not all of it went well."""
    items = row.items
    told = items is not None and (items.failed or items.cached or items.skipped)
    if items is None or (row.state == "ok" and not told):
        return ""
    far = (
        f"{items.done:,}/{items.total:,}" if items.total is not None else f"{plural(items.done, 'item')} done"
    )
    parts = [far]
    parts += [f"{items.running} running"] if items.running else []
    parts += [f"{items.cached} cached"] if items.cached else []
    parts += [f"{items.failed} failed"] if items.failed else []
    parts += [f"{items.skipped} skipped"] if items.skipped else []
    return " · ".join(parts)


def cost_said(row: Row) -> str:
    """`$0.02`, `unpriced`, `$0.02 + unpriced`; empty where nothing was paid."""
    return cost(row.cost_usd or None, row.unpriced)


def header(board: Board) -> list[str]:
    return [
        f"  🦋 nika · {one_line(board.workflow)} · {plural(len(board.rows), 'task')}",
        f"     permits ✓ {one_line(board.permits)}",
    ]


def line(row: Row, width: int, now: int | None = None, glyphs: dict[State, str] = UNICODE) -> str:
    """One row; `width` is that of the id column."""
    cells = [f"{glyphs[row.state]:<2}", f"{one_line(row.id):<{width}} ", said(row)]
    text = " ".join(cells).rstrip()
    ms = row.elapsed_ms(now)
    figures = [f"{duration(ms)} {row.tries}".rstrip()] if ms is not None else []
    figures += [f"{row.tokens:,} tokens"] if row.talk and row.tokens else []
    figures += [cost_said(row)] if cost_said(row) else []
    figures += [items_said(row)] if items_said(row) else []
    text += f"  {' · '.join(figures)}" if figures else ""
    told = result_of(row) if row.decided else f"→ {row.tail}" if row.tail else ""
    text += f"  {told}" if told else ""
    return f"  {text} ∥" if row.beside else f"  {text}"


def result_of(row: Row) -> str:
    """What came out, in a line; empty where nothing is known of it."""
    return f"→ {row.preview}" if row.preview else ""


def under(row: Row) -> list[str]:
    """What stands under a row: the failure, the open question, the closed gate, a warning."""
    warned = [f"       {one_line(row.handled)}"] if row.handled else []
    warned += [f"       {one_line(said)}" for said in row.nulls] if row.state != "skipped" else []
    warned += [f"       {one_line(row.since)}"] if row.changed else []
    warned += [f"       warning: {one_line(row.warning)}"] if row.warning else []
    if row.state == "failed":
        return [*(f"       {fault}" for fault in _faults(row)), *warned]
    if row.state in ("paused", "retrying", "skipped") and (row.detail or row.when):
        return [f"       {one_line(row.detail or row.when)}"]
    return warned


def _faults(row: Row) -> Iterator[str]:
    """The failure and the end of what was said; of a fan-out a line for each of the first failed items."""
    faults = row.items.faults if row.items else []
    if row.detail and not faults:
        yield from _with_last_lines(row.detail)
    elif row.detail:
        yield without_item(error_line(row.detail, 400))
    for fault in faults[:FAULTS]:
        yield error_line(fault, 400)
    if row.items and len(faults) > FAULTS:
        yield f"and {plural(row.items.failed - FAULTS, 'more failed item')}"


def _with_last_lines(detail: str) -> Iterator[str]:
    """The failure on a line, then the lines that led to it, their indents kept."""
    first = error_line(detail, 400)
    yield first
    lines = [line for line in error_text(detail).split("\n")[1:] if line.strip()]
    if lines and first.endswith(one_line(lines[-1])):
        lines.pop()
    for line in lines[-_LINES:]:
        yield "  " + line.rstrip()[:200]


def without_item(detail: str) -> str:
    """`2 of 3 items failed`, without how the first of them did, where each is told by itself."""
    return re.sub(r"( items failed); item \d+: .*", r"\1", detail, flags=re.DOTALL)


def meter(board: Board, now: int | None = None) -> str:
    elapsed = duration(board.elapsed_ms(now))
    paid = " · ".join([spent(board.cost_usd, board.unpriced), *since_its_begin(board)])
    return rule(f"{progress(board)} · {paid} · elapsed {elapsed}")


def since_its_begin(board: Board) -> list[str]:
    """What the run has cost with what it had cost before the answer, where it is held to a cap."""
    before = board.spent_before
    return [f"{money(round(before + board.cost_usd, 10))} since the run began"] if before else []


def progress(board: Board) -> str:
    """`3/4 done`; where not all went well, what became of each: `1 ok · 1 failed · 1 blocked · 1 left`."""
    counts = board.counts
    if not counts["failed"] and not counts["cancelled"]:
        return f"{board.done:,}/{len(board.rows):,} done"
    blocked = sum(bool(row.blocked_by) for row in board.tasks if row.state == "cancelled")
    told: dict[str, int] = {state: counts[state] for state in STATES if state in SETTLED}
    told |= {"cancelled": counts["cancelled"] - blocked, "blocked": blocked}
    told |= {"left": len(board.rows) - board.done}
    return " · ".join(f"{count:,} {word}" for word, count in told.items() if count)


def rule(words: str) -> str:
    """`── 3/4 done ─────`: what is summed up below a table."""
    text = f"── {words} "
    return "  " + text + "─" * max(3, WIDTH - len(text))


def resumed(board: Board) -> str:
    return f"  resumed · {board.hits} skipped (cache hit) · {board.ran_live} ran live"


def saved(board: Board) -> list[str]:
    """`saved $0.09, 120 tokens, 3.2s`: what records stood in for, as far as it is known."""
    usd, tokens, ms = board.saved
    parts = [money(usd)] if usd else []
    parts += [f"{tokens:,} tokens"] if tokens else []
    parts += [duration(ms)] if ms else []
    return [f"saved {', '.join(parts)}"] if parts else []


def of_resume(board: Board) -> list[str]:
    """What a resume skipped, what that saved, and why the rest ran; nothing of a run that began afresh."""
    if not board.resumed:
        return []
    return ["", resumed(board), *(f"  {said}" for said in saved(board)), *whys(board)]


def trace_line(board: Board) -> str:
    parts = [f"trace: {one_line(board.trace_path, 1000)}"]
    parts += [plural(board.trace_events, "event")] if board.trace_events else []
    parts += [f"chain {one_line(board.trace_head)}"] if board.trace_head else []
    return "    " + " · ".join(parts)


def ending(board: Board) -> list[str]:
    """How a run stands that did not complete, or that did and has more to say, as a line."""
    if board.state == "running" or (board.state == "completed" and not board.detail):
        return []
    words = "no end in the journal" if board.state == "incomplete" else board.state
    said_ = f"{OF_RUN[board.state]} {words}"
    if board.state == "paused":
        said_ += f" · {plural(len(board.prompts), 'open question')}"
    return [f"  {said_} · {one_line(board.detail)}" if board.detail else f"  {said_}"]


def still(
    board: Board,
    now: int | None = None,
    glyphs: dict[State, str] = UNICODE,
    rows: Sequence[Row] | None = None,
) -> str:
    """The whole board as text, or these rows of it: what a saved notebook and a terminal show."""
    width = id_width(board)
    lines = [*header(board), ""]
    shown = board.tasks if rows is None else rows
    for row in shown:
        lines += [line(row, width, now, glyphs), *under(row)]
    lines += [f"  and {len(board.rows) - len(shown):,} more"] if len(shown) < len(board.rows) else []
    lines += [meter(board, now), *ending(board)]
    lines += of_resume(board)
    lines += ["", trace_line(board)] if board.trace_path else []
    lines += ["", f"  ! {one_line(board.trouble, 2000)}"] if board.trouble else []
    text = "\n".join(lines)
    return text.replace("🦋 nika", "[nika]").translate(_SIGNS) if glyphs is ASCII else text


def whys(board: Board) -> list[str]:
    """For every task that ran live on a resume, why."""
    live = [row for row in board.tasks if row.state != "cached" and not row.decided]
    told = [(row.id, why(row)) for row in live if why(row)]
    width = max((len(one_line(task)) for task, _ in told), default=0)
    return [f"    {one_line(task):<{width}}  {reason}" for task, reason in told]


def id_width(board: Board) -> int:
    return min(max((len(one_line(row.id)) for row in board.tasks), default=0), 40)


def narrate(board: Board, event: Fact) -> list[str]:
    """The lines that a plain console prints for an event that the board has just taken in."""
    if event.kind in TASK_ENDS:
        row = board.rows[str(event.fields["task"])]
        return [line(row, id_width(board)), *under(row)]
    if event.kind in RUN_STOPS:
        return [meter(board), *ending(board), *of_resume(board)]
    return []
