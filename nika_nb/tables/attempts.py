"""The frames of one trace → a row per attempt: of a task, or of an item of its fan-out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from nika_nb.tables.columns import ATTEMPTS
from nika_nb.trace.fields import inner, number, said, shape_of, whole
from nika_nb.trace.figures import Figures
from nika_nb.trace.frame import Frame
from nika_nb.trace.trace import prompts_of
from nika_nb.trace.unit import ENDS


@dataclass(slots=True)
class _Attempt:
    number: int
    started: int | None = None
    ended: int | None = None
    state: str = "running"
    paid: Figures = field(default_factory=Figures)
    error_code: str | None = None
    delay: int | None = None


def attempt_rows(frames: Iterable[Frame], running: bool) -> Iterator[tuple[Any, ...]]:
    """In the order of tasks, items and attempts."""
    fold = _Fold()
    for frame in frames:
        fold.take(frame)
    return fold.rows(running)


class _Fold:
    def __init__(self) -> None:
        self._tasks: dict[str, dict[int | None, list[_Attempt]]] = {}
        self._asked: set[tuple[str, int | None]] = set()

    def take(self, frame: Frame) -> None:
        task, item = frame.get("task"), whole(frame.get("item"))
        if frame.kind == "workflow_paused":
            self._asked = {(prompt.task, prompt.item) for prompt in prompts_of(frame)}
        if not isinstance(task, str):
            return
        self._tasks.setdefault(task, {})
        if frame.kind == "verb_invoked":
            self._begin(task, item, frame)
        elif frame.kind == "task_retrying":
            self._failed(task, item, frame)
        elif frame.kind in ENDS or frame.kind == "nb_item_completed":
            self._settled(task, item, frame)

    def _begin(self, task: str, item: int | None, frame: Frame) -> None:
        known = self._tasks[task].setdefault(item, [])
        known.append(_Attempt(whole(frame.get("attempt")) or len(known) + 1, frame.timestamp))

    def _failed(self, task: str, item: int | None, frame: Frame) -> None:
        attempt = self._open(task, item) or self._refused(task, item)
        attempt.state, attempt.ended = "failure", frame.timestamp
        attempt.error_code, attempt.delay = said(frame.get("code")), whole(frame.get("delay_ms"))
        attempt.paid = Figures(number(frame.get("cost_usd")), whole(frame.get("tokens")))

    def _settled(self, task: str, item: int | None, frame: Frame) -> None:
        recalled = frame.kind == "task_cache_hit" or frame.get("matched") is not None
        fan_out = item is None and any(index is not None for index in self._tasks[task])
        if recalled or fan_out:
            return self._cut_off(task, frame) if fan_out else None
        outcome = shape_of(frame.get("outcome"))
        payload = inner(outcome, "payload")
        error = inner(payload, "error") or inner(payload, "recovered_from")
        attempt = self._open(task, item)
        if attempt is None and error and (whole(frame.get("attempts")) or 0) > self._count(task, item):
            attempt = self._refused(task, item)
        if attempt is not None:
            attempt.ended, attempt.error_code = frame.timestamp, said(error.get("code"))
            attempt.state = _state(outcome, bool(error))
            attempt.paid = self._rest(task, item, frame)
        return None

    def _cut_off(self, task: str, frame: Frame) -> None:
        """A fan-out has ended without some of its items."""
        for attempts in self._tasks[task].values():
            if attempts[-1].ended is None:
                attempts[-1].state, attempts[-1].ended = "cancelled", frame.timestamp

    def _open(self, task: str, item: int | None) -> _Attempt | None:
        known = self._tasks[task].get(item)
        return known[-1] if known and known[-1].ended is None else None

    def _refused(self, task: str, item: int | None) -> _Attempt:
        """An attempt that ended before it could begin."""
        known = self._tasks[task].setdefault(item, [])
        known.append(_Attempt(len(known) + 1))
        return known[-1]

    def _count(self, task: str, item: int | None) -> int:
        return len(self._tasks[task].get(item, ()))

    def _rest(self, task: str, item: int | None, frame: Frame) -> Figures:
        """What is left for the last attempt of all that its unit paid."""
        paid = Figures(number(frame.get("cost_usd")), whole(frame.get("tokens")))
        for earlier in self._tasks[task][item][:-1]:
            paid = paid.without(earlier.paid)
        return paid

    def rows(self, running: bool) -> Iterator[tuple[Any, ...]]:
        for task, units in self._tasks.items():
            for item in sorted(units, key=lambda index: -1 if index is None else index):
                for attempt in units[item]:
                    if attempt.ended is None and not running:
                        attempt.state = "paused" if (task, item) in self._asked else "incomplete"
                    yield _row(task, item, attempt)


def _state(outcome: dict[str, Any], failed: bool) -> str:
    """Of the attempt, not of its task: one that was recovered from has failed."""
    if outcome.get("class") == "cancelled":
        return "cancelled"
    return "failure" if failed else "success"


def _row(task: str, item: int | None, attempt: _Attempt) -> tuple[Any, ...]:
    known = attempt.started is not None and attempt.ended is not None
    took = (attempt.ended or 0) - (attempt.started or 0)
    values = {
        "task": task,
        "item": item,
        "attempt": attempt.number,
        "state": attempt.state,
        "started": attempt.started,
        "ended": attempt.ended,
        "duration": max(0, took) // 10**6 if known else None,
        "tokens": attempt.paid.tokens,
        "cost_usd": attempt.paid.usd,
        "error_code": attempt.error_code,
        "delay": attempt.delay,
    }
    return tuple(values[column.name] for column in ATTEMPTS)
