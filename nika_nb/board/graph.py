"""The graph of a board, coloured by state: as SVG and as text. Large graphs are folded, and say so."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from nika_nb.board.clean import inline, one_line
from nika_nb.board.folding import DRAWN, Cell, Folded, folded
from nika_nb.board.layout import Layout, layered
from nika_nb.board.rows import STATES, State
from nika_nb.board.state import Board
from nika_nb.board.svg import CHAR, FILL, INK, PAGE, SOLID, document, rect, text
from nika_nb.board.text import UNICODE, counted, said
from nika_nb.values import plural

_HIGH, _GAP, _PAD, _BETWEEN = 24, 10, 9, 40  # of a box; below it; inside it; between two layers
_URGENT: tuple[State, ...] = (
    "failed", "paused", "retrying", "running", "pending", "cancelled", "ok", "cached", "skipped",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Place:
    x: float
    y: float
    width: float


class Graph:
    """A board's graph, folded and laid out; of more than `most` boxes the first ones."""

    def __init__(self, board: Board, most: int = DRAWN) -> None:
        self._board = board
        self._found = folded(board.tasks, most)
        self._layout = layered([cell.id for cell in self._found.cells], list(self._found.edges))

    def svg(self, ink: str = INK) -> str:
        """Left to right, each task behind what it waits for; a value is a line, an order a dashed one.

        ink: the colour of lines; PAGE where the drawing stands in a page. Elsewhere every word has a box
        behind it, for no grey can be read on all pages.
        """
        found, board = self._found, self._board
        places, width, height = _places(found.cells, self._layout)
        lines = _lines(found, self._layout, places, ink)
        boxes = "".join(_box(cell, places[cell.id], ink) for cell in found.cells)
        rest = _note(_rest(found.left_out), height + 4, ink) if found.left_out else ""
        label = f"graph of {plural(len(board.rows), 'task')}: {counted(board.counts)}"
        return document(width, height + (22 if rest else 0), label, lines + boxes + rest)

    def text(self) -> str:
        """The same graph in lines: sign, name, what it waits for; a value as ←, an order as ⇠."""
        found, layer = self._found, self._layout.layer
        names = {cell.id: _name(cell) for cell in found.cells}
        needs: dict[str, list[str]] = {cell.id: [] for cell in found.cells}
        for (start, end), kinds in found.edges.items():
            needs[end].append(f"{'←' if _carries(kinds) else '⇠'} {names[start]}")
        width = min(max(map(len, names.values()), default=0), 40)
        cells = sorted(found.cells, key=lambda cell: layer[cell.id])
        lines = [
            f"  {_sign(cell)} {names[cell.id]:<{width}}  {', '.join(needs[cell.id])}".rstrip()
            for cell in cells
        ]
        return "\n".join([*lines, *([f"  {_rest(found.left_out)}"] if found.left_out else [])])


def graph_svg(board: Board, ink: str = INK) -> str:
    """A board's graph as a drawing; see `Graph.svg`."""
    return Graph(board).svg(ink)


def graph_text(board: Board) -> str:
    """A board's graph as text; see `Graph.text`."""
    return Graph(board).text()


# -- places ------------------------------------------------------------------------------------------


def _places(cells: Sequence[Cell], layout: Layout) -> tuple[dict[object, _Place], float, float]:
    step = _HIGH + _GAP
    widths = [0.0] * layout.deep
    for cell in cells:
        at = layout.layer[cell.id]
        widths[at] = max(widths[at], len(_label(cell)) * CHAR + 2 * _PAD)
    lefts = [1 + sum(widths[:at]) + at * _BETWEEN for at in range(layout.deep)]
    places: dict[object, _Place] = {}
    for cell in cells:
        at = layout.layer[cell.id]
        places[cell.id] = _Place(lefts[at], 1 + layout.height[cell.id] * step, widths[at])
    for bends in layout.bends.values():
        for bend in bends:
            places[bend] = _Place(lefts[bend[2]], 1 + layout.height[bend] * step, widths[bend[2]])
    width = (lefts[-1] + widths[-1] + 1) if lefts else 4
    return places, width, max(layout.tall * step - _GAP + 2, 4)


# -- drawing -----------------------------------------------------------------------------------------


def _box(cell: Cell, place: _Place, ink: str) -> str:
    note = said(cell.rows[0]) if len(cell.rows) == 1 else ""
    title = inline(f"{_name(cell)} · {note} · {counted(_states(cell))}", 200)
    state = _state(cell)
    quiet = FILL[state] == "none"
    hollow = quiet and ink == PAGE
    dash = " stroke-dasharray='3 2'" if state in ("skipped", "cancelled") else ""
    look = f"fill='{SOLID if quiet else FILL[state]}'"
    if hollow:
        look = f"fill='none' stroke='{ink}' stroke-opacity='.6'{dash}"
    inner = rect(place.x, place.y, place.width, _HIGH, f"rx='5' {look}")
    if len(cell.rows) > 1:
        inner += _shares(cell, place)
    inner += text(place.x + _PAD, place.y + 16, _label(cell), ink if hollow else "#fff")
    return f"<g><title>{title}</title>{inner}</g>"


def _note(words: str, y: float, ink: str) -> str:
    if ink == PAGE:
        return text(2, y + 13, words, ink)
    return rect(1, y, len(words) * CHAR + 12, 18, f"rx='5' fill='{SOLID}'") + text(7, y + 13, words, "#fff")


def _shares(cell: Cell, place: _Place) -> str:
    """How many of the folded tasks are in which state, as a bar along the lower edge."""
    states, x, parts = _states(cell), place.x + 3, ""
    for state in STATES:
        width = (place.width - 6) * states[state] / len(cell.rows)
        if width:
            fill = FILL[state] if FILL[state] != "none" else INK
            parts += rect(x, place.y + _HIGH - 4, width, 3, f"fill='{fill}' stroke='#fff' stroke-width='.5'")
            x += width
    return parts


def _lines(found: Folded, layout: Layout, places: Mapping[object, _Place], ink: str) -> str:
    """All lines as one path, all dashed ones as another, all tips as a third."""
    paths: dict[str, list[str]] = {"": [], " stroke-dasharray='4 3'": []}
    tips = []
    for (a, b), kinds in found.edges.items():
        if (a, b) in layout.bends:
            bends = [places[bend] for bend in layout.bends[a, b]]
            paths["" if _carries(kinds) else " stroke-dasharray='4 3'"].append(
                _line(places[a], places[b], bends)
            )
            tips.append(f"M{places[b].x - 5:.0f} {places[b].y + _HIGH / 2 - 3.5:.1f}l5 3.5l-5 3.5z")
    look = f"stroke='{ink}' stroke-opacity='.6' fill='none'"
    drawn = [f"<path d='{''.join(lines)}' {look}{dash}/>" for dash, lines in paths.items() if lines]
    drawn += [f"<path d='{''.join(tips)}' fill='{ink}' fill-opacity='.75'/>"] if tips else []
    return "".join(drawn)


def _line(start: _Place, end: _Place, bends: Sequence[_Place]) -> str:
    x, y = start.x + start.width, start.y + _HIGH / 2
    path = f"M{x:.0f} {y:.0f}"
    for stop in (*bends, end):
        to_x, to_y = stop.x - (4 if stop is end else 0), stop.y + _HIGH / 2
        half = (stop.x - x) / 2
        path += f"C{x + half:.0f} {y:.0f} {to_x - half:.0f} {to_y:.0f} {to_x:.0f} {to_y:.0f}"
        x, y = stop.x + stop.width, to_y
        path += f"H{x:.0f}" if stop is not end else ""
    return path


# -- words -------------------------------------------------------------------------------------------


def _carries(kinds: frozenset[str]) -> bool:
    return not kinds <= {"control"}


def _states(cell: Cell) -> Counter[State]:
    return Counter(row.state for row in cell.rows)


def _state(cell: Cell) -> State:
    states = _states(cell)
    return next(state for state in _URGENT if states[state])


def _sign(cell: Cell) -> str:
    return UNICODE[_state(cell)]


def _name(cell: Cell) -> str:
    first, last = cell.rows[0].id, cell.rows[-1].id
    if len(cell.rows) == 1:
        return one_line(first, 24)
    return f"{one_line(first, 14)}…{one_line(last, 14)} · {plural(len(cell.rows), 'task')}"


def _label(cell: Cell) -> str:
    return f"{_sign(cell)} {_name(cell)}"


def _rest(left_out: int) -> str:
    return f"and {plural(left_out, 'task')} that the graph leaves out"
