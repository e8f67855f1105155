"""The rows of a board: what is known of one task and its fan-out, and the sentence that says why it ran."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args

from nika_nb.board.clean import one_line
from nika_nb.board.spending import Spending
from nika_nb.engine.seen import changed_said

State = Literal["pending", "running", "retrying", "paused", "ok", "cached", "skipped", "failed", "cancelled"]
RunState = Literal["running", "completed", "failed", "cancelled", "paused", "incomplete"]

STATES: tuple[State, ...] = get_args(State)
SETTLED: frozenset[State] = frozenset({"ok", "cached", "skipped", "failed", "cancelled"})
BUSY: frozenset[State] = frozenset({"running", "retrying"})


_SAID: Mapping[State, str] = {"ok": "success", "failed": "failure", "retrying": "running"}


def said(state: State) -> str:
    """A state that a board draws, as the language, the tables and a `TaskResult` say it."""
    return _SAID.get(state, state)


ITEM_STATES: tuple[State, ...] = ("pending", "running", "ok", "cached", "failed", "skipped")
KEPT_ITEMS = 100_000  # items that are told apart; of more only the figures are kept
TOLD_ITEMS = 50  # items whose time is kept, and whose result in a few words
SLOWEST = 5  # items of any number that took longest


@dataclass(slots=True)
class Items:
    """The elements of one fan-out. `total` is None until it is known.

    states: an index into ITEM_STATES for every item heard of. took: milliseconds by item, of the first
    ones. slowest: (milliseconds, item) of those that took longest, in descending order.
    """

    total: int | None = None
    done: int = 0
    failed: int = 0
    cached: int = 0
    recovered: int = 0
    skipped: int = 0
    let_go: int = 0  # of these by `on_error: { skip: true }`
    let_go_on: str = ""  # the code of the first of those
    running: int = 0
    faults: list[str] = field(default_factory=list)
    states: bytearray = field(default_factory=bytearray)
    took: dict[int, int] = field(default_factory=dict)
    slowest: list[tuple[int, int]] = field(default_factory=list)
    previews: dict[int, str] = field(default_factory=dict)

    def mark(self, index: object, state: State) -> bool:
        """Whether the item can be told apart, and is now in that state."""
        if not isinstance(index, int) or not 0 <= index < KEPT_ITEMS:
            return False
        self.states.extend(bytes(max(0, index + 1 - len(self.states))))
        self.states[index] = ITEM_STATES.index(state)
        return True

    def time(self, index: int, ms: int) -> None:
        if index < TOLD_ITEMS:
            self.took[index] = ms
        if len(self.slowest) < SLOWEST or ms > self.slowest[-1][0]:
            self.slowest = sorted([*self.slowest, (ms, index)], reverse=True)[:SLOWEST]

    def rest(self) -> None:
        """Nothing runs any more: what had begun and not ended is as open as before."""
        self.running = 0
        self.states = self.states.replace(b"\1", b"\0")


@dataclass(slots=True)
class Talk:
    """What the agent of a row did: replies of its model, tools that it called, and of these what failed."""

    turns: int = 0
    calls: int = 0
    failed: int = 0


@dataclass(slots=True)
class Row:
    """One task. Times are unix nanoseconds, durations milliseconds, money US dollars."""

    id: str
    index: int
    verb: str = ""
    note: str = ""
    does: str = ""  # the note of its plan, where another one told later why it did not run
    state: State = "pending"
    needs: tuple[tuple[str, str, str], ...] = ()  # (producer, kind of edge, predicate or binding)
    started: int | None = None
    ended: int | None = None
    duration_ms: int | None = None
    attempts: int = 0
    tokens: int = 0
    cost_usd: float | None = None
    unpriced: bool = False  # what some of it cost nobody knows
    spending: Spending = field(default_factory=Spending)
    saved_ms: int = 0
    saved_tokens: int = 0
    saved_usd: float = 0.0
    tail: str = ""
    preview: str = ""
    reason: str = ""
    parts: tuple[str, ...] = ()
    why_detail: str = ""
    when: str = ""
    detail: str = ""
    warning: str = ""
    recovered: str = ""  # the code of what it recovered from
    gave_null: bool = False
    nulls: tuple[str, ...] = ()  # which of its bindings read null, and why
    changed: dict[str, None] = field(default_factory=dict)  # files behind its records, written since
    decided: str = ""
    blocked_by: str = ""
    not_resumable: str = ""
    parallel: bool = False
    items: Items | None = None
    talk: Talk | None = None
    called: dict[str, list[int]] = field(default_factory=dict)  # per call under way: [settled, all] tasks
    unfinished: str = ""

    @property
    def handled(self) -> str:
        """What it recovered from, in a sentence; of a fan-out how many of its items did, or were let go."""
        rescued = f"recovered from {self.recovered}" if self.recovered else ""
        items = self.items
        if items is None:
            return rescued
        let_go = f"skipped on {items.let_go_on}" if items.let_go else ""
        counts = ((items.recovered, rescued), (items.let_go, let_go))
        return " · ".join(f"{count:,} of {items.done:,} items {what}" for count, what in counts if what)

    @property
    def since(self) -> str:
        """Which files behind its records changed, in a sentence; empty where none did."""
        return changed_said(self.changed, f"--from {self.id}")

    @property
    def tries(self) -> str:
        """`×3`: how often it was tried; empty where once was enough."""
        return f"×{self.attempts}" if self.attempts > 1 else ""

    @property
    def settled(self) -> bool:
        return self.state in SETTLED

    @property
    def beside(self) -> bool:
        """Whether the task runs, or ran, beside another one."""
        return self.parallel and (self.state in BUSY or self.state in ("ok", "failed"))

    def elapsed_ms(self, now: int | None = None) -> int | None:
        """What the task took, or has taken so far; None where it has not begun, waits or did no work."""
        if self.state in ("pending", "cached", "paused"):
            return None
        if self.duration_ms is not None:
            return self.duration_ms
        if self.started is None:
            return None
        until = self.ended or now
        return None if until is None else max(0, (until - self.started) // 10**6)


def why(row: Row) -> str:
    """Why a task ran although the run was a resume: a short sentence, empty when there is none."""
    return reason_said(row.reason, row.parts, row.why_detail)


def reason_said(reason: str, parts: Iterable[str] = (), detail: str = "") -> str:
    """A miss as people read it; empty for a first run. parts: what differs, with where it comes from."""
    said, detail = ", ".join(one_line(part) for part in parts), one_line(detail)
    match reason:
        case "new":
            return "new task"
        case "definition":
            return _with("definition changed", said or detail)
        case "input":
            return _with("input changed", said or detail)
        case "not-recorded":
            return _with("not recorded", detail)
        case "forced":
            return f"forced by --from {detail}".rstrip()
        case "not-resumable":
            return _with("not resumable", detail or said)
    return ""


def _with(head: str, tail: str) -> str:
    return f"{head}: {tail}" if tail else head
