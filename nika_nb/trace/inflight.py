"""Work that a journal saw begin and did not see end."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from nika_nb.engine.contract import unit_key, unit_of
from nika_nb.trace.frame import Frame


@dataclass(frozen=True, slots=True)
class InFlight:
    """Work that had begun and is not known to have ended.

    pgid and started name the process group that worked on it, where there was one; started is its
    leader's start time.
    """

    task: str
    item: int | None
    attempt: int
    pgid: int | None
    started: str | None

    @property
    def key(self) -> str:
        """What people call it: `copy`, `fan[3]`, `call/copy`."""
        return unit_key(self.task, self.item)

    @property
    def unit(self) -> tuple[str, int | None]:
        """The task and item of this workflow that it is, or is called by."""
        unit, below, _ = self.task.partition("/")
        if not below:
            return self.task, self.item
        return unit_of(unit)


def in_flight(task: str, invoked: Mapping[int | None, Frame]) -> Iterator[InFlight]:
    """What of one task had begun. invoked: the `verb_invoked` frames without an end, by item."""
    for item, frame in invoked.items():
        yield _witnessed(task, item, frame)


def _witnessed(task: str, item: int | None, frame: Frame) -> InFlight:
    attempt, pgid, started = frame.get("attempt"), frame.get("pgid"), frame.get("started")
    known = isinstance(pgid, int) and pgid > 1 and isinstance(started, str)
    return InFlight(
        task=task,
        item=item,
        attempt=attempt if isinstance(attempt, int) else 1,
        pgid=pgid if known else None,
        started=started if known else None,
    )
