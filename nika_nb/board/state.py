"""The board: events, or a journal's frames, folded into what every task is doing, why, and at what cost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Protocol

from nika_nb.board.fold import HANDLERS
from nika_nb.board.log import KEPT, told
from nika_nb.board.rows import BUSY, SETTLED, Row, RunState, State
from nika_nb.engine.contract import Prompt

RECENT = 64  # how many of the last touched tasks a window may choose from


class Fact(Protocol):
    """An engine event or a journal frame: the time is `at` or `timestamp`, unix nanoseconds."""

    @property
    def kind(self) -> str: ...

    @property
    def fields(self) -> Mapping[str, Any]: ...


@dataclass
class Board:
    """The state of one invocation, kept current by `apply`.

    `version` grows with every event that may have changed something. The caller sets `run_id`, and
    the `trace_*` figures and `trouble` where there is a journal.
    """

    run_id: str = ""
    workflow: str = ""
    permits: str = ""
    state: RunState = "running"
    rows: dict[str, Row] = field(default_factory=dict)
    prompts: tuple[Prompt, ...] = ()
    detail: str = ""
    started: int | None = None
    last: int | None = None
    virtual: bool = False
    resumed: bool = False
    resumed_trace: str = ""
    hits: int = 0
    ran_live: int = 0
    trace_path: str = ""
    trace_head: str = ""
    trace_events: int = 0
    cap_usd: float | None = None
    spent_before: float = 0.0  # what earlier invocations of the run have used of its cap, in US dollars
    trouble: str = ""  # what is wrong with the journal, though not with the run
    trace_data: bytes = b""  # the journal, packed, where it is small enough to travel with a still
    log: list[str] = field(default_factory=list)  # the first events, a line each
    log_length: int = 0  # how many lines there would be
    version: int = 0
    counts: Counter[State] = field(default_factory=Counter)
    recent: dict[str, None] = field(default_factory=dict)
    _busy: set[str] = field(default_factory=set)
    _live: set[str] = field(default_factory=set)

    # -- reading -------------------------------------------------------------------------------

    def __repr__(self) -> str:
        from nika_nb.board.still import still_text

        return still_text(self)

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        from nika_nb.board.still import mimebundle

        return mimebundle(self)

    @property
    def tasks(self) -> list[Row]:
        """The rows in document order, as a list that a growing board does not disturb."""
        return list(self.rows.values())

    @property
    def over(self) -> bool:
        return self.state != "running"

    @property
    def done(self) -> int:
        return sum(self.counts[state] for state in SETTLED)

    @property
    def cost_usd(self) -> float:
        return round(sum(row.cost_usd or 0.0 for row in self.tasks), 10)

    @property
    def tokens(self) -> int:
        return sum(row.tokens for row in self.tasks)

    @property
    def unpriced(self) -> int:
        """Tasks of which nobody knows what all their calls of models cost."""
        return sum(row.unpriced for row in self.tasks)

    @property
    def saved(self) -> tuple[float, int, int]:
        """(dollars, tokens, milliseconds) that cache hits stood in for."""
        rows = self.tasks
        return (
            round(sum(row.saved_usd for row in rows), 10),
            sum(row.saved_tokens for row in rows),
            sum(row.saved_ms for row in rows),
        )

    def elapsed_ms(self, now: int | None = None) -> int:
        if self.started is None or self.last is None:
            return 0
        ticking = now is not None and not self.over and not self.virtual
        until = max(self.last, now) if ticking and now is not None else self.last
        return (until - self.started) // 10**6

    # -- folding -------------------------------------------------------------------------------

    def apply(self, event: Fact) -> None:
        """Take in one event. Kinds that the board does not know are passed over."""
        at = getattr(event, "at", None)
        if at is None:
            at = getattr(event, "timestamp", None)
        if at is not None:
            self.last = max(at, self.last or at)
        self._tell(event)
        handler = HANDLERS.get(event.kind)
        if handler:
            self.version += 1
            # A journal may come from anywhere: a frame that is not of its shape tells nothing.
            with suppress(KeyError, TypeError, ValueError, AttributeError):
                handler(self, event.fields, self.last or 0)

    def _tell(self, event: Fact) -> None:
        line = told(event.kind, event.fields, self.elapsed_ms())
        self.log_length += 1 if line else 0
        if line and len(self.log) < KEPT:
            self.log.append(line)

    def close(self) -> None:
        """There will be no more events: a run without an end is `incomplete`."""
        if self.state == "running":
            self.state = "incomplete"
            for row in self.tasks:
                if row.state in BUSY:
                    row.unfinished = "was running"
                    self.touch(row)
            self.version += 1

    def row(self, task: str) -> Row:
        row = self.rows.get(task)
        if row is None:
            row = self.rows[task] = Row(task, len(self.rows))
            self.counts[row.state] += 1
        return row

    def touch(self, row: Row) -> None:
        self.recent.pop(row.id, None)
        self.recent[row.id] = None
        if len(self.recent) > RECENT:
            del self.recent[next(iter(self.recent))]

    def become(self, row: Row, state: State) -> None:
        self.counts[row.state] -= 1
        self.counts[state] += 1
        row.state = state
        (self._busy.add if state in BUSY else self._busy.discard)(row.id)
        self.touch(row)

    def begin(self, row: Row, at: int) -> None:
        """First dispatch: a task that starts while others run goes alongside them."""
        if row.started is None:
            row.started = at
            row.parallel = bool(self._busy)

    def ran(self, row: Row) -> None:
        if row.id not in self._live:
            self._live.add(row.id)
            self.ran_live += 1


def board_of(events: Iterable[Fact], *, live: bool = False) -> Board:
    """The board of a whole journal; `live` when its run may still be going on."""
    board = Board()
    for event in events:
        board.apply(event)
    if not live:
        board.close()
    return board
