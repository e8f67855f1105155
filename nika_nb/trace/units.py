"""A journal's frames, in order → what became of every task and every item, and what it cost. Streaming."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

from nika_nb.catalog.prices import unknown
from nika_nb.engine.outcome import blocked_said
from nika_nb.trace.child import CHILD, event_of
from nika_nb.trace.fields import inner, list_of, names_of, number, said, shape_of, whole
from nika_nb.trace.figures import Figures
from nika_nb.trace.frame import Frame
from nika_nb.trace.trace import prompts_of

UnitState = Literal[
    "pending", "running", "success", "failure", "skipped", "cancelled", "paused", "incomplete"
]

_OUTPUT = "output"  # an event of a called workflow has it whole: only its caller's frames are paged

ENDS: dict[str, UnitState] = {
    "task_completed": "success",
    "task_cache_hit": "success",
    "task_failed": "failure",
    "task_skipped": "skipped",
    "task_cancelled": "cancelled",
}


@dataclass(slots=True)
class Unit:
    """One task, or one item of its fan-out. Times are unix nanoseconds.

    incomplete: it was at work when the journal broke off. cached: a record stood in for running it.
    spent: what this invocation paid for it, wasted: the part of that which went into attempts that gave
    nothing; saved: what it would have cost again. unpriced: why some of it has no price. items: of a
    fan-out, those that settled; items_cached, items_failed: how many of these were recalled, and failed.
    parts: what differed on a resume, each with where it comes from. detail: more of that, or what blocked
    it. files_changed: what its records were made from, and was written since. output: JSON text, only
    where the fold keeps outputs.
    """

    task: str
    item: int | None = None
    verb: str | None = None
    note: str | None = None
    state: UnitState = "pending"
    cause: str | None = None
    cached: bool = False
    reason: str | None = None
    parts: tuple[str, ...] = ()
    detail: str | None = None
    started: int | None = None
    ended: int | None = None
    duration_ms: int | None = None
    attempts: int | None = None
    items_begun: int = 0
    items: int = 0
    items_cached: int = 0
    items_failed: int = 0
    spent: Figures = field(default_factory=Figures)
    saved: Figures = field(default_factory=Figures)
    wasted: Figures = field(default_factory=Figures)
    unpriced: str | None = None
    model: str | None = None
    error_code: str | None = None
    error_message: str | None = None
    def_hash: str | None = None
    input_hash: str | None = None
    definition_parts: str | None = None
    input_parts: str | None = None
    not_resumable: str | None = None
    files_changed: tuple[str, ...] = ()
    output: str | None = None
    attempt_began: int | None = None  # None while no attempt is under way
    tried: Figures = field(default_factory=Figures)  # of the attempts that are over and gave nothing
    below: Units | None = None  # the workflow that it calls, in the attempt that is under way
    called: dict[int, Units] | None = None  # of a fan-out, the workflows that its items called

    @property
    def cut_off(self) -> bool:
        """Whether the journal broke off in the middle of an attempt: what that cost nobody knows."""
        return self.state == "incomplete" and self.attempt_began is not None

    @property
    def has_unknown(self) -> bool:
        """Whether nobody knows what some of it cost."""
        return unknown(self.unpriced)

    def take_unpriced(self, why: object) -> None:
        """One more reason of there being no price: what leaves open what was paid is kept."""
        if not self.has_unknown:
            self.unpriced = said(why) or self.unpriced

    @property
    def settled(self) -> bool:
        return self.state in ("success", "failure", "skipped", "cancelled")


class Units:
    """The fold. `tasks` are in document order.

    on_item: gets every item once, when it has settled or at the end; without it only the tasks' sums
    are kept. outputs, below: whether units keep their outputs, and what they called.
    """

    def __init__(
        self, on_item: Callable[[Unit], None] | None = None, *, outputs: bool = False, below: bool = False
    ) -> None:
        self.tasks: dict[str, Unit] = {}
        self._items: dict[str, dict[int, Unit]] = {}  # by task, those that have begun and not settled
        self._on_item = on_item
        self._outputs = outputs
        self._below = below
        self._asked: set[tuple[str, int | None]] = set()

    def take(self, frame: Frame, text: str | None = None) -> None:
        """Takes the next frame in, with its whole output text where it has one; never a page of one."""
        task = frame.get("task")
        handler = _HANDLERS.get(frame.kind)
        if frame.kind == "workflow_paused":
            self._asked = {(prompt.task, prompt.item) for prompt in prompts_of(frame)}
        elif handler is not None and isinstance(task, str):
            handler(self, self._unit(task, whole(frame.get("item"))), frame, text)

    def close(self, *, running: bool) -> None:
        """There are no more frames; running: because the run goes on."""
        for task, index in self._asked:
            if task in self.tasks and not self._unit(task, index).settled:
                self._unit(task, index).state = "paused"
        for task in list(self._items):
            for item in self._taken(task):
                self._leave(item, running)
                self._absorb(self.tasks[task], item)
                if item.state == "paused":
                    self.tasks[task].state = "paused"
                self._hand_on(item)
        for unit in self.tasks.values():
            self._leave(unit, running)

    def _leave(self, unit: Unit, running: bool) -> None:
        """Closes what has not settled: what it cost up to here is all that is known."""
        if unit.settled:
            return
        unit.spent.add(unit.tried)
        unit.wasted.add(unit.tried)
        if unit.below is not None:
            unit.below.close(running=running)
            _add(unit, unit.below.totals())
            for called in unit.below.tasks.values():
                unit.take_unpriced(called.unpriced)
        if unit.state == "running" and not running:
            unit.state = "incomplete"

    def totals(self) -> tuple[Figures, Figures, Figures]:
        """(spent, saved, wasted) over all tasks."""
        found = (Figures(), Figures(), Figures())
        for unit in self.tasks.values():
            for total, figures in zip(found, (unit.spent, unit.saved, unit.wasted), strict=True):
                total.add(figures)
        return found

    def _unit(self, task: str, item: int | None) -> Unit:
        unit = self.tasks.get(task)
        if unit is None:
            unit = self.tasks[task] = Unit(task)
        if item is None:
            return unit
        known = self._items.setdefault(task, {})
        if item not in known:
            known[item] = Unit(task, item)
            unit.items_begun += 1
        return known[item]

    def _taken(self, task: str) -> list[Unit]:
        """The items of a task that have not settled, which are then known no more."""
        return list(self._items.pop(task, {}).values())

    def _hand_on(self, item: Unit) -> None:
        if self._below and item.below is not None and item.item is not None:
            task = self.tasks[item.task]
            task.called = task.called or {}
            task.called[item.item] = item.below
        if self._on_item is not None:
            self._on_item(item)

    # -- one kind of frame each ------------------------------------------------------------------

    def _scheduled(self, unit: Unit, frame: Frame, _: str | None) -> None:
        unit.verb, unit.note = said(frame.get("verb")), said(frame.get("note"))

    def _invoked(self, unit: Unit, frame: Frame, _: str | None) -> None:
        unit.attempt_began = frame.timestamp
        unit.attempts = whole(frame.get("attempt")) or 1
        unit.note = unit.note or said(frame.get("note"))
        for begun in (unit, self.tasks[unit.task]):
            begun.started = begun.started if begun.started is not None else frame.timestamp
            begun.state = "running"

    def _started(self, unit: Unit, frame: Frame, _: str | None) -> None:
        unit.reason, unit.detail = said(frame.get("reason")), said(frame.get("detail"))
        unit.parts = tuple(map(str, list_of(frame.get("parts"))))
        unit.note = said(frame.get("note")) or unit.note
        if unit.started is None:  # engines that do not tell when work began
            unit.started = frame.timestamp

    def _retrying(self, unit: Unit, frame: Frame, _: str | None) -> None:
        took = None if unit.attempt_began is None else max(0, frame.timestamp - unit.attempt_began) // 10**6
        unit.tried.add(Figures(number(frame.get("cost_usd")), whole(frame.get("tokens")), took))
        unit.take_unpriced(frame.get("cost_unpriced"))
        unit.attempt_began = None
        unit.below = None  # the next attempt calls anew, and takes nothing from this one

    def _called(self, unit: Unit, frame: Frame, text: str | None) -> None:
        event = event_of(frame, text) if text is not None else None
        if event is not None:
            unit.below = unit.below or Units(outputs=self._outputs and self._below, below=self._below)
            unit.below.take(event, text if event.kind == CHILD else said(event.get(_OUTPUT)))

    def _item_ended(self, unit: Unit, frame: Frame, text: str | None) -> None:
        if unit.item is None:
            return
        unit.cached = isinstance(frame.get("matched"), str)
        self._settle(unit, frame, text, status_of(frame.get("status")))
        self._absorb(self.tasks[unit.task], unit)
        self._hand_on(unit)
        del self._items[unit.task][unit.item]

    def _ended(self, unit: Unit, frame: Frame, text: str | None) -> None:
        for item in self._taken(unit.task):
            item.state = "cancelled"  # the fan-out has ended without it
            item.spent.add(item.tried)
            item.wasted.add(item.tried)
            self._hand_on(item)
        unit.cached = frame.kind == "task_cache_hit"
        if not unit.cached:
            unit.note = said(frame.get("note")) or unit.note
        by = said(frame.get("blocked_by"))
        if by is not None:
            unit.detail = blocked_said(by, unit.note or "")
        self._settle(unit, frame, text, ENDS[frame.kind])

    def _absorb(self, task: Unit, item: Unit) -> None:
        """What an item tells of its task: counts, and figures until the task tells its own."""
        if item.settled:
            task.items += 1
            task.items_cached += item.cached
            task.items_failed += item.state == "failure"
            task.files_changed += item.files_changed
        _add(task, (item.spent, item.saved, item.wasted))
        task.take_unpriced(item.unpriced)

    def _settle(self, unit: Unit, frame: Frame, text: str | None, state: UnitState) -> None:
        outcome = shape_of(frame.get("outcome"))
        payload = inner(outcome, "payload")
        error = inner(payload, "error") or inner(payload, "recovered_from")
        unit.state = status_of(outcome.get("class"), state)
        unit.cause = said(outcome.get("cause"))
        unit.attempt_began = None
        unit.ended = frame.timestamp
        unit.duration_ms = whole(frame.get("duration_ms"))
        if unit.duration_ms is None and unit.items_begun and unit.started is not None:
            unit.duration_ms = max(0, frame.timestamp - unit.started) // 10**6  # a fan-out that was ended
        tried = whole(payload.get("attempts")) or whole(frame.get("attempts")) or unit.attempts
        began = unit.started is not None or frame.get("attempts") is not None  # else it may be told once more
        unit.attempts = 0 if unit.cached else tried if began else None
        unit.error_code, unit.error_message = said(error.get("code")), said(error.get("message"))
        unit.take_unpriced(frame.get("cost_unpriced"))
        unit.model = said(frame.get("model"))
        for name in ("def_hash", "input_hash", "definition_parts", "input_parts", "not_resumable"):
            setattr(unit, name, said(frame.get(name)))
        unit.files_changed += names_of(frame.get("files_changed"))
        unit.output = text if self._outputs else None
        _count(unit, frame)
        unit.below = unit.below if self._below else None


def _count(unit: Unit, frame: Frame) -> None:
    """The figures of a unit that has settled: each once, whichever of its frames tell them."""
    if unit.cached:
        saved = Figures.of(frame, "saved_usd", "saved_tokens", "saved_ms")
        unit.saved = saved if saved != Figures() else unit.saved
        return
    of_items = unit.spent
    unit.spent = Figures(number(frame.get("cost_usd")), whole(frame.get("tokens")), unit.duration_ms)
    good = unit.state == "success" and unit.cause != "recovered"
    if unit.items:
        cut_off = Figures() if good else unit.spent.without(of_items)
        unit.wasted.add(Figures(cut_off.usd, cut_off.tokens))
    elif unit.below is not None:
        unit.below.close(running=False)
        _, saved, wasted = unit.below.totals()
        _add(unit, (Figures(), saved, wasted))  # what it settled below is kept: a resume takes it from there
        unit.wasted.add(unit.tried)
    else:
        unit.wasted = unit.tried if good else unit.spent.copy()


def _add(unit: Unit, figures: tuple[Figures, Figures, Figures]) -> None:
    """Adds what was spent, saved and wasted."""
    spent, saved, wasted = figures
    unit.spent.add(spent)
    unit.saved.add(saved)
    unit.wasted.add(wasted)


_HANDLERS = {
    "task_scheduled": Units._scheduled,
    "verb_invoked": Units._invoked,
    "task_started": Units._started,
    "task_retrying": Units._retrying,
    CHILD: Units._called,
    "nb_item_completed": Units._item_ended,
    **dict.fromkeys(ENDS, Units._ended),
}


def status_of(value: Any, otherwise: UnitState = "failure") -> UnitState:
    found: dict[Any, UnitState] = {state: state for state in ENDS.values()}
    return found.get(value, otherwise) if isinstance(value, str) else otherwise
