"""The head of a run as HTML: its name and state, how far it is, what it cost and what a resume saved."""

from __future__ import annotations

from nika_nb.board.clean import error_line, inline
from nika_nb.board.picture import SMALL
from nika_nb.board.rows import State
from nika_nb.board.state import Board
from nika_nb.board.style import COLOUR, QUIET, RUN_TONE, TRACK, ink
from nika_nb.board.text import OF_RUN, UNICODE, counted, duration, progress, saved, since_its_begin
from nika_nb.money import spent_said
from nika_nb.values import plural

TOLD = 3  # failures that are told at the top

_BAR_ORDER: tuple[State, ...] = (
    "ok", "cached", "skipped", "failed", "cancelled", "paused", "retrying", "running",
)  # fmt: skip


def head(board: Board, now: int | None = None, *, live: bool = False) -> str:
    """Name, state, elapsed time, the progress bar, figures, permits.

    live: with a sign that turns by itself, and time in whole seconds, so that it is sent once a second.
    """
    left = (
        '<span role="heading" aria-level="3" style="font-size:15px;font-weight:600">'
        f"🦋 {inline(board.workflow, 80)}</span>"
        f'<span style="{QUIET}"> · {plural(len(board.rows), "task")}</span>'
    )
    elapsed = board.elapsed_ms(now)
    time = f"{elapsed // 1000}s" if live and elapsed < 60_000 else duration(elapsed)
    sign = f'<span style="{ink(RUN_TONE[board.state])}">{OF_RUN[board.state]}</span> '
    sign = _turning(elapsed) if live and board.state == "running" else sign
    right = f'<b style="font-weight:600">{sign}{board.state}</b><span style="{QUIET}"> · {time}</span>'
    small = f"{_ROW};{QUIET};font-size:12px"
    return (
        f'<div style="{_ROW}"><div>{left}</div><div style="white-space:nowrap">{right}</div></div>'
        f'{_bar(board)}<div style="{small}"><div>{figures(board)}</div>'
        f"<div>permits ✓ {inline(board.permits)}</div></div>{'' if live else _failures(board)}"
    )


_ONE_LINE = "overflow:hidden;text-overflow:ellipsis;white-space:nowrap"
_ROW = "display:flex;flex-wrap:wrap;justify-content:space-between;align-items:baseline;gap:0 20px"


def _failures(board: Board) -> str:
    """The first failures of a run with so many rows that they would have to be looked for."""
    failed = [row for row in board.tasks if row.state == "failed"] if len(board.rows) > SMALL else []
    if not failed:
        return ""
    sign = f'<span style="{ink(COLOUR["failed"])}">{UNICODE["failed"]}</span>'
    told = [f"<b>{inline(row.id, 48)}</b> · {inline(error_line(row.detail))}" for row in failed[:TOLD]]
    lines = [f'<div style="{_ONE_LINE}">{sign} {said}</div>' for said in told]
    rest = len(failed) - TOLD
    lines += [f'<div style="{QUIET}">and {plural(rest, "more failed task")}</div>'] if rest > 0 else []
    return f'<div style="font-size:12px;padding:4px 0">{"".join(lines)}</div>'


def _turning(elapsed: int) -> str:
    """A ring that the page turns: nothing has to be sent for it. It goes on where it was."""
    begin = -(elapsed % 1000) / 1000
    return (
        '<svg width="12" height="12" viewBox="0 0 12 12" aria-hidden="true" style="margin:0 6px -1px 0">'
        f'<circle cx="6" cy="6" r="4.5" fill="none" stroke="{TRACK}" stroke-width="2"/>'
        f'<path d="M6 1.5a4.5 4.5 0 0 1 4.5 4.5" fill="none" stroke="{COLOUR["running"]}" stroke-width="2">'
        '<animateTransform attributeName="transform" type="rotate" from="0 6 6" to="360 6 6" dur="1s" '
        f'begin="{begin:.2f}s" repeatCount="indefinite"/></path></svg>'
    )


def figures(board: Board) -> str:
    """Money and time, spent and saved, and how much of it a resume skipped."""
    parts = [spent_said(board.cost_usd, board.unpriced), *since_its_begin(board)]
    parts += [f"{board.tokens:,} tokens"] if board.tokens else []
    parts += saved(board)
    if board.resumed:
        parts.append(f"resumed · {board.hits} skipped (cache hit) · {board.ran_live} ran live")
    return " · ".join(parts)


def _bar(board: Board) -> str:
    """How much is settled, by state, and the same in words."""
    total, words = len(board.rows), counted(board.counts)
    parts = "".join(
        f'<div style="min-width:3px;width:{100 * board.counts[state] / max(1, total):.2f}%;'
        f'background-color:{COLOUR[state]}"></div>'
        for state in _BAR_ORDER
        if board.counts[state]
    )
    track = f"display:flex;flex-grow:1;height:6px;border-radius:3px;overflow:hidden;background-color:{TRACK}"
    value = f'aria-valuemin="0" aria-valuemax="{total}" aria-valuenow="{board.done}" aria-valuetext="{words}"'
    return (
        '<div style="display:flex;align-items:center;gap:10px;margin:3px 0">'
        f'<div style="{track}" role="progressbar" aria-label="tasks done" {value} title="{words}">'
        f"{parts}</div>"
        f'<div style="{QUIET};font-size:12px;white-space:nowrap">{progress(board)}</div></div>'
    )


def announced(board: Board) -> str:
    """What a screen reader should say by itself: the state, each failure, every quarter; never a tick."""
    failed = f", {board.counts['failed']:,} failed" if board.counts["failed"] else ""
    if board.state != "running":
        return f"{board.workflow}: {board.state}, {progress(board)}"
    quarter = 4 * board.done // max(1, len(board.rows))
    return f"{board.workflow}: running, {25 * quarter} percent done{failed}"
