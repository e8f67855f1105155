"""A journal's frames, in order → what became of every task and every item, and what it cost. Streaming."""

from __future__ import annotations

from collections.abc import Callable

from nika_nb.engine.outcome import blocked_said
from nika_nb.trace.child import CHILD, event_of
from nika_nb.trace.fields import inner, list_of, names_of, number, said, shape_of, whole
from nika_nb.trace.figures import Figures
from nika_nb.trace.frame import Frame
from nika_nb.trace.trace import prompts_of
from nika_nb.trace.unit import ENDS, Unit, UnitState, status_of

_OUTPUT = "output"  # an event of a called workflow has it whole: only its caller's frames are paged


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
