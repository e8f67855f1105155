"""The board as HTML: inline styles and tables only, so it reads the same live, saved, sanitised, printed.

Every state is a sign and a word, never a colour alone.
"""

from __future__ import annotations

from pathlib import PurePath

from nika_nb.board import tracepage
from nika_nb.board.clean import block, inline, one_line
from nika_nb.board.head import head
from nika_nb.board.items import opened, summary
from nika_nb.board.picture import still_picture
from nika_nb.board.state import Board
from nika_nb.board.style import COLOUR, MONO, QUIET, RUN_TONE, TRACK, box, ink, plain, signed
from nika_nb.board.table import table
from nika_nb.board.text import counted
from nika_nb.board.window import URGENT, WINDOW, window
from nika_nb.values import plural

WHOLE = 1000  # rows of a still
UNFOLDED = 50  # failures, and fan-outs, that a still tells in full
GONE = "nika-gone"
GO_ON = "--resume on the cell's first line goes on from there."
LIVE_BOUND = 36_000  # bytes that a live view may send at a time


def still(board: Board, now: int | None = None, limit: int = WHOLE, *, asked: bool = False) -> str:
    """The board for a saved notebook. asked: its questions are told elsewhere on the page.

    Of more rows than `limit` those that matter most, and how many more; then without large pictures.
    """
    rows = window(board, limit)
    whole = len(rows) == len(board.rows) or limit == WHOLE
    inner = (
        head(board, now),
        still_picture(board) if whole else "",
        table(rows, now, UNFOLDED, asked=asked),
        _rest(board, len(rows)),
    )
    return box("".join(inner) + foot(board), RUN_TONE[board.state])


def live_head(board: Board, now: int | None = None) -> str:
    """The head of a live view; unseen in it what is to be read when its kernel has gone."""
    trace = PurePath(board.trace_path).name
    said = f"The kernel has gone. %nika attach {trace} shows all that was journaled; {GO_ON}"
    look = f'class="{GONE}" style="display:none"'
    gone = f"<div {look}>{signed('⚠', COLOUR['retrying'])} {inline(said, 400)}</div>" if trace else ""
    return plain(head(board, now, live=True) + gone)


def live_body(board: Board, now: int | None = None) -> str:
    """A window of rows and how many there are elsewhere; the journal, for when the kernel dies."""
    limit = WINDOW
    while len((drawn := _body(board, now, limit)).encode()) > LIVE_BOUND and limit > 4:
        limit //= 2
    return drawn


def _body(board: Board, now: int | None, limit: int) -> str:
    rows = window(board, limit)
    trace = f'<div style="{QUIET};padding-top:4px">{_trace(board)}</div>' if board.trace_path else ""
    return plain(table(rows, now) + _rest(board, len(rows)) + trace)


def live_items(board: Board) -> str:
    """The fan-outs of a live view, opened: those at work first, as many as there is room for."""
    fans = sorted((row for row in board.tasks if row.items), key=lambda row: -URGENT.get(row.state, 0))
    drawn, told = "", 0
    for row in fans:
        piece = f'<div style="padding:4px 0"><div style="{QUIET}">{summary(row)}</div>{opened(row)}</div>'
        if told and len((drawn + piece).encode()) > LIVE_BOUND:
            break
        drawn, told = drawn + piece, told + 1
    rest = (
        f'<div style="{QUIET}">and {plural(len(fans) - told, "more fan-out")}</div>'
        if told < len(fans)
        else ""
    )
    return plain(drawn + rest)


def _rest(board: Board, shown: int) -> str:
    hidden = len(board.rows) - shown
    if hidden <= 0:
        return ""
    words = f"and {hidden:,} more: {counted(board.counts)} in all"
    return f'<div style="{QUIET};font-size:12px;padding-top:4px">{words}</div>'


def foot(board: Board) -> str:
    """What was said at the end; where the journal is, and what is wrong with it; folded, what happened."""
    lines = [inline(board.detail)] if board.detail else []
    lines += [_trace(board)] if board.trace_path else []
    inner = "".join(f'<div style="{QUIET}">{line}</div>' for line in lines)
    if board.trouble:
        inner += f'<div style="{ink(COLOUR["failed"])}">{inline(board.trouble, 2000)}</div>'
    rule = f"border-top:1px solid {TRACK};margin-top:6px;padding-top:4px"
    return f'<div style="{rule};font-size:12px">{inner}{_events(board)}</div>'


def _trace(board: Board) -> str:
    parts = [f"trace {inline(board.trace_path, 1000)}"]
    if board.over:
        parts += [tracepage.packed_link(board.trace_path, board.trace_data)] if board.trace_data else []
        parts += [plural(board.trace_events, "event")] if board.trace_events else []
    return f'<span style="{MONO};font-size:11px;overflow-wrap:anywhere">{" · ".join(parts)}</span>'


def _events(board: Board) -> str:
    hidden = board.log_length - len(board.log)
    lines = [*board.log, *([f"and {hidden:,} more in the trace"] if hidden else [])]
    lines += [f"chain {one_line(board.trace_head)}"] if board.trace_head and board.over else []
    style = f"{MONO};font-size:11px;line-height:1.4;white-space:pre;overflow-x:auto;padding:4px 0;{QUIET}"
    inner = f'<div style="{style}">{block(chr(10).join(lines), 20_000)}</div>'
    return _folded("what happened", inner) if lines else ""


def _folded(title: str, inner: str) -> str:
    return f'<details><summary style="cursor:pointer;{QUIET}">{title}</summary>{inner}</details>'
