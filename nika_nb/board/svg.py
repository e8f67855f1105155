"""The graph of a board as one small SVG, coloured by state: an image of its own or a `data:` address."""

from __future__ import annotations

from html import escape
from urllib.parse import quote

from nika_nb.board.clean import one_line
from nika_nb.board.rows import Row
from nika_nb.board.state import Board
from nika_nb.board.style import COLOUR
from nika_nb.board.text import UNICODE

_HIGH, _GAP_X, _GAP_Y, _CHAR, _PAD = 26, 44, 12, 7.3, 10


def data_uri(board: Board) -> str:
    """The graph as an address that an `<img>` can show without asking anyone."""
    return "data:image/svg+xml," + quote(graph_svg(board), safe=" ='/:;,()")


def graph_svg(board: Board) -> str:
    """Left to right by wave, in document order within a wave; arrows from what settles first."""
    rows = board.tasks
    waves = _waves(rows)
    places, width, height = _places(waves)
    known = {row.id for row in rows}
    lines = "".join(
        _arrow(places[need[0]], places[row.id], need[1])
        for row in rows
        for need in row.needs
        if need[0] in known
    )
    boxes = "".join(_box(row, *places[row.id]) for row in rows)
    return (
        f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {width:.0f} {height:.0f}' "
        f"width='{width:.0f}' height='{height:.0f}' font-family='ui-monospace,Menlo,Consolas,monospace' "
        f"font-size='12'>{lines}{boxes}</svg>"
    )


def _waves(rows: list[Row]) -> list[list[Row]]:
    """Each task one wave after the last task it waits for. A cycle cannot run, but must not hang."""
    known = {row.id for row in rows}
    needs = {row.id: {n[0] for n in row.needs if n[0] in known and n[0] != row.id} for row in rows}
    placed: set[str] = set()
    waves: list[list[Row]] = []
    waiting = rows
    while waiting:
        wave = [row for row in waiting if needs[row.id] <= placed] or waiting
        waves.append(wave)
        placed |= {row.id for row in wave}
        waiting = [row for row in waiting if row.id not in placed]
    return waves


Place = tuple[float, float, float]  # x, y, width


def _places(waves: list[list[Row]]) -> tuple[dict[str, Place], float, float]:
    places: dict[str, Place] = {}
    x = 2.0
    tall = max((len(wave) for wave in waves), default=0)
    height = tall * (_HIGH + _GAP_Y) - _GAP_Y + 4
    for wave in waves:
        width = max(len(_label(row)) for row in wave) * _CHAR + 2 * _PAD
        top = 2 + (height - 4 - (len(wave) * (_HIGH + _GAP_Y) - _GAP_Y)) / 2
        for at, row in enumerate(wave):
            places[row.id] = (x, top + at * (_HIGH + _GAP_Y), width)
        x += width + _GAP_X
    return places, max(x - _GAP_X + 2, 4), max(height, 4)


def _label(row: Row) -> str:
    return f"{UNICODE[row.state]} {one_line(row.id, 24)}"


def _box(row: Row, x: float, y: float, width: float) -> str:
    faint = " fill-opacity='.75'" if row.state in ("pending", "skipped", "cancelled") else ""
    place = f"x='{x:.1f}' y='{y:.1f}' width='{width:.1f}' height='{_HIGH}'"
    return (
        f"<g><title>{escape(one_line(f'{row.id} · {row.note} · {row.state}'))}</title>"
        f"<rect {place} rx='5' fill='{COLOUR[row.state]}'{faint}/>"
        f"<text x='{x + _PAD:.1f}' y='{y + 17:.1f}' fill='#fff'>{escape(_label(row))}</text></g>"
    )


def _arrow(start: Place, end: Place, kind: str) -> str:
    x1, y1 = start[0] + start[2], start[1] + _HIGH / 2
    x2, y2 = end[0] - 5, end[1] + _HIGH / 2
    bend = max(14.0, (x2 - x1) / 2)
    dash = "" if kind == "value" or kind == "fan-in" else " stroke-dasharray='4 3'"
    tip = f"M{x2:.1f} {y2 - 3.5:.1f}l5 3.5l-5 3.5z"
    curve = f"M{x1:.1f} {y1:.1f}C{x1 + bend:.1f} {y1:.1f} {x2 - bend:.1f} {y2:.1f} {x2:.1f} {y2:.1f}"
    return f"<path d='{curve}' fill='none' stroke='#8a8f98'{dash}/><path d='{tip}' fill='#8a8f98'/>"
