"""When every task ran, one bar a task from the run's start on: as HTML, as SVG and as text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from nika_nb.board.clean import inline, one_line
from nika_nb.board.rows import Row
from nika_nb.board.state import Board
from nika_nb.board.strips import Strip, full, strips
from nika_nb.board.style import COLOUR
from nika_nb.board.svg import CHAR, FILL, INK, document, rect, text
from nika_nb.board.text import UNICODE, duration, said
from nika_nb.values import plural

DRAWN = 60  # tasks: of more, those that took longest
_HIGH, _BAR, _WIDE, _TIME, _TOP = 18, 10, 300, 62, 18
_CELLS = 32  # characters of a bar as text
_STEPS = (1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600)


@dataclass(frozen=True, slots=True)
class _Bar:
    """One task: from and until in milliseconds after the start; `until` is None where it did no work."""

    row: Row
    start: int
    until: int | None

    @property
    def end(self) -> int:
        return self.start if self.until is None else self.until


def timeline_html(board: Board, now: int | None = None, span: int = 1) -> str:
    """Bars in the order in which tasks began; a cache hit is a sign at its moment.

    now: unix nanoseconds, until when running tasks have run; else the last event. span: the milliseconds
    that it shows at least, so that the steps of one run are drawn to one scale.
    """
    bars, left_out = _bars(board, now)
    span = max([1, span, *(bar.end for bar in bars)])
    ticks = [(100 * at / span, duration(at) if at else "0") for at in _ticks(span)]
    table = strips(_label(bars, span), [_strip(bar, 100 / span) for bar in bars], "", ticks)
    return table + (f"<div>{_rest(left_out)}</div>" if left_out else "")


def timeline_svg(board: Board, now: int | None = None, ink: str = INK) -> str:
    """The same as a drawing by itself."""
    bars, left_out = _bars(board, now)
    names = max((len(one_line(row.id, 24)) for row in board.tasks), default=0) * CHAR + 22
    span = max([1, *(bar.end for bar in bars)])
    scale = _WIDE / span
    height = _TOP + len(bars) * _HIGH + (_HIGH if left_out else 0)
    ticks = _ticks(span) if bars else []
    inner = "".join(_tick(at, names + at * scale, len(bars), ink) for at in ticks)
    inner += "".join(_row(bar, names, _TOP + at * _HIGH, scale, ink) for at, bar in enumerate(bars))
    inner += text(0, height - 5, _rest(left_out), ink) if left_out else ""
    return document(names + _WIDE + _TIME, max(height, 4), _label(bars, span), inner)


def timeline_text(board: Board, now: int | None = None) -> str:
    """The same in lines: name, bar, time."""
    bars, left_out = _bars(board, now)
    span = max([1, *(bar.end for bar in bars)])
    width = min(max((len(one_line(bar.row.id)) for bar in bars), default=0), 40)
    lines = [f"  {one_line(bar.row.id):<{width}} ▕{_cells(bar, span)}▏ {_time(bar)}".rstrip() for bar in bars]
    return "\n".join([*lines, *([f"  {_rest(left_out)}"] if left_out else [])])


def _bars(board: Board, now: int | None) -> tuple[list[_Bar], int]:
    """The bars to draw, and how many tasks with a time are left out."""
    found = list(_all(board, now))
    kept = found
    if len(found) > DRAWN:
        kept = sorted(found, key=lambda bar: bar.start - bar.end)[:DRAWN]
    return sorted(kept, key=lambda bar: (bar.start, bar.row.index)), len(found) - len(kept)


def _all(board: Board, now: int | None) -> Iterator[_Bar]:
    zero = board.started or 0
    until = max(now or 0, board.last or 0) if not board.over and not board.virtual else board.last or 0
    for row in board.tasks:
        end, took = row.ended, row.duration_ms
        if row.started is not None:
            yield _Bar(row, _ms(row.started - zero), _ms((end or until) - zero))
        elif end is not None and row.state == "cached":
            yield _Bar(row, _ms(end - zero), None)
        elif end is not None and took is not None:
            yield _Bar(row, max(0, _ms(end - zero) - took), _ms(end - zero))


def _label(bars: list[_Bar], span: int) -> str:
    return f"timeline of {plural(len(bars), 'task')} over {duration(span)}"


def _strip(bar: _Bar, scale: float) -> Strip:
    name = f"{UNICODE[bar.row.state]} {one_line(bar.row.id, 24)}"
    began = f"at {duration(bar.start)}"
    if bar.until is None:
        return Strip(name, bar.start * scale, (), UNICODE["cached"], began)
    fill = FILL[bar.row.state]
    part = ((bar.until - bar.start) * scale, full(fill if fill != "none" else "currentColor"))
    return Strip(name, min(bar.start * scale, 99.4), (part,), _time(bar), f"from {duration(bar.start)} on")


def _ms(nanoseconds: int) -> int:
    return max(0, nanoseconds // 10**6)


def _ticks(span: int) -> list[int]:
    """Three to six round moments, in milliseconds."""
    steps = (step * unit for unit in (1, 10, 100) for step in (1, 2, 5))
    for step in (*steps, *(1000 * step for step in _STEPS), *(3_600_000 * 6**n for n in range(1, 12))):
        if span / step <= 5:
            return [step * at for at in range(int(span // step) + 1)]
    return [0]


def _tick(at: int, x: float, rows: int, ink: str) -> str:
    line = rect(x, _TOP - 4, 0.7, rows * _HIGH + 4, f"fill='{ink}' fill-opacity='.35'")
    return line + text(x + 3, _TOP - 7, duration(at) if at else "0", ink, " font-size='9.5'")


def _row(bar: _Bar, left: float, top: float, scale: float, ink: str) -> str:
    row, middle = bar.row, top + 12.5
    title = f"<title>{inline(f'{row.id} · {said(row)} · {row.state} · {_time(bar)}', 200)}</title>"
    name = text(0, middle, f"{UNICODE[row.state]} {one_line(row.id, 24)}", ink)
    if bar.until is None:
        return f"<g>{title}{name}{text(left + bar.start * scale, middle, '↷', COLOUR['cached'])}</g>"
    wide = max(2.0, (bar.until - bar.start) * scale)
    x = left + min(bar.start * scale, _WIDE - 2)
    fill = FILL[row.state] if FILL[row.state] != "none" else ink
    shape = rect(x, top + (_HIGH - _BAR) / 2, wide, _BAR, f"rx='2' fill='{fill}'")
    return f"<g>{title}{name}{shape}{text(x + wide + 5, middle, _time(bar), ink)}</g>"


def _time(bar: _Bar) -> str:
    if bar.until is None:
        return "cache hit"
    took = bar.row.duration_ms if bar.row.duration_ms is not None else bar.until - bar.start
    return f"{duration(took)} {bar.row.tries}".rstrip()


def _cells(bar: _Bar, span: int) -> str:
    if bar.until is None:
        at = min(_CELLS - 1, bar.start * _CELLS // span)
        return f"{' ' * at}↷{' ' * (_CELLS - at - 1)}"
    start = min(_CELLS - 1, bar.start * _CELLS // span)
    end = max(start + 1, -(-bar.until * _CELLS // span))
    return f"{' ' * start}{'█' * (end - start)}{' ' * (_CELLS - end)}"


def _rest(left_out: int) -> str:
    return f"and {plural(left_out, 'shorter task')}"
