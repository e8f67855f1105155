"""What a task has cost and saved by now, also while it is at work: each sum once, whoever tells it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from nika_nb.board.fields import Fields, json_of
from nika_nb.catalog.frames import TASK_ENDS
from nika_nb.catalog.prices import unknown
from nika_nb.trace.child import CHILD, DEEPEST
from nika_nb.trace.fields import number, whole
from nika_nb.trace.figures import Figures

RETRIES, ITEM = "task_retrying", "nb_item_completed"


@dataclass(slots=True)
class Paid:
    """US dollars and tokens as far as they are known. unpriced: of some of it nobody knows the price.

    saved: what records stood in for.
    """

    sums: Figures = field(default_factory=Figures)
    unpriced: bool = False
    saved: Figures = field(default_factory=Figures)

    @classmethod
    def of(cls, fields: Fields) -> Paid:
        sums = Figures(number(fields.get("cost_usd")), whole(fields.get("tokens")))
        saved = Figures.of(fields, "saved_usd", "saved_tokens", "saved_ms")
        return cls(sums, unknown(fields.get("cost_unpriced")), saved)

    @property
    def known(self) -> bool:
        """Whether anything is told of what was paid."""
        return self.unpriced or self.sums != Figures()

    def add(self, other: Paid) -> None:
        self.sums.add(other.sums)
        self.saved.add(other.saved)
        self.unpriced = self.unpriced or other.unpriced


@dataclass(slots=True)
class _Working:
    """A task or an item that has not settled: its attempts that are over, and whom the last one called."""

    tried: Paid = field(default_factory=Paid)
    below: dict[str, Spending] = field(default_factory=dict)

    @property
    def total(self) -> Paid:
        return _sum([self.tried, *(called.total for called in self.below.values())])


@dataclass(slots=True)
class Spending:
    """What one task has cost. settled: by itself or its items; working: of what goes on, by item."""

    settled: Paid = field(default_factory=Paid)
    working: dict[Any, _Working] = field(default_factory=dict)

    @property
    def total(self) -> Paid:
        """Of what is settled, where nothing goes on: that itself, to be read and not to be changed."""
        if not self.working:
            return self.settled
        return _sum([self.settled, *(one.total for one in self.working.values())])

    def take(self, kind: str, fields: Fields) -> None:
        """Takes in a frame of the task: an end of it tells all that it cost, if it tells anything."""
        item = fields.get("item")
        if kind in TASK_ENDS:
            self._end(Paid.of(fields))
        elif kind == ITEM:
            ended = self.working.pop(item, None)
            self.settled.add(Paid.of(fields))
            if ended is not None:
                self.settled.saved.add(ended.total.saved)
        elif kind == RETRIES:
            tried = self._at(item).tried
            tried.add(Paid.of(fields))
            self.working[item] = _Working(tried)  # the next attempt calls anew
        elif kind == CHILD:
            self._called(self._at(item), fields)

    def _end(self, own: Paid) -> None:
        """What was recalled below stays saved, whatever became of the task that called it."""
        saved = own.saved
        if saved == Figures():
            saved = self.settled.saved.copy()
            saved.add(self.working.get(None, _Working()).total.saved)
        paid = own if own.known else self.total
        self.settled, self.working = Paid(paid.sums, paid.unpriced, saved), {}

    def _at(self, item: Any) -> _Working:
        return self.working.setdefault(item, _Working())

    def _called(self, working: _Working, fields: Fields) -> None:
        """What the called workflow tells of one of its tasks, or of one that this calls in turn."""
        kind, told = CHILD, dict(fields)
        within = json_of(fields.get("within"), [])
        if len(within) > DEEPEST:
            return
        if within:
            (told["task"], told["item"], told["attempt"]), *told["within"] = within
        else:
            event = json_of(fields.get("event"), {})
            kind, told = event.get("kind", ""), event.get("fields", {})
        if kind in _TELLING and isinstance(told.get("task"), str):
            working.below.setdefault(told["task"], Spending()).take(kind, told)


_TELLING = TASK_ENDS | {RETRIES, ITEM, CHILD}


def _sum(parts: list[Paid]) -> Paid:
    total = Paid()
    for part in parts:
        total.add(part)
    return total
