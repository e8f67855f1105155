"""What became of one task or one item, and what it cost."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from nika_nb.catalog.prices import unknown
from nika_nb.trace.fields import said
from nika_nb.trace.figures import Figures

if TYPE_CHECKING:
    from nika_nb.trace.units import Units

UnitState = Literal[
    "pending", "running", "success", "failure", "skipped", "cancelled", "paused", "incomplete"
]

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


def status_of(value: Any, otherwise: UnitState = "failure") -> UnitState:
    found: dict[Any, UnitState] = {state: state for state in ENDS.values()}
    return found.get(value, otherwise) if isinstance(value, str) else otherwise
