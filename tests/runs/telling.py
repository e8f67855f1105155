"""What the journals and the side files of a drawn graph tell of its runs."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

from nika_nb.catalog.frames import TASK_ENDS
from tests.doors import frames, marks, of
from tests.runs.algebra import End
from tests.runs.graphs import Graph


def told(trace: Path) -> dict[str, End]:
    """How every task ended, by its last terminal frame."""
    found = {}
    for frame in of(trace, *TASK_ENDS):
        outcome = json.loads(frame["outcome"])
        found[frame["task"]] = End(outcome["class"], outcome["cause"], outcome["payload"].get("value"))
    return found


def settled(graph: Graph, trace: Path) -> set[str]:
    """The marks of everything that a journal holds as a success: of tasks, and of items each."""
    found = {f"{frame['task']}/{frame['item']}" for frame in of(trace, "nb_item_completed", status="success")}
    for frame in of(trace, "task_completed", "task_cache_hit"):
        if graph[frame["task"]].items is None:
            found.add(frame["task"])
    return found


def completed(trace: Path) -> set[str]:
    """The tasks that a journal holds as successes."""
    return {frame["task"] for frame in of(trace, "task_completed", "task_cache_hit")}


class Told:
    """Watches a folder from run to run: what was settled stays as often run as it was by then."""

    def __init__(self, graph: Graph, folder: Path) -> None:
        self._graph = graph
        self._folder = folder
        self._settled: set[str] = set()
        self._before: Counter[str] = Counter()

    def after(self, trace: Path) -> None:
        """Judges the run that wrote this trace, and takes in what it settled."""
        now = marks(self._folder / "marks")
        again = {name for name in self._settled if now[name] != self._before[name]}
        assert not again, f"{sorted(again)} had settled and ran again in {trace.name}"
        early = marks(self._folder / "early")
        assert not early, f"{sorted(early)} began before a producer's record was in the file"
        self._settled |= settled(self._graph, trace) if frames(trace) else set()
        self._before = now
