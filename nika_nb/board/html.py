"""The board as HTML: inline styles and tables only, so it reads the same live, saved, sanitised, printed.

Colours are mid-tones that keep their contrast on white and on black; what is quiet is made so by
opacity. Every state is a sign and a word, never a colour alone.
"""

from __future__ import annotations

from collections.abc import Iterable
from heapq import nlargest

from nika_nb.board.clean import block, inline, one_line
from nika_nb.board.rows import STATES, Row, RunState, State, why
from nika_nb.board.state import Board
from nika_nb.board.text import UNICODE, duration, items_said, money, plural, said

WINDOW = 40  # rows of a live view
WHOLE = 1000  # rows of a still

COLOUR: dict[State, str] = {
    "pending": "#868b94", "running": "#2f80ed", "retrying": "#c47a0a", "paused": "#b060d8", "ok": "#279a5b",
    "cached": "#1d94a3", "skipped": "#868b94", "failed": "#e0454a", "cancelled": "#868b94",
}  # fmt: skip
_RUN: dict[RunState, tuple[str, State]] = {
    "running": ("◐ running", "running"), "completed": ("✔ completed", "ok"), "failed": ("✖ failed", "failed"),
    "cancelled": ("⊘ cancelled", "cancelled"), "paused": ("◇ paused", "paused"),
    "incomplete": ("… incomplete", "retrying"),
}  # fmt: skip
_SPIN = "◐◓◑◒"

MONO = "font-family:var(--jp-code-font-family,ui-monospace,Menlo,Consolas,monospace)"
_BOX = (
    "max-width:980px;margin:4px 0;padding:10px 14px;border:1px solid rgba(128,128,128,.28);border-radius:6px;"
    "font-family:system-ui,-apple-system,Segoe UI,Helvetica,Arial,sans-serif;font-size:13px;line-height:1.5;"
    "text-align:left"
)
QUIET = "opacity:.66"
_CELL = "text-align:left;padding:1px 14px 1px 0;white-space:nowrap;vertical-align:top;border:0"
_NUMBER = "text-align:right;padding:1px 14px 1px 0;white-space:nowrap;vertical-align:top;border:0"
_LAST = (
    "text-align:left;padding:1px 0;width:100%;max-width:0;overflow:hidden;text-overflow:ellipsis;"
    "white-space:nowrap;vertical-align:top;border:0"
)


def still(board: Board, now: int | None = None) -> str:
    """The whole board, for a saved notebook. Of more than a thousand rows, those that matter most."""
    rows = list(board.rows.values())
    shown = rows if len(rows) <= WHOLE else window(board, WHOLE)
    return box(head(board, now) + table(shown, now) + _rest(board, shown) + foot(board))


def live(board: Board, now: int | None = None) -> str:
    """What a live view shows below its head: a window of rows, and how many there are elsewhere."""
    shown = window(board)
    return table(shown, now) + _rest(board, shown)


def box(inner: str) -> str:
    return f'<div style="{_BOX}">{inner}</div>'


def window(board: Board, limit: int = WINDOW) -> list[Row]:
    """The rows most worth seeing, in document order: waiting and failed, at work, then the newest."""
    rows = board.rows
    if len(rows) <= limit:
        return list(rows.values())
    rank = {"paused": 5, "failed": 4, "retrying": 3, "running": 3}
    fresh = {task: at for at, task in enumerate(board.recent)}
    best = nlargest(limit, rows.values(), key=lambda r: (rank.get(r.state, 0), fresh.get(r.id, -1), -r.index))
    return sorted(best, key=lambda row: row.index)


def head(board: Board, now: int | None = None, tick: int = 0) -> str:
    """Name, state, elapsed time, permits and the progress bar."""
    word, tone = _RUN[board.state]
    if board.state == "running":
        word = f"{_SPIN[tick % 4]} running"
    name = f'<span style="font-weight:600">🦋 {inline(board.workflow)}</span>'
    count = f'<span style="{QUIET}"> · {plural(len(board.rows), "task")}{_counters(board)}</span>'
    state = f'<span style="color:{COLOUR[tone]};font-weight:600">{word}</span>'
    time = f'<span style="{QUIET}"> · {duration(board.elapsed_ms(now))}</span>'
    return (
        f'<div style="display:flex;justify-content:space-between;gap:16px"><div>{name}{count}</div>'
        f'<div style="white-space:nowrap">{state}{time}</div></div>'
        f'<div style="{QUIET};font-size:12px">permits ✓ {inline(board.permits)}</div>{bar(board)}'
    )


def _counters(board: Board) -> str:
    if not board.resumed:
        return ""
    return f" · resumed: {board.hits} skipped (cache hit), {board.ran_live} ran live"


def bar(board: Board) -> str:
    """How much is settled, by state, and the same in words."""
    total = len(board.rows) or 1
    order: tuple[State, ...] = (
        "ok",
        "cached",
        "skipped",
        "failed",
        "cancelled",
        "paused",
        "retrying",
        "running",
    )
    parts = "".join(
        f'<div style="width:{100 * board.counts[s] / total:.2f}%;background-color:{COLOUR[s]}"></div>'
        for s in order
        if board.counts[s]
    )
    return (
        '<div style="display:flex;align-items:center;gap:10px;margin:6px 0 8px 0">'
        '<div style="display:flex;flex-grow:1;height:4px;border-radius:2px;overflow:hidden;'
        f'background-color:rgba(128,128,128,.22)" title="{_words(board)}">{parts}</div>'
        f'<div style="{QUIET};font-size:12px;white-space:nowrap">{board.done}/{len(board.rows)} done</div>'
        "</div>"
    )


def _words(board: Board) -> str:
    return ", ".join(f"{board.counts[s]} {s}" for s in STATES if board.counts[s])


def table(rows: Iterable[Row], now: int | None = None) -> str:
    rows = list(rows)
    paid = any(row.cost_usd or row.tokens for row in rows)
    body = "".join(_row(row, now, paid) + _under(row, 5 if paid else 4) for row in rows)
    return (
        f'<table style="width:100%;border-collapse:collapse;margin:0;{MONO};font-size:12px;border:0">'
        f"<tbody>{body}</tbody></table>"
    )


def _row(row: Row, now: int | None, paid: bool) -> str:
    quiet = f";{QUIET}" if row.state in ("pending", "skipped", "cancelled") else ""
    state = f'<td style="{_CELL};color:{COLOUR[row.state]}">{UNICODE[row.state]} {row.state}</td>'
    name = f'<td style="{_CELL}{quiet}">{inline(row.id, 80)}</td>'
    note = f'<td style="{_CELL};{QUIET}">{inline(said(row), 80)}{" ∥" if _beside(row) else ""}</td>'
    cost = f'<td style="{_NUMBER};{QUIET}">{_cost(row)}</td>' if paid else ""
    time = f'<td style="{_NUMBER}">{_time(row, now)}</td>'
    last = f'<td style="{_LAST};{QUIET}">{_last(row)}</td>'
    return f'<tr style="background:none">{state}{name}{note}{time}{cost}{last}</tr>'


def _beside(row: Row) -> bool:
    return row.parallel and row.state in ("ok", "failed", "running", "retrying")


def _time(row: Row, now: int | None) -> str:
    if row.state == "pending" or (row.state == "cached" and not row.saved_ms):
        return ""
    if row.state == "cached":
        return f'<span style="{QUIET}">−{duration(row.saved_ms)}</span>'
    ms = row.elapsed_ms(now)
    return "" if ms is None else duration(ms)


def _cost(row: Row) -> str:
    parts = [f"{row.tokens:,} tok"] if row.tokens else []
    parts += [money(row.cost_usd)] if row.cost_usd else []
    return " · ".join(parts)


def _last(row: Row) -> str:
    """The widest cell: fan-out, live tail, reason, what came out."""
    parts = [_items_bar(row)] if row.items else []
    parts += [f"×{row.attempts}"] if row.attempts > 1 else []
    if row.state in ("running", "retrying"):
        parts += [inline(text) for text in (row.detail, row.tail) if text]
    elif row.state == "skipped":
        parts += [inline(row.when or row.detail)]
    elif row.state == "ok":
        recovered = f"recovered from {row.recovered}" if row.recovered else ""
        parts += [inline(text) for text in (why(row), row.decided, recovered, row.preview) if text]
    elif row.state == "cached":
        parts += [inline(row.preview)]
    else:
        parts += [inline(why(row))]
    return " · ".join(part for part in parts if part)


def _items_bar(row: Row) -> str:
    items = row.items
    if items is None or not items.total:
        return inline(items_said(row))
    good = max(0, items.done - items.failed - items.cached)
    tones: tuple[tuple[int, State], ...] = ((good, "ok"), (items.cached, "cached"), (items.failed, "failed"))
    parts = "".join(
        f'<span style="display:inline-block;height:6px;width:{96 * count / items.total:.1f}px;'
        f'background-color:{COLOUR[tone]}"></span>'
        for count, tone in tones
        if count
    )
    track = (
        '<span style="display:inline-block;width:96px;height:6px;line-height:0;vertical-align:middle;'
        f'background-color:rgba(128,128,128,.22);border-radius:2px;overflow:hidden">{parts}</span>'
    )
    return f"{track} {inline(items_said(row) or plural(items.done, 'item'))}"


def _under(row: Row, columns: int) -> str:
    if row.state == "failed":
        inner = _failure(row)
    elif row.state == "paused" and row.detail:
        inner = f'<div style="color:{COLOUR["paused"]}">{inline(row.detail)}</div>'
    elif row.warning:
        inner = f'<div style="color:{COLOUR["retrying"]}">warning: {inline(row.warning)}</div>'
    else:
        return ""
    if not inner:
        return ""
    cell = f"{_CELL};white-space:normal;padding:0 0 4px 0"
    inner = f'<td style="border:0"></td><td colspan="{columns}" style="{cell}">{inner}</td>'
    return f'<tr style="background:none">{inner}</tr>'


def _failure(row: Row) -> str:
    """The first line in full; what is longer unfolds."""
    parts = [row.detail] if row.detail else []
    parts += row.items.faults if row.items else []
    tone = f"color:{COLOUR['failed']}"
    return "".join(_foldable(part, tone) for part in parts)


def _foldable(text: str, tone: str) -> str:
    first = one_line(text.strip().split("\n", 1)[0], 160)
    if one_line(text, 400) == first:
        return f'<div style="{tone}">{inline(first)}</div>'
    return (
        f'<details style="{tone}"><summary style="cursor:pointer">{inline(first)}</summary>'
        f'<div style="white-space:pre-wrap;overflow-wrap:anywhere;padding:4px 0 4px 14px">{block(text)}</div>'
        "</details>"
    )


def _rest(board: Board, shown: list[Row]) -> str:
    hidden = len(board.rows) - len(shown)
    if hidden <= 0:
        return ""
    return f'<div style="{QUIET};font-size:12px;padding:4px 0">{hidden:,} more · {_words(board)}</div>'


def foot(board: Board) -> str:
    """Money and time, spent and saved; where the journal is and the head of its chain."""
    parts = [f"{money(board.cost_usd)} spent"]
    parts += [f"{board.unpriced} unpriced"] if board.unpriced else []
    parts += [f"{board.tokens:,} tokens"] if board.tokens else []
    usd, tokens, ms = board.saved
    saved = [money(usd)] if usd else []
    saved += [f"{tokens:,} tokens"] if tokens else []
    saved += [duration(ms)] if ms else []
    parts += [f"saved {', '.join(saved)}"] if saved else []
    lines = [" · ".join(parts), inline(board.detail)]
    lines += [_trace(board)] if board.trace_path else []
    inner = "".join(f"<div>{line}</div>" for line in lines if line)
    rule = "border-top:1px solid rgba(128,128,128,.2);margin-top:6px;padding-top:6px"
    return f'<div style="{rule};font-size:12px;{QUIET}">{inner}</div>'


def _trace(board: Board) -> str:
    parts = [f"trace {inline(board.trace_path, 1000)}"]
    parts += [f"{board.trace_events} events"] if board.trace_events else []
    parts += [f"chain {inline(board.trace_head)}"] if board.trace_head else []
    return f'<span style="{MONO};overflow-wrap:anywhere">{" · ".join(parts)}</span>'
