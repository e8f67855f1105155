"""Order on edges: cycles, a topological order, what lies downstream."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
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


def downstream(edges: Iterable[Edge], *starts: str) -> set[str]:
    """Every task that a change of the given ones can reach over scheduling and recovery edges."""
    nexts: dict[str, list[str]] = {}
    for edge in edges:
        if edge.kind != "finally":
            nexts.setdefault(edge.producer, []).append(edge.consumer)
    return reached(nexts, *starts)


def reached(nexts: Mapping[str, Sequence[str]], *starts: str) -> set[str]:
    """All that comes after some tasks, by what comes right after each; a task itself only on a cycle."""
    seen: set[str] = set()
    waiting = [following for start in starts for following in nexts.get(start, ())]
    while waiting:
        node = waiting.pop()
        if node not in seen:
            seen.add(node)
            waiting += nexts.get(node, ())
    return seen


class Reach:
    """Asked of many pairs: does one task come after another? `nexts`: what comes right after each.

    All that lies behind a task is one whole number with a bit per task, so the answers for a whole
    graph cost about as much as reading it. What leads into a cycle is looked for each time.
    """

    def __init__(self, nexts: Mapping[str, Sequence[str]]) -> None:
        self._nexts = nexts
        self._at = {name: at for at, name in enumerate(nexts)}
        self._behind: dict[str, int] = {}
        for name in self._last_first():
            behind = 0
            for following in nexts[name]:
                behind |= self._behind[following] | 1 << self._at[following]
            self._behind[name] = behind

    def leads(self, first: str, second: str) -> bool:
        """Whether `second` comes after `first`."""
        if first not in self._behind:
            return second in reached(self._nexts, first)
        return bool(self._behind[first] >> self._at[second] & 1)

    def _last_first(self) -> Iterator[str]:
        """Every task that leads into no cycle, after all that comes after it."""
        before: dict[str, list[str]] = {name: [] for name in self._nexts}
        for name, followings in self._nexts.items():
            for following in followings:
                before[following].append(name)
        left = {name: len(followings) for name, followings in self._nexts.items()}
        waiting = [name for name, count in left.items() if not count]
        while waiting:
            yield (name := waiting.pop())
            for earlier in before[name]:
                left[earlier] -= 1
                if not left[earlier]:
                    waiting.append(earlier)


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
