"""What the journals and the side files of a drawn graph tell of its runs."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

from nika_nb.catalog.frames import TASK_ENDS
from tests.doors import hits, marks, of
from tests.runs.algebra import CAUSES, End, ends
from tests.runs.graphs import Graph

# The causes of ends that no resume takes over: only a success is recalled.
TRIES = {"flaky": 2, "stubborn": 3}
RUN_AGAIN = {*CAUSES.values(), "error_skip"}


def told(trace: Path) -> dict[str, End]:
    """How every task ended, by its last terminal frame."""
    found = {}
    for frame in of(trace, *TASK_ENDS):
        outcome = json.loads(frame["outcome"])
        found[frame["task"]] = End(outcome["class"], outcome["cause"], outcome["payload"].get("value"))
    return found


def untidied(graph: Graph, folder: Path) -> set[str]:
    """The cleanups that should have run and never did."""
    did, found = marks(folder / "marks"), ends(graph)
    return {
        node.name for node in graph.nodes if node.unwinds and found[node.name].worked and not did[node.name]
    }


def settled(graph: Graph, trace: Path) -> set[str]:
    """The marks of everything that a journal holds as a success: of tasks, and of items each."""
    found = {f"{frame['task']}/{frame['item']}" for frame in of(trace, "nb_item_completed", status="success")}
    for frame in of(trace, "task_completed", "task_cache_hit"):
        node = graph[frame["task"]]
        if node.items is None and not node.unwinds:  # a cleanup runs whenever what it follows does
            found.add(frame["task"])
    return found


def recallable(graph: Graph, *traces: Path) -> set[str]:
    """The tasks that journals hold as successes, and that the next resume has to recognise."""
    frames = [frame for trace in traces for frame in of(trace, "task_completed", "task_cache_hit")]
    return {frame["task"] for frame in frames if not graph[frame["task"]].unwinds} - moved(graph)


def recalled(graph: Graph, trace: Path) -> set[str]:
    """The tasks for which records stood, cleanups left out: those stand where what they follow does."""
    return {name for name in hits(trace) if not graph[name].unwinds} - moved(graph)


def moved(graph: Graph) -> set[str]:
    """What folds a task that every resume runs again: it sees when that one ran, so it sees something new."""
    found = ends(graph)
    return {
        node.name
        for node in graph.nodes
        if any(how == "fold" and found[of].cause in RUN_AGAIN for of, how in node.gates)
    }


def once(graph: Graph) -> dict[str, int]:
    """How often every unit of a graph runs that is run to its end once; of a fan-out that stops, nothing."""
    found, counts = ends(graph), dict[str, int]()
    for node in graph.nodes:
        collection = found[node.items].value if isinstance(node.items, str) else node.items
        stops = node.items is not None and node.fail_fast and found[node.name].status == "failure"
        if found[node.name].cause in ("upstream", "gate") or node.does == "ask" or stops:
            continue
        if node.items is None:
            counts[node.name] = TRIES.get(node.does, 1)
        counts |= {f"{node.name}/{at}": 1 for at, _ in enumerate(collection or ())}
    return counts


class Told:
    """Watches a folder from run to run: what was settled stays as often run as it was by then."""

    def __init__(self, graph: Graph, folder: Path) -> None:
        self._graph = graph
        self._folder = folder
        self._moved = moved(graph)
        self._settled: set[str] = set()
        self._before: Counter[str] = Counter()

    def after(self, trace: Path) -> None:
        """Judges the run that wrote this trace, and takes in what it settled."""
        now = marks(self._folder / "marks")
        again = {name for name in self._settled if now[name] != self._before[name]}
        assert not again, f"{sorted(again)} had settled and ran again in {trace.name}"
        early = marks(self._folder / "early")
        assert not early, f"{sorted(early)} began before a producer's record was in the file"
        names = {name for name in settled(self._graph, trace) if name.partition("/")[0] not in self._moved}
        self._settled |= names
        self._before = now
