"""A fan-out, opened: every item as a small mark, then the few that are worth a line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from nika_nb.board.clean import block, error_line, inline
from nika_nb.board.rows import ITEM_STATES, TOLD_ITEMS, Items, Row, State
from nika_nb.board.style import COLOUR, MONO, QUIET
from nika_nb.board.style import ink as toned
from nika_nb.board.svg import FILL, INK, document, image
from nika_nb.board.text import UNICODE, duration, items_said
from nika_nb.values import plural

MARKS = 600  # marks of one fan-out: of more items several share a mark, the worst is shown
_ACROSS, _STEP = 60, 10
_LISTED = 20
_WORST: tuple[State, ...] = ("failed", "running", "pending", "skipped", "ok", "cached")

# A run of marks is one dashed line; no state is told by colour alone: full, flat, half, thin, a dot, a cross.
_STROKES: dict[State, str] = {
    "ok": "stroke-width='8' stroke-dasharray='8 2'", "cached": "stroke-width='4' stroke-dasharray='8 2'",
    "running": "stroke-width='8' stroke-dasharray='4 6'",
    "skipped": "stroke-width='2' stroke-dasharray='8 2'",
    "pending": "stroke-width='2' stroke-dasharray='2 8' stroke-dashoffset='-3'",
    "failed": "stroke-width='2'",
}  # fmt: skip


def opened(row: Row, whole: bool = False) -> str:
    """The items of a fan-out as HTML, bounded whatever their number; empty where none is known.

    whole: their errors with all lines, which a live view that is drawn again and again has no room for.
    """
    items = row.items
    if items is None or not items.states:
        return ""
    drawn = image(items_svg(row), _words(items), "max-width:100%;margin:0")
    each = _size(items) <= TOLD_ITEMS
    lines = _each(items, whole) if each else [*_some(items), *_faults(items, whole)]
    style = f"{MONO};font-size:11px;line-height:1.5;white-space:pre-wrap;overflow-wrap:anywhere"
    return f'<div style="padding:2px 0">{drawn}<div style="{style}">{"".join(lines)}</div></div>'


def items_svg(row: Row, ink: str = INK) -> str:
    """A mark an item, sixty to a line."""
    items = row.items or Items()
    size = _size(items)
    share = max(1, -(-size // MARKS))
    marks = [_worst(items, at, at + share, size) for at in range(0, size, share)]
    paths = []
    for state in ITEM_STATES:
        colour = FILL[state] if FILL[state] != "none" else ink
        d = "".join(_run(state, *run) for run in _runs(marks, state))
        paths += [f"<path d='{d}' fill='none' stroke='{colour}' {_STROKES[state]}/>"] if d else []
    wide = min(len(marks), _ACROSS) * _STEP
    high = -(-len(marks) // _ACROSS) * _STEP
    several = f", {share} to a mark" if share > 1 else ""
    return document(
        max(wide, 4), max(high, 4), f"items of {row.id}: {_words(items)}{several}", "".join(paths)
    )


def _runs(marks: Sequence[State], state: State) -> Iterator[tuple[int, int]]:
    """(first, how many) of the marks in a state that stand beside each other on one line."""
    at = 0
    for _, line in groupby(enumerate(marks), key=lambda mark: (mark[0] // _ACROSS, mark[1])):
        run = list(line)
        if run[0][1] == state:
            yield at, len(run)
        at += len(run)


def _run(state: State, first: int, count: int) -> str:
    x, y = first % _ACROSS * _STEP, first // _ACROSS * _STEP
    if state == "failed":
        return "".join(f"M{x + at * _STEP} {y}l8 8m-8 0l8-8" for at in range(count))
    return f"M{x} {y + 4}h{count * _STEP - 2}"


def _size(items: Items) -> int:
    """How many marks there are to be: what is announced, at least what was heard of."""
    return max(len(items.states), min(items.total or 0, len(items.states) + MARKS * 20))


def _worst(items: Items, start: int, stop: int, size: int) -> State:
    states = set(items.states[start:stop])
    found = {ITEM_STATES[code] for code in states} | (
        {"pending"} if min(stop, size) > len(items.states) else set()
    )
    return next(state for state in _WORST if state in found)


def _words(items: Items) -> str:
    counts = [(state, items.states.count(code)) for code, state in enumerate(ITEM_STATES)]
    return ", ".join(f"{count:,} {state}" for state, count in counts if count)


def _each(items: Items, whole: bool) -> list[str]:
    """A line an item: sign, number, time, result or failure."""
    faults = {number: said for number, _, said in (fault.partition(" ") for fault in items.faults)}
    lines = []
    for index, code in enumerate(items.states):
        state = ITEM_STATES[code]
        time = duration(items.took[index]) if index in items.took else ""
        result = items.previews.get(index, "")
        words = [f"[{index}]", time, f"→ {result}" if result and state != "failed" else ""]
        fault = faults.pop(f"[{index}]", "") if state == "failed" else ""
        told = [*map(inline, filter(None, words)), *([_fault(fault, whole)] if fault else [])]
        lines.append(_told(state, "  ".join(told)))
    return [*lines, *(_told("failed", _fault(f"{number} {said}", whole)) for number, said in faults.items())]


def _some(items: Items) -> list[str]:
    """Of very many: what runs, what took longest, what failed."""
    lines = []
    running = [index for index, code in enumerate(items.states) if ITEM_STATES[code] == "running"]
    if running:
        lines.append(_line("running", _listed(running)))
    if items.slowest:
        told = " · ".join(f"[{index}] {duration(ms)}" for ms, index in items.slowest)
        lines.append(f'<div style="{QUIET}">slowest {told}</div>')
    return lines


def _listed(indices: Sequence[int]) -> str:
    rest = len(indices) - _LISTED
    shown = " ".join(f"[{index}]" for index in indices[:_LISTED])
    return f"{shown} and {rest:,} more" if rest > 0 else shown


def _faults(items: Items, whole: bool) -> list[str]:
    lines = [_told("failed", _fault(fault, whole)) for fault in items.faults]
    rest = items.failed - len(items.faults)
    return lines + (
        [f'<div style="{QUIET}">and {plural(rest, "more failed item")}</div>'] if rest > 0 else []
    )


def _fault(said: str, whole: bool) -> str:
    return block(said) if whole else inline(error_line(said))


def _line(state: State, said: str) -> str:
    return _told(state, inline(said))


def _told(state: State, said: str) -> str:
    """A line of a state; what it says is escaped."""
    tone = toned(COLOUR[state])
    return f'<div><span style="{tone}">{UNICODE[state]}</span> {said}</div>'


def summary(row: Row) -> str:
    """What stands on the line that opens the items."""
    said = items_said(row)
    return f"items of {inline(row.id, 48)}{' · ' + inline(said) if said else ''}"
