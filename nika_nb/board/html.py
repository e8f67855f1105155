"""The board as HTML: inline styles and tables only, so it reads the same live, saved, sanitised, printed.

Every state is a sign and a word, never a colour alone.
"""

from __future__ import annotations

from heapq import nlargest

from nika_nb.board import tracepage
from nika_nb.board.clean import block, inline
from nika_nb.board.graph import graph_svg, graph_text
from nika_nb.board.rows import STATES, Row, RunState, State
from nika_nb.board.state import Board
from nika_nb.board.style import COLOUR, MONO, QUIET, RUN_TONE, TRACK, box, plain
from nika_nb.board.svg import data_uri
from nika_nb.board.table import table
from nika_nb.board.text import SPINNER, duration, money, plural
from nika_nb.board.timeline import timeline_svg, timeline_text

WINDOW = 40  # rows of a live view
WHOLE = 1000  # rows of a still
UNFOLDED = 50  # failures that a still tells in full
LIVE_BOUND = 40_000  # bytes that a live view may send at a time

_WORD: dict[RunState, str] = {
    "running": "running", "completed": "✔ completed", "failed": "✖ failed", "cancelled": "⊘ cancelled",
    "paused": "◇ paused", "incomplete": "… incomplete",
}  # fmt: skip
_BAR_ORDER: tuple[State, ...] = (
    "ok", "cached", "skipped", "failed", "cancelled", "paused", "retrying", "running",
)  # fmt: skip
_URGENT: dict[State, int] = {"paused": 5, "failed": 4, "retrying": 3, "running": 3}


def still(board: Board, now: int | None = None) -> str:
    """The whole board, for a saved notebook. Of more than a thousand rows, those that matter most."""
    rows = window(board, WHOLE)
    inner = head(board, now) + table(rows, now, UNFOLDED) + _rest(board, len(rows)) + foot(board)
    return box(inner, RUN_TONE[board.state])


def live_head(board: Board, now: int | None = None, tick: int = 0) -> str:
    """The head of a live view; `tick` turns its sign."""
    return plain(head(board, now, tick))


def live_body(board: Board, now: int | None = None) -> str:
    """A window of rows and how many there are elsewhere; the journal, for when the kernel dies."""
    limit = WINDOW
    while len(drawn := _body(board, now, limit)) > LIVE_BOUND and limit > 4:
        limit //= 2
    return drawn


def _body(board: Board, now: int | None, limit: int) -> str:
    rows = window(board, limit)
    trace = f'<div style="{QUIET};padding-top:4px">{_trace(board)}</div>' if board.trace_path else ""
    return plain(table(rows, now) + _rest(board, len(rows)) + trace)


def window(board: Board, limit: int = WINDOW) -> list[Row]:
    """The rows most worth seeing, in document order: waiting and failed, at work, then the newest."""
    rows = board.tasks
    if len(rows) <= limit:
        return rows
    fresh = {task: at for at, task in enumerate(list(board.recent))}
    best = nlargest(
        limit, rows, key=lambda row: (_URGENT.get(row.state, 0), fresh.get(row.id, -1), -row.index)
    )
    return sorted(best, key=lambda row: row.index)


def head(board: Board, now: int | None = None, tick: int = 0) -> str:
    """Name, state, elapsed time, permits and the progress bar."""
    spin = f"{SPINNER[tick // 2 % len(SPINNER)]} " if board.state == "running" else ""
    left = (
        f'<span style="font-weight:600">🦋 {inline(board.workflow, 80)}</span>'
        f'<span style="{QUIET}"> · {plural(len(board.rows), "task")}{_resumed(board)}</span>'
    )
    right = (
        f'<span style="color:{RUN_TONE[board.state]};font-weight:600">{spin}{_WORD[board.state]}</span>'
        f'<span style="{QUIET}"> · {duration(board.elapsed_ms(now))}</span>'
    )
    return (
        '<div style="display:flex;flex-wrap:wrap;justify-content:space-between;gap:0 16px">'
        f'<div>{left}</div><div style="white-space:nowrap">{right}</div></div>'
        f'<div style="{QUIET};font-size:12px">permits ✓ {inline(board.permits)}</div>{_bar(board)}'
    )


def _resumed(board: Board) -> str:
    if not board.resumed:
        return ""
    return f" · resumed · {board.hits} skipped (cache hit) · {board.ran_live} ran live"


def _bar(board: Board) -> str:
    """How much is settled, by state, and the same in words."""
    total = max(1, len(board.rows))
    settled = f"{board.done:,}/{len(board.rows):,}"
    parts = "".join(
        f'<div style="width:{100 * board.counts[state] / total:.2f}%;background-color:{COLOUR[state]}"></div>'
        for state in _BAR_ORDER
        if board.counts[state]
    )
    track = f"display:flex;flex-grow:1;height:4px;border-radius:2px;overflow:hidden;background-color:{TRACK}"
    return (
        '<div style="display:flex;align-items:center;gap:10px;margin:4px 0 6px 0">'
        f'<div style="{track}" role="img" aria-label="{_words(board)}" title="{_words(board)}">{parts}</div>'
        f'<div style="{QUIET};font-size:12px;white-space:nowrap">{settled} done</div></div>'
    )


def _words(board: Board) -> str:
    return ", ".join(f"{board.counts[state]:,} {state}" for state in STATES if board.counts[state])


def _rest(board: Board, shown: int) -> str:
    hidden = len(board.rows) - shown
    if hidden <= 0:
        return ""
    words = f"and {hidden:,} more: {_words(board)} in all"
    return f'<div style="{QUIET};font-size:12px;padding-top:4px">{words}</div>'


def foot(board: Board) -> str:
    """Money and time, spent and saved; where the journal is; folded, the graph and what happened."""
    lines = [_figures(board), inline(board.detail)]
    lines += [_trace(board)] if board.trace_path else []
    lines += (
        [f'<span style="color:{COLOUR["failed"]}">{inline(board.trouble, 2000)}</span>']
        if board.trouble
        else []
    )
    inner = "".join(f"<div>{line}</div>" for line in lines if line)
    rule = f"border-top:1px solid {TRACK};margin-top:6px;padding-top:4px"
    folded = _graph(board) + _events(board)
    return f'<div style="{rule};font-size:12px"><div style="{QUIET}">{inner}</div>{folded}</div>'


def _figures(board: Board) -> str:
    parts = [f"{money(board.cost_usd)} spent"]
    parts += [f"{board.tokens:,} tokens"] if board.tokens else []
    parts += [f"{plural(board.unpriced, 'task')} without a known price"] if board.unpriced else []
    usd, tokens, ms = board.saved
    saved = [money(usd)] if usd else []
    saved += [f"{tokens:,} tokens"] if tokens else []
    saved += [duration(ms)] if ms else []
    parts += [f"saved {', '.join(saved)}"] if saved else []
    return " · ".join(parts)


def _trace(board: Board) -> str:
    parts = [f"trace {inline(board.trace_path, 1000)}"]
    if board.over:
        parts += [plural(board.trace_events, "event")] if board.trace_events else []
        parts += [f"chain {inline(board.trace_head)}"] if board.trace_head else []
        parts += [tracepage.packed_link(board.trace_path, board.trace_data)] if board.trace_data else []
    return f'<span style="{MONO};font-size:11px;overflow-wrap:anywhere">{" · ".join(parts)}</span>'


def _trouble(board: Board) -> str:
    return f'<span style="color:{COLOUR["failed"]}">{inline(board.trouble, 2000)}</span>'


def _graph(board: Board) -> str:
    """The graph and, beside it, the timeline; as words for those who do not see them."""
    if len(board.rows) < 2:
        return ""
    graph = _image(graph_svg(board), f"graph: {graph_text(board)}")
    time = _image(timeline_svg(board), f"timeline: {timeline_text(board)}")
    style = "display:flex;flex-wrap:wrap;align-items:flex-start;gap:8px 28px;overflow:auto;padding:6px 0"
    return _folded("graph and timeline", f'<div style="{style}">{graph}{time}</div>')


def _image(svg: str, words: str) -> str:
    style = "max-width:none;margin:0;flex:none"
    return f'<img alt="{inline(words, 1200)}" src="{data_uri(svg)}" style="{style}">'


def _events(board: Board) -> str:
    hidden = board.log_length - len(board.log)
    lines = [*board.log, *([f"and {hidden:,} more in the trace"] if hidden else [])]
    style = f"{MONO};font-size:11px;line-height:1.4;white-space:pre;overflow-x:auto;padding:4px 0;{QUIET}"
    inner = f'<div style="{style}">{block(chr(10).join(lines), 20_000)}</div>'
    return _folded("what happened", inner) if lines else ""


def _folded(title: str, inner: str) -> str:
    return f'<details><summary style="cursor:pointer;{QUIET}">{title}</summary>{inner}</details>'
