"""A run stepped through from its journals, forward and back. Nothing is executed: it is only read."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, overload

from nika_nb.board.drawing import Drawing
from nika_nb.board.rows import State, said
from nika_nb.board.state import Board
from nika_nb.board.stops import BEGINS, Known, Reel, Stop
from nika_nb.board.tape import Tape
from nika_nb.board.winding import RETURNED
from nika_nb.doors import option
from nika_nb.errors import NoSuchName, UsageError
from nika_nb.values import among, no_such


class Outputs(Mapping[str, Any]):
    """The outputs that are known at a step, by name; each is read from the journal when it is asked for."""

    def __init__(self, tape: Tape, known: Known, stop: Stop) -> None:
        self._tape, self._known, self._stop = tape, known, stop

    def __getitem__(self, name: str) -> Any:
        place = self._known.place(name, self._stop)
        if place is None:
            raise NoSuchName(no_such("output known at this step", name, self))
        return self._tape.value(place)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self._known.place(name, self._stop) is not None

    def __iter__(self) -> Iterator[str]:
        return self._known.names(self._stop)

    def __len__(self) -> int:
        return self._known.count(self._stop)

    def __repr__(self) -> str:
        return f"Outputs({', '.join(self)})"


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a replay: what stood in the journals up to the frame that it stops behind.

    index: its number, from 0. kind: of that frame (`task_completed`, …); `workflow_started` where an
    invocation begins, `incomplete` or `running` where a journal has no end. task: what settled, an item
    as `fan[3]` and a task of a called workflow as `call/ask`; None where the run itself begins, pauses or
    ends. state: how it settled: success failure skipped cancelled cached. spent_usd: of the whole run by
    then, in US dollars; unpriced: of how many tasks nobody knows what they cost.
    """

    replay: Replay = field(repr=False)
    index: int
    kind: str
    task: str | None
    state: str | None
    spent_usd: float
    _stop: Stop = field(repr=False)
    _number: int = field(repr=False)

    @property
    def drawn(self) -> State | None:
        """How it settled, as a board draws it."""
        return self._stop.state

    @property
    def unpriced(self) -> int:
        return self._stop.unpriced

    @property
    def time(self) -> datetime:
        """When it was, UTC."""
        return _moment(self._stop.time)

    @property
    def trace(self) -> Path:
        """The journal that it stands in."""
        return self._reel.path

    @property
    def board(self) -> Board:
        """The state of every task by then. A new one each time."""
        return self.replay.tape.board(self._number)

    @property
    def graph(self) -> Drawing:
        """The tasks and what waits for what, as they stood."""
        return Drawing.graph(self.board)

    @property
    def timeline(self) -> Drawing:
        """When each task had run by then."""
        return Drawing.timeline(self.board)

    @property
    def outputs(self) -> Mapping[str, Any]:
        """task → output, of every task that had one by then."""
        return self._known(self.replay.tape.tasks)

    @property
    def within(self) -> Mapping[str, Any]:
        """The outputs within tasks: of items, as `fan[3]`, of a called workflow's tasks, as `call/ask`."""
        return self._known(self.replay.tape.within)

    @property
    def returned(self) -> dict[str, Any] | None:
        """The outputs of the workflow, None while there are none."""
        found = self._known(self.replay.tape.returned).get(RETURNED)
        return found if isinstance(found, dict) else None

    @property
    def error(self) -> dict[str, Any] | None:
        """The typed record of the failure that this step is, of an item and a called task as well."""
        return self.replay.tape.told(self._stop.place).error if self.state == "failure" else None

    @property
    def recovered_from(self) -> dict[str, Any] | None:
        """The same of what `on_error` recovered from."""
        fine = self.state in ("success", "cached")
        return self.replay.tape.told(self._stop.place).recovered_from if fine else None

    @property
    def span_ms(self) -> int:
        """How long the whole invocation took that it is a step of."""
        return self.replay.tape.span_ms(self._stop.reel)

    @property
    def answered(self) -> tuple[str, ...]:
        """The prompts whose answers let the run go on here."""
        return self._reel.answered if self.kind == BEGINS else ()

    @property
    def goes_on(self) -> bool:
        """Whether a later invocation of the run begins here."""
        return self.kind == BEGINS and self._stop.reel > 0

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        from nika_nb.board import stepped_html

        return stepped_html.mimebundle_of(self)

    def _known(self, known: Known) -> Outputs:
        return Outputs(self.replay.tape, known, self._stop)

    @property
    def _reel(self) -> Reel:
        return self.replay.tape.reels[self._stop.reel]


class Replay(Sequence[Step]):
    """The steps of a run: it begins, each task settles, it pauses or ends, over all its invocations.

    `replay[3]`, `replay.at(3)` or `replay.at("draft")`, where that task settled; `for step in replay`.
    With `fine` every item of a fan-out and every task of a called workflow is a step as well. notes:
    what speaks against believing what is shown; proofs: how far each journal proves itself.
    """

    def __init__(
        self, tape: Tape, notes: Sequence[str] = (), proofs: Sequence[str] = (), *, fine: bool = False
    ) -> None:
        self.tape = tape
        self.notes, self.proofs = tuple(notes), tuple(proofs)
        self.fine = fine
        self._numbers = [at for at, stop in enumerate(tape.stops) if fine or not stop.fine]

    @property
    def workflow(self) -> str:
        return str(self.tape.reels[0].prologue.get("workflow", ""))

    @property
    def run_id(self) -> str | None:
        """The durable run; None where the journal names none."""
        return self.tape.reels[0].run_id or None

    @property
    def traces(self) -> tuple[Path, ...]:
        """The journals, in the order in which they continue each other."""
        return tuple(reel.path for reel in self.tape.reels)

    @property
    def has_finer(self) -> bool:
        """Whether there are items or called workflows whose settles can be steps."""
        return self.tape.fine

    def at(self, where: int | str) -> Step:
        """The step of this number, or the last one at which that task settled. Raises UsageError."""
        if isinstance(where, str):
            return self._settle(where)
        try:
            return self[where]
        except IndexError:
            last = len(self) - 1
            raise UsageError(f"there is no step {where}: this run has the steps 0 to {last}") from None

    def with_fine(self, fine: bool) -> Replay:
        """The same run with other steps; nothing is read again."""
        return Replay(self.tape, self.notes, self.proofs, fine=fine)

    def same(self, step: Step) -> Step:
        """Where a step of the finer or the coarser replay stands in this one: there, or right before."""
        return self._step(max(0, bisect_right(self._numbers, step._number) - 1))

    def __repr__(self) -> str:
        from nika_nb.board import stepped

        return stepped.still(self)

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        from nika_nb.board import stepped_html

        return stepped_html.mimebundle(self)

    def __len__(self) -> int:
        return len(self._numbers)

    @overload
    def __getitem__(self, where: int) -> Step: ...

    @overload
    def __getitem__(self, where: slice) -> list[Step]: ...

    def __getitem__(self, where: int | slice) -> Step | list[Step]:
        if isinstance(where, slice):
            return [self._step(at) for at in range(*where.indices(len(self)))]
        at = range(len(self))[where]
        return self._step(at)

    def __iter__(self) -> Iterator[Step]:
        return map(self._step, range(len(self)))

    def _step(self, index: int) -> Step:
        number = self._numbers[index]
        stop = self.tape.stops[number]
        state = said(stop.state) if stop.state else None
        return Step(self, index, stop.kind, stop.name or None, state, stop.spent_usd, stop, number)

    def _settle(self, name: str) -> Step:
        stops = self.tape.stops
        for index in range(len(self) - 1, -1, -1):
            if stops[self._numbers[index]].name == name:
                return self._step(index)
        names = dict.fromkeys(stops[number].name for number in self._numbers if stops[number].name)
        finer = f" (with {option('fine')} it may)" if self.has_finer and not self.fine else ""
        raise UsageError(f"`{name}` settles at no step of this run{finer}; {among(name, names)}")


def _moment(nanoseconds: int) -> datetime:
    try:
        at = datetime.fromtimestamp(nanoseconds // 10**9, UTC)
    except (ValueError, OverflowError, OSError):  # a strange journal may claim any time
        return datetime.fromtimestamp(0, UTC)
    return at.replace(microsecond=nanoseconds % 10**9 // 1000)
