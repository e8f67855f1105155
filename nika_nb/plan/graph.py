"""Order on edges: cycles, a topological order, what lies downstream."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain

from nika_nb.plan.edges import Edge


def cycle(nodes: Iterable[str], edges: Iterable[Edge]) -> list[str]:
    """The tasks of one cycle in order, its first task repeated at the end; [] when there is none."""
    nexts = _successors(nodes, edges)
    state: dict[str, int] = {}
    for root in nexts:
        found = _walk(root, nexts, state)
        if found:
            return found
    return []


def _walk(root: str, nexts: dict[str, list[str]], state: dict[str, int]) -> list[str]:
    """Depth-first without recursion: a chain may be as long as the document."""
    path: list[str] = []
    stack: list[tuple[str, int]] = [(root, 0)]
    while stack:
        node, at = stack.pop()
        if at == 0:
            if state.get(node) == 2:
                continue
            state[node] = 1
            path.append(node)
        if at < len(nexts[node]):
            stack.append((node, at + 1))
            following = nexts[node][at]
            if state.get(following) == 1:
                return [*path[path.index(following) :], following]
            if following not in state:
                stack.append((following, 0))
        else:
            state[node] = 2
            path.pop()
    return []


def _successors(nodes: Iterable[str], edges: Iterable[Edge]) -> dict[str, list[str]]:
    nexts: dict[str, list[str]] = {node: [] for node in nodes}
    for edge in edges:
        if edge.producer in nexts:
            nexts[edge.producer].append(edge.consumer)
    return nexts


def downstream(start: str, edges: Iterable[Edge]) -> set[str]:
    """Every task that a change of `start` can reach over scheduling and recovery edges."""
    nexts: dict[str, list[str]] = {}
    for edge in edges:
        if edge.kind != "finally":
            nexts.setdefault(edge.producer, []).append(edge.consumer)
    return reached(start, nexts)


def reached(start: str, nexts: Mapping[str, Sequence[str]]) -> set[str]:
    """All that comes after a task, by what comes right after each; the task itself only on a cycle."""
    seen: set[str] = set()
    waiting = list(nexts.get(start, ()))
    while waiting:
        node = waiting.pop()
        if node not in seen:
            seen.add(node)
            waiting += nexts.get(node, ())
    return seen


def topological(nodes: Iterable[str], edges: Iterable[Edge], *, recoveries: bool = False) -> list[str]:
    """The tasks in wave order, document order within a wave. Only edges that schedule count, with
    recoveries also what these read; those that count must be acyclic."""
    order = list(nodes)
    missing = dict.fromkeys(order, 0)
    nexts = _successors(
        order, (edge for edge in edges if edge.schedules or (recoveries and edge.kind == "recovery"))
    )
    for node in chain.from_iterable(nexts.values()):
        missing[node] += 1
    wave = [node for node in order if not missing[node]]
    result: list[str] = []
    rank = {node: at for at, node in enumerate(order)}
    while wave:
        result += wave
        ready: list[str] = []
        for node in wave:
            for following in nexts[node]:
                missing[following] -= 1
                if not missing[following]:
                    ready.append(following)
        wave = sorted(ready, key=rank.__getitem__)
    return result
