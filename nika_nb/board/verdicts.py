"""What answers about every task are drawn in: a title, a row per task, a sum, and what else is known."""

from __future__ import annotations

from collections.abc import Iterable

from nika_nb.board.clean import inline, one_line
from nika_nb.board.style import QUIET, box, fact, signed
from nika_nb.board.text import rule

WIDEST = 40  # columns of the id
LONGEST = 400  # characters of anything that is said in one line
MOST = 12  # things of a kind that are told one by one
_TABLE = "table-layout:auto;width:100%;border-collapse:collapse;margin:4px 0;border:0"
_CELL = "text-align:left;vertical-align:top;padding:1px 14px 1px 0;border:0;font-size:13px"

Facts = Iterable[tuple[str, str]]  # (label, what)


def width_of(names: Iterable[str]) -> int:
    """Columns that the ids of tasks take."""
    return min(max((len(one_line(name)) for name in names), default=0), WIDEST)


def closing(summary: str, about: Facts) -> list[str]:
    """The lines below the tasks."""
    return [
        rule(one_line(summary, LONGEST)),
        *(f"  {label}  {one_line(what, LONGEST)}" for label, what in about),
    ]


def page(title: str, about: str, rows: Iterable[str], summary: str, facts: Facts, tone: str) -> str:
    """The whole of it as HTML. rows: as `row` makes them."""
    head = (
        f'<div><span style="font-weight:600">🦋 {title}</span><span style="{QUIET}"> · {about}</span></div>'
    )
    sum_ = f'<div style="font-weight:600">{inline(summary, LONGEST)}</div>'
    below = "".join(fact(label, what) for label, what in facts)
    return box(f'{head}<table style="{_TABLE}">{"".join(rows)}</table>{sum_}{below}', tone)


def row(sign: str, tone: str, task: str, said: str, facts: Facts) -> str:
    """A task: its sign (a glyph and a word), what it is (as HTML), a sentence, and facts below that."""
    below = "".join(fact(label, what) for label, what in facts)
    glyph, _, word = sign.partition(" ")
    return (
        f'<tr style="background:none"><td style="{_CELL};white-space:nowrap">'
        f'{signed(glyph, tone)} <span style="font-weight:600">{word}</span></td>'
        f'<td style="{_CELL}">{task}</td>'
        f'<td style="{_CELL};width:70%">{inline(said, LONGEST)}{below}</td></tr>'
    )
