"""The traces of a folder as a list shows them: a pause that was answered is none any more."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from nika_nb.runs.kin import answered_elsewhere, latest_of
from nika_nb.runs.records import line_of
from nika_nb.runs.shelf import Shelf
from nika_nb.trace.folder import Entry
from nika_nb.trace.trace import State


@dataclass(frozen=True, slots=True)
class ListedTrace:
    """A trace in a list.

    onward: the name of the trace in which its run went on, or in which another run has the answers, where it
    does not wait any more; run: how that run stands now. answered: somebody answered what it asks, or
    declined to; it was called off otherwise. by: the id of the other run, where it is one.
    """

    entry: Entry
    onward: str | None = None
    run: State | None = None
    answered: bool = False
    by: str | None = None

    @property
    def state(self) -> str:
        """As its journal ends, or `answered`; of a pause that was called off as its run stands."""
        return "answered" if self.answered else self.run or self.entry.state

    @property
    def how(self) -> str:
        """What a line of it ends with: how the run that went on stands, and which it is."""
        return f"  → {self.run}" + (f" in {self.by}" if self.by else "") if self.run else ""


def listed(path: Path) -> list[ListedTrace]:
    """Every trace of a folder, newest first. Raises UsageError where none can be looked up."""
    shelf = Shelf(path)
    shelf.judge()
    entries = shelf.entries()
    paused = {entry.run for entry in entries if entry.state == "paused" and entry.run}
    onward: dict[str, tuple[str, State, bool, str | None]] = dict(_onward(shelf, paused))
    waiting = [entry.path for entry in entries if entry.state == "paused" and entry.path.name not in onward]
    for asked, found in answered_elsewhere(waiting, path).items():
        latest = latest_of(found.by, shelf)
        onward[asked.name] = found.by.name, latest.state(path), True, latest.run
    return [ListedTrace(entry, *onward.get(entry.path.name, ())) for entry in entries]


def _onward(shelf: Shelf, runs: set[str]) -> Iterator[tuple[str, tuple[str, State, bool, None]]]:
    """A pause that is over: the trace behind it, the state of their run, whether it was answered."""
    for heads in shelf.heads_of(runs).values():
        line = line_of([head for head in heads if not head.blocked])
        for asked, later in pairwise(line):
            if asked.end == "workflow_paused":
                names = {asked.name, *(head.name for head in heads if later.continues(head))}
                went_on = later.name, line[-1].state(shelf.path), bool(later.answered), None
                yield from ((name, went_on) for name in names)
