"""Where a journal can be stopped at, and where its outputs lie: places, so that nothing is held twice."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from nika_nb.board.fields import json_of
from nika_nb.board.rows import State
from nika_nb.trace.frame import Frame

BEGINS = "workflow_started"
GOES_ON = "running"  # the end of a journal whose writer lives
BROKE_OFF = "incomplete"

Place = tuple[int, int, int]  # number of the journal, first byte, the byte behind the last


@dataclass(frozen=True, slots=True)
class Stop:
    """A place to stop at: behind the frame that settled something.

    kind: of that frame, or one of the three above. name: what settled, written as answers are (`ask`,
    `fan[3]`, `call/ask`); empty for what the run itself does. state: how it settled. time: unix
    nanoseconds. spent_usd: of the whole run by then; unpriced: of how many tasks nobody knows what they
    cost. reel: the number of the journal. offset, events: the bytes and the lines of it that were written
    by then. start: where what settled it begins. fine: an item, or a task of a called workflow.
    """

    kind: str
    name: str
    state: State | None
    time: int
    spent_usd: float
    reel: int
    start: int
    offset: int
    events: int
    fine: bool = False
    unpriced: int = 0

    @property
    def place(self) -> Place:
        """Where what settled it lies."""
        return self.reel, self.start, self.offset


@dataclass(frozen=True, slots=True)
class Reel:
    """One journal as far as it could be read.

    shown: its path as people read it. first: its first frame. size: the bytes up to the end of its last
    whole line; head: the hash of that line. running: its writer was alive when the reading began.
    trouble: why the reading ended where it did, empty where all was read.
    """

    path: Path
    shown: str
    first: Frame
    size: int
    head: str
    running: bool
    trouble: str

    @property
    def prologue(self) -> dict[str, Any]:
        return self.first.fields

    @property
    def run_id(self) -> str:
        return self.first.correlation or ""

    @property
    def answered(self) -> tuple[str, ...]:
        """The prompts that were answered to let it go on."""
        names = json_of(self.prologue.get("answered"), [])
        return tuple(str(name) for name in names) if isinstance(names, list) else ()


class Known:
    """Where outputs lie, by name, in the order in which they became known."""

    def __init__(self) -> None:
        self._places: dict[str, list[Place]] = {}
        self._first: list[tuple[int, int]] = []  # per name: (journal, offset) from which on it is known

    def add(self, name: str, place: Place) -> None:
        found = self._places.setdefault(name, [])
        if not found:
            self._first.append(_behind(place))
        found.append(place)

    def count(self, stop: Stop) -> int:
        """How many names are known at a stop."""
        return bisect_right(self._first, (stop.reel, stop.offset))

    def names(self, stop: Stop) -> Iterator[str]:
        return islice(self._places, self.count(stop))

    def place(self, name: str, stop: Stop) -> Place | None:
        """The newest place by then; None where nothing of that name is known."""
        found = self._places.get(name, [])
        at = bisect_right(found, (stop.reel, stop.offset), key=_behind)
        return found[at - 1] if at else None


def _behind(place: Place) -> tuple[int, int]:
    return place[0], place[2]
