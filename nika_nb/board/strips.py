"""Bars to scale as an HTML table: a name, its bar, what is said of it. Text that can be marked and heard."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from nika_nb.board.clean import inline, one_line
from nika_nb.board.style import MONO, TRACK
from nika_nb.board.svg import CHAR, LEAST, number

NAME = 30  # characters of a name
_WIDE, _HIGH, _AXIS = 300, 18, 16  # pixels of the longest bar, of a row, of the line above them
_CELL = (
    f"height:{_HIGH}px;padding:0;border:0;background:none;text-align:left;font-weight:400;"
    f"line-height:{_HIGH}px;white-space:nowrap"
)
_TABLE = f"table-layout:auto;border:0;border-collapse:collapse;margin:0;font-size:11px;{MONO}"


@dataclass(frozen=True, slots=True)
class Strip:
    """One row. start, and each part's length: percent of the longest bar. heard: for who does not see it."""

    name: str
    start: float
    parts: Sequence[tuple[float, str]]  # a length and its look
    said: str
    heard: str = ""


def full(colour: str) -> str:
    """The look of a part."""
    return f"background-color:{colour}"


def framed(colour: str) -> str:
    """The look of a part that is only a frame."""
    return f"box-sizing:border-box;border:1px solid {colour}"


def strips(label: str, rows: Sequence[Strip], above: str, ticks: Sequence[tuple[float, str]] = ()) -> str:
    """above: what stands over the bars. ticks: lines through all of them, each at a percentage, with a word.

    It shrinks with a narrow page as far as it can be read, as drawings do.
    """
    if not rows:
        return ""
    aside = max(len(row.said) for row in rows) * CHAR + 8
    names = max(len(one_line(row.name, NAME)) for row in rows) * CHAR + 10
    width = names + _WIDE + aside
    axis = "".join(_tick(at, word, len(rows)) for at, word in ticks)
    line = f"position:relative;height:{_AXIS}px;font-size:10px"
    head = f'<div style="{line}">{above}{axis}</div>'
    body = _row("", head, aside) + "".join(_row(inline(row.name, NAME), _bar(row), aside) for row in rows)
    size = f"width:{number(width)}px;max-width:100%;min-width:{number(LEAST * width)}px"
    return f'<table aria-label="{inline(label)}" style="{_TABLE};{size}">{body}</table>'


def _row(name: str, bar: str, aside: float) -> str:
    first = f'<th scope="row" style="{_CELL};padding-right:10px">{name}</th>' if name else "<td></td>"
    return (
        f'<tr style="background:none">{first}'
        f'<td style="{_CELL};width:100%;padding-right:{number(aside)}px">{bar}</td></tr>'
    )


def _bar(row: Strip) -> str:
    heard = f' role="img" aria-label="{inline(row.heard)}"' if row.heard else ""
    lead = f'<div{heard} style="flex:none;width:{number(row.start)}%"></div>'
    parts = "".join(
        f'<div style="flex:none;height:10px;min-width:2px;width:{number(length)}%;{look}"></div>'
        for length, look in row.parts
    )
    said = f'<div style="flex:none;padding-left:5px">{inline(row.said)}</div>'
    return f'<div style="display:flex;align-items:center">{lead}{parts}{said}</div>'


def _tick(at: float, word: str, rows: int) -> str:
    place = f"position:absolute;top:0;left:{number(at)}%;height:{_AXIS + rows * _HIGH}px;padding-left:3px"
    return f'<div style="{place};border-left:1px solid {TRACK}">{word}</div>'
