"""What one task, or one item of it, did so far: attempts, decisions, costs, on their way to its frames."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from nika_nb.catalog.prices import unknown
from nika_nb.engine.contract import Lifted, Permit, Usage
from nika_nb.engine.memory import Carried, Hit, Miss
from nika_nb.engine.outcome import TaskError
from nika_nb.engine.seen import MOST, Mark


class Work:
    """Collects what happens while a unit runs; read once when it settles.

    started: unix ns of the first dispatch, None while nothing was dispatched. miss: why it had to run.
    failed: the error that is left to recover from. keys: what an item is recognised by. files: what it was
    about to read. stood: it had worked in an earlier run, and what became of it stands.
    """

    def __init__(self) -> None:
        self.started: int | None = None
        self.ended: int | None = None
        self.attempts = 0
        self.usages: list[Usage] = []
        self.warnings: list[str] = []
        self.permits: dict[Permit, None] = {}
        self.lifts: dict[Lifted, None] = {}
        self.attached: list[tuple[str, dict[str, Any]]] = []
        self.child: str | None = None
        self.stood = False
        self.miss = Miss("first-run")
        self.failed: TaskError | None = None
        self.keys: dict[str, str] = {}
        self.files: dict[str, Mark] = {}

    @classmethod
    def of(cls, earlier: Hit | Carried) -> Work:
        """Of a task that ran before and does not run again: its times, which others may have observed."""
        work = cls()
        work.started, work.ended = earlier.started, earlier.ended
        work.stood = isinstance(earlier, Hit) or earlier.ended is not None
        return work

    def restore(self, carried: Carried) -> None:
        """It failed before a pause: only its recovery is due."""
        self.failed, self.attempts = carried.outcome.error, carried.outcome.attempts
        self.started, self.ended = carried.started, carried.ended
        self.permits |= dict.fromkeys(carried.permits)

    def end(self, now: int) -> None:
        """The unit has come to its end, at this moment unless it did so before."""
        if self.ended is None:
            self.ended = now

    @property
    def begun(self) -> bool:
        """Whether the verb was set to work, however far it came: then there is something to clean up."""
        return self.attempts > 0

    def permit(self, decision: Permit) -> None:
        self.permits.setdefault(decision)

    def attach(self, kind: str, fields: dict[str, Any]) -> None:
        self.attached.append((kind, fields))

    def see(self, name: str, mark: Mark) -> None:
        if len(self.files) < MOST or name in self.files:
            self.files[name] = mark

    def spend(self, usage: Usage) -> None:
        self.usages.append(usage)

    def absorb(self, other: Work) -> None:
        """Take over what an item of this task did."""
        self.permits |= other.permits
        self.lifts |= other.lifts
        self.stood = self.stood or other.stood
        self.attempts = max(self.attempts, other.attempts)
        for name, mark in other.files.items():
            self.see(name, mark)
        self.usages += other.usages
        self.warnings += [w for w in other.warnings if w not in self.warnings]
        if other.started is not None and (self.started is None or other.started < self.started):
            self.started = other.started

    def times(self) -> dict[str, Any]:
        """The fields from which a resume gives back when the task ran: unix ns."""
        return {"started_ns": self.started, "ended_ns": self.ended}

    def figures(self) -> dict[str, Any]:
        """The fields of a terminal frame: tokens, cost_usd, cost_unpriced, model, warning, child."""
        return usage_fields(self.usages) | {"warning": "; ".join(self.warnings) or None, "child": self.child}


def usage_fields(usages: Iterable[Usage]) -> dict[str, Any]:
    """tokens and cost summed; None where nothing was counted."""
    used = list(usages)
    if not used:
        return {}
    counted = [usage.tokens for usage in used if usage.tokens is not None]
    priced = [usage.cost_usd for usage in used if usage.cost_usd is not None]
    unpriced = [usage.unpriced for usage in used if usage.unpriced]
    return {
        "tokens": sum(counted) if counted else None,
        "cost_usd": round(sum(priced), 10) if priced else None,
        "cost_unpriced": next(filter(unknown, unpriced), unpriced[0] if unpriced else None),
        "model": next((usage.model for usage in used if usage.model), None),
    }
