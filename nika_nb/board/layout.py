"""A layered layout for a small directed graph: pure arithmetic, no drawing.

Layer by longest path; long edges bend through empty places; within a layer by the middle of the
neighbours; heights as near to the neighbours as the order allows.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

_SWEEPS = 6

Node = Hashable
Bend = tuple[Node, Node, int]  # a place that an edge passes through in a layer
Edge = tuple[Node, Node]


@dataclass(slots=True)
class Layout:
    """Places in units of one row: `layer` and `height` of every node, and the bends of every edge.

    Heights start at 0, a node is one unit high; `tall` is the whole height, `deep` the number of layers.
    """

    layer: dict[Node, int] = field(default_factory=dict)
    height: dict[Node, float] = field(default_factory=dict)
    bends: dict[Edge, list[Bend]] = field(default_factory=dict)
    deep: int = 0
    tall: float = 0.0


def layered(nodes: Sequence[Node], edges: Sequence[Edge]) -> Layout:
    """Edges that name no node, or would close a circle, are left out of the reckoning and of `bends`."""
    found = Layout()
    kept = _acyclic(nodes, edges, found)
    rows = _rows(nodes, kept, found)
    before, after = _neighbours(kept, found)
    _order(rows, before, after)
    _heights(rows, before, after, found)
    return found


def _acyclic(nodes: Sequence[Node], edges: Sequence[Edge], found: Layout) -> list[Edge]:
    """The edges that a schedule can follow, each node one layer after the last that it waits for."""
    known = set(nodes)
    kept = [edge for edge in dict.fromkeys(edges) if edge[0] in known and edge[1] in known]
    left = dict.fromkeys(known, 0)
    behind: dict[Node, list[Node]] = {node: [] for node in nodes}
    for start, end in kept:
        left[end] += 1
        behind[start].append(end)
    found.layer = dict.fromkeys(nodes, 0)
    ready = [node for node in nodes if not left[node]]
    seen = set(ready)
    for node in ready:
        for end in behind[node]:
            left[end] -= 1
            found.layer[end] = max(found.layer[end], found.layer[node] + 1)
            if not left[end] and end not in seen:
                seen.add(end)
                ready.append(end)
    found.deep = max(found.layer.values(), default=-1) + 1
    return [edge for edge in kept if found.layer[edge[0]] < found.layer[edge[1]]]


def _rows(nodes: Sequence[Node], edges: Sequence[Edge], found: Layout) -> list[list[Node | Bend]]:
    rows: list[list[Node | Bend]] = [[] for _ in range(found.deep)]
    for node in nodes:
        rows[found.layer[node]].append(node)
    for start, end in edges:
        bends: list[Bend] = [(start, end, at) for at in range(found.layer[start] + 1, found.layer[end])]
        found.bends[start, end] = bends
        for bend in bends:
            rows[bend[2]].append(bend)
    return rows


Beside = Mapping[Node | Bend, list[Node | Bend]]


def _neighbours(edges: Sequence[Edge], found: Layout) -> tuple[Beside, Beside]:
    before: dict[Node | Bend, list[Node | Bend]] = {}
    after: dict[Node | Bend, list[Node | Bend]] = {}
    for start, end in edges:
        path: list[Node | Bend] = [start, *found.bends[start, end], end]
        for one, other in pairwise(path):
            after.setdefault(one, []).append(other)
            before.setdefault(other, []).append(one)
    return before, after


def _order(rows: list[list[Node | Bend]], before: Beside, after: Beside) -> None:
    """Fewer crossings: each layer sorted by the mean place of its neighbours, down and up in turn."""
    for sweep in range(_SWEEPS):
        beside = before if sweep % 2 == 0 else after
        ordered = range(1, len(rows)) if sweep % 2 == 0 else range(len(rows) - 2, -1, -1)
        for at in ordered:
            other = {node: place for place, node in enumerate(rows[at - 1 if sweep % 2 == 0 else at + 1])}
            middle = {
                node: _mean([other[near] for near in beside.get(node, ()) if near in other], place)
                for place, node in enumerate(rows[at])
            }
            rows[at].sort(key=middle.__getitem__)


def _mean(places: Sequence[float], otherwise: float) -> float:
    return sum(places) / len(places) if places else otherwise


def _heights(rows: list[list[Node | Bend]], before: Beside, after: Beside, found: Layout) -> None:
    heights: dict[Node | Bend, float] = {}
    most = max((len(row) for row in rows), default=0)
    for row in rows:
        heights |= {node: at + (most - len(row)) / 2 for at, node in enumerate(row)}
    for sweep in range(_SWEEPS):
        beside = before if sweep % 2 == 0 else after
        for row in rows if sweep % 2 == 0 else reversed(rows):
            wanted = [_mean([heights[near] for near in beside.get(node, ())], heights[node]) for node in row]
            heights.update(zip(row, _spread(wanted), strict=True))
    low = min(heights.values(), default=0.0)
    found.height = {node: height - low for node, height in heights.items()}
    found.tall = max(found.height.values(), default=-1.0) + 1


def _spread(wanted: Sequence[float]) -> list[float]:
    """The places nearest to those wanted that keep the order and one unit between neighbours."""
    blocks: list[list[float]] = []  # [sum of wishes, how many]: what overlaps moves as one
    for at, place in enumerate(wanted):
        blocks.append([place - at, 1])
        while len(blocks) > 1 and blocks[-2][0] / blocks[-2][1] > blocks[-1][0] / blocks[-1][1]:
            total, count = blocks.pop()
            blocks[-1][0] += total
            blocks[-1][1] += count
    flat = [total / count for total, count in blocks for _ in range(int(count))]
    return [place + at for at, place in enumerate(flat)]
