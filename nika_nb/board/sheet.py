"""A small table with a title, lines and a sum: as text and as HTML. What answers are drawn with."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from nika_nb.board.clean import block, clean, inline, one_line
from nika_nb.board.rows import State
from nika_nb.board.style import COLOUR, MONO, QUIET, box, signed
from nika_nb.board.text import UNICODE, rule

MOST = 1000  # lines that are drawn
_WIDEST = 48  # columns of a cell that others stand behind
_LONGEST = 400  # characters of a cell
_BLOCK = 60  # lines of a block


@dataclass(frozen=True, slots=True)
class Line:
    """One line: its sign and a text per column. under: sentences below it; block: lines as they are."""

    state: State
    cells: tuple[str, ...]
    under: tuple[str, ...] = ()
    block: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Sheet:
    """What is to be drawn.

    heads: a word per column, all empty for none. numbers: the columns that are aligned at their right.
    notes: pairs of a label and a sentence, below the sum. doubts: what speaks against believing any of it,
    above all else.
    """

    title: str
    about: str
    lines: Sequence[Line]
    heads: tuple[str, ...] = ()
    numbers: frozenset[int] = frozenset()
    closing: str = ""
    notes: tuple[tuple[str, str], ...] = ()
    doubts: tuple[str, ...] = ()

    @property
    def shown(self) -> Sequence[Line]:
        return self.lines[:MOST]

    @property
    def rest(self) -> str:
        more = len(self.lines) - MOST
        return f"and {more:,} more" if more > 0 else ""


class Drawn:
    """An answer that shows itself as a sheet, in a notebook and in a terminal."""

    __slots__ = ()

    def sheet(self) -> Sheet:
        raise NotImplementedError

    def __repr__(self) -> str:
        return text(self.sheet())

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        drawn = self.sheet()
        return {"text/plain": text(drawn), "text/html": html(drawn)}


def text(sheet: Sheet) -> str:
    """A block of lines, two blanks in front of each."""
    return "\n".join(_lines(sheet))


def _lines(sheet: Sheet) -> Iterator[str]:
    widths = _widths(sheet)
    yield f"  🦋 nika · {one_line(sheet.title)} · {one_line(sheet.about, _LONGEST)}".rstrip(" ·")
    yield from (f"  ! {one_line(doubt, _LONGEST)}" for doubt in sheet.doubts)
    yield ""
    if any(sheet.heads):
        yield f"     {_aligned(sheet.heads, widths, sheet)}".rstrip()
    for line in sheet.shown:
        yield f"  {UNICODE[line.state]}  {_aligned(line.cells, widths, sheet)}".rstrip()
        yield from (f"       {one_line(said, _LONGEST)}" for said in line.under)
        yield from (f"       │ {row}".rstrip() for row in _bounded(line.block))
    if sheet.rest:
        yield f"     {sheet.rest}"
    if sheet.closing:
        yield rule(one_line(sheet.closing, _LONGEST))
    yield from (f"  {label}  {one_line(said, _LONGEST)}" for label, said in sheet.notes)


def _widths(sheet: Sheet) -> list[int]:
    rows = [sheet.heads, *(line.cells for line in sheet.shown)]
    columns = max(map(len, rows), default=0)
    return [max((len(_cut(row[at])) for row in rows if at < len(row)), default=0) for at in range(columns)]


def _cut(cell: str) -> str:
    return one_line(cell, _WIDEST)


def _aligned(cells: Sequence[str], widths: Sequence[int], sheet: Sheet) -> str:
    """The last column is as long as it is; what stands before it has the width of its column."""
    last = len(cells) - 1
    made = []
    for at, cell in enumerate(cells):
        if at in sheet.numbers:
            made.append(f"{_cut(cell):>{widths[at]}}")
        else:
            made.append(one_line(cell, _LONGEST) if at == last else f"{_cut(cell):<{widths[at]}}")
    return "  ".join(made)


def _bounded(block: Sequence[str]) -> Iterable[str]:
    shown = [clean(row, 200).replace("\n", " ").replace("\t", "    ") for row in block[:_BLOCK]]
    more = len(block) - _BLOCK
    return [*shown, f"… {more:,} more lines"] if more > 0 else shown


def html(sheet: Sheet) -> str:
    """The same as a table; everything that came from a task is escaped."""
    head = (
        f'<div><span style="font-weight:600">🦋 {inline(sheet.title, 120)}</span>'
        f'<span style="{QUIET}"> · {inline(sheet.about)}</span></div>'
    )
    sign = signed("⚠", COLOUR["failed"])
    doubts = "".join(f"<div>{sign} {inline(doubt, _LONGEST)}</div>" for doubt in sheet.doubts)
    heads = f"<tr>{_cells(('', *sheet.heads), sheet, 'th')}</tr>" if any(sheet.heads) else ""
    rows = "".join(_row(line, sheet) for line in sheet.shown)
    rest = f'<div style="{QUIET}">{sheet.rest}</div>' if sheet.rest else ""
    closing = f'<div style="font-weight:600">{inline(sheet.closing)}</div>' if sheet.closing else ""
    notes = "".join(
        f'<div style="font-size:12px"><span style="{QUIET}">{inline(label)}</span> {inline(said)}</div>'
        for label, said in sheet.notes
    )
    table = f'<table style="border-collapse:collapse;margin:4px 0;border:0">{heads}{rows}</table>'
    return box(head + doubts + table + rest + closing + notes, COLOUR["running"])


def _row(line: Line, sheet: Sheet) -> str:
    sign = f'<span style="color:{COLOUR[line.state]};font-weight:600">{UNICODE[line.state]}</span>'
    first = (
        f'<tr style="background:none">{_cells((sign, *map(inline, line.cells)), sheet, "td", raw=True)}</tr>'
    )
    inner = "".join(f'<div style="{QUIET}">{inline(said)}</div>' for said in line.under)
    if line.block:
        look = f"{MONO};font-size:12px;white-space:pre-wrap;overflow-wrap:anywhere"
        inner += f'<div style="{look}">{"".join(map(_coloured, _bounded(line.block)))}</div>'
    if not inner:
        return first
    style = "text-align:left;padding:0 0 4px 0;border:0;font-size:12px"
    wide = f'<td colspan="{len(line.cells)}" style="{style}">{inner}</td>'
    return f'{first}<tr style="background:none"><td style="border:0"></td>{wide}</tr>'


def _cells(cells: Sequence[str], sheet: Sheet, tag: str, *, raw: bool = False) -> str:
    """raw: they are HTML already. The first one is the sign, which no column counts."""
    made = []
    for at, cell in enumerate(cells):
        side = "right" if at - 1 in sheet.numbers else "left"
        quiet = f";{QUIET};font-weight:400" if tag == "th" else ""
        style = f"text-align:{side};vertical-align:top;padding:1px 14px 1px 0;border:0;font-size:13px{quiet}"
        name = tag if cell else "td"  # a heading that says nothing is none
        made.append(f'<{name} style="{style}">{cell if raw else inline(cell)}</{name}>')
    return "".join(made)


def _coloured(row: str) -> str:
    """A line of a difference: red behind what went, green behind what came; the sign says it too."""
    tint = {"+": "rgba(39,154,91,.18)", "-": "rgba(224,69,74,.18)"}.get(row[:1])
    look = f"background-color:{tint}" if tint else QUIET
    return f'<div style="{look}">{block(row) or "&nbsp;"}</div>'
