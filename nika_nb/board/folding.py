"""A graph too large to read, folded: a chain of tasks becomes one cell, cells that stand alike another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from nika_nb.board.rows import Row

PLAIN = 48  # tasks that are drawn one by one
DRAWN = 300  # cells that are drawn at all
_ALIKE = 3  # what is worth folding


@dataclass(slots=True)
class Cell:
    """One box: a task, or several that stand alike or in a row. `id` is that of the first."""

    id: str
    rows: list[Row]


@dataclass(slots=True)
class Folded:
    """The cells in document order, the edges between them with their kinds, how many tasks are left out."""

    cells: list[Cell]
    edges: dict[tuple[str, str], frozenset[str]]
    left_out: int = 0


def folded(rows: Sequence[Row], most: int = DRAWN) -> Folded:
    """The graph of a board's rows, as it is or folded until it can be read; at most so many cells."""
    found = Folded([Cell(row.id, [row]) for row in rows], _edges(rows))
    if len(rows) > PLAIN:
        found = _merged(found, _chains(found))
        found = _merged(found, _alike(found))
    if len(found.cells) > most:
        kept = found.cells[:most]
        ids = {cell.id for cell in kept}
        edges = {edge: kinds for edge, kinds in found.edges.items() if ids.issuperset(edge)}
        found = Folded(kept, edges, sum(len(cell.rows) for cell in found.cells[most:]))
    return found


def _edges(rows: Sequence[Row]) -> dict[tuple[str, str], frozenset[str]]:
    known = {row.id for row in rows}
    edges: dict[tuple[str, str], frozenset[str]] = {}
    for row in rows:
        for producer, kind, _ in row.needs:
            if producer in known and producer != row.id:
                edges[producer, row.id] = edges.get((producer, row.id), frozenset()) | {kind}
    return edges


def _beside(found: Folded) -> tuple[dict[str, set[str]], dict[str, set[str]]]:
    before: dict[str, set[str]] = {cell.id: set() for cell in found.cells}
    after: dict[str, set[str]] = {cell.id: set() for cell in found.cells}
    for start, end in found.edges:
        before[end].add(start)
        after[start].add(end)
    return before, after


def _alike(found: Folded) -> list[list[Cell]]:
    """Cells that wait for the same cells and are waited for by the same."""
    before, after = _beside(found)
    groups: dict[tuple[frozenset[str], frozenset[str]], list[Cell]] = {}
    for cell in found.cells:
        groups.setdefault((frozenset(before[cell.id]), frozenset(after[cell.id])), []).append(cell)
    return [group for group in groups.values() if len(group) >= _ALIKE]


def _chains(found: Folded) -> list[list[Cell]]:
    """Cells one behind the other with nothing else at their joints."""
    before, after = _beside(found)
    cells = {cell.id: cell for cell in found.cells}
    joined = {start: end for start, end in found.edges if len(after[start]) == 1 == len(before[end])}
    chains, inner = [], set(joined.values())
    for start in (cell.id for cell in found.cells):
        if start in joined and start not in inner:
            chain = [cells[start]]
            while chain[-1].id in joined:
                chain.append(cells[joined[chain[-1].id]])
            chains.append(chain)
    return [chain for chain in chains if len(chain) >= _ALIKE]


def _merged(found: Folded, groups: Sequence[Sequence[Cell]]) -> Folded:
    if not groups:
        return found
    into = {cell.id: group[0].id for group in groups for cell in group}
    cells: dict[str, Cell] = {}
    for cell in found.cells:
        name = into.get(cell.id, cell.id)
        cells.setdefault(name, Cell(name, [])).rows.extend(cell.rows)
    edges: dict[tuple[str, str], frozenset[str]] = {}
    for (start, end), kinds in found.edges.items():
        edge = into.get(start, start), into.get(end, end)
        if edge[0] != edge[1]:
            edges[edge] = edges.get(edge, frozenset()) | kinds
    return Folded(list(cells.values()), edges)
