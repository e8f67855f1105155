"""A `for_each`: every item a unit of its own, as wide as allowed, each journaled as it settles."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from nika_nb.engine.attempts import error_of
from nika_nb.engine.contract import CallOff, Prompt, StaysOpen
from nika_nb.engine.identify import try_identity
from nika_nb.engine.keeping import hashes
from nika_nb.engine.memory import Hit, Miss
from nika_nb.engine.outcome import Outcome, TaskError
from nika_nb.engine.recovery import MOVED, has_to_stand
from nika_nb.engine.unit import UnitRunner
from nika_nb.engine.waits import Crew
from nika_nb.engine.work import Work
from nika_nb.errors import Fault
from nika_nb.plan.identity import Identity
from nika_nb.plan.plan import TaskPlan
from nika_nb.values import type_name

_SHOWN_ERRORS = 100


@dataclass
class Items:
    """What became of the items of one fan-out; None where an item did not settle.

    cut: the run crossed its cap before all of them were started. stopped: one failed, and with it
    the whole fan-out. open: one waits for an answer, or for what is behind one. begun, call_offs: of
    those that do, see `StaysOpen`.
    """

    outcomes: list[Outcome | None]
    bindings: list[dict[str, Any]]
    prompts: list[Prompt] = field(default_factory=list)
    cut: bool = False
    stopped: bool = False
    open: bool = False
    begun: bool = False
    call_offs: list[CallOff] = field(default_factory=list)

    def leave_open(self, waits: StaysOpen) -> None:
        self.prompts += waits.prompts
        self.open = True
        self.begun = self.begun or waits.begun
        self.call_offs += [waits.call_off] if waits.call_off else []


class FanOut:
    """Runs the items of one task."""

    def __init__(
        self, units: UnitRunner, planned: TaskPlan, live: list[Any], marked: list[Any], work: Work
    ) -> None:
        self._units = units
        self._planned = planned
        self._live = live
        self._marked = marked
        self._work = work
        self._found = Items([None] * len(live), [{} for _ in live])
        self._hits: dict[int, Hit | None] = {}  # of the items that the memory was asked for
        self._moved = False  # one of them had recovered, and would to something else today

    async def run(self, width: int) -> Items:
        """All items, at most `width` at once. A failed item stops the rest under `fail_fast`."""
        for_each = self._planned.task.for_each
        assert for_each is not None
        width = max(1, min(width, for_each.max_parallel or width, len(self._live)))
        waiting = iter(range(len(self._live)))
        workers = [asyncio.ensure_future(self._worker(waiting)) for _ in range(width)]
        crew = self._units.waits.crew(workers)
        try:
            await self._watch(workers, crew)
        finally:
            for worker in workers:
                worker.cancel()
            try:
                await asyncio.gather(*workers, return_exceptions=True)
            finally:
                crew.disband()
        return self._found

    async def recall(self, output: Any) -> list[dict[str, Any]]:
        """The items of a fan-out that is recalled whole: journaled again one by one, so that the next
        edit still finds each of them. Returns their bindings; raises Fault where one does not extract.

        An item without a record of its own was skipped, or comes from an engine that keeps none.
        """
        values = output if isinstance(output, list) and len(output) == len(self._live) else []
        for index, value in enumerate(values):
            await asyncio.sleep(0)
            identity = self._identity(index)
            hit = await self._hit(index, identity)
            if hit is not None:
                outcome, self._found.bindings[index] = await self._units.recalled(self._planned, hit)
                self._units.settler.item(self._planned.task.id, index, outcome, Work(), identity, hit)
            elif value is not None:
                self._found.bindings[index] = await self._units.bind(self._planned, value)
        return self._found.bindings

    async def standing(self, found: Hit | Miss) -> Hit | Miss:
        """The record of the whole, where each of its items that recovered would to the same today.

        Raises StaysOpen.
        """
        if isinstance(found, Miss) or not has_to_stand(self._planned, found):
            return found
        known = False  # some engines keep no items
        for index in range(len(self._live)):
            await asyncio.sleep(0)
            hit = await self._hit(index, self._identity(index))
            known = known or bool(hit and hit.error)
        return found if known and not self._moved else MOVED

    async def _hit(self, index: int, identity: Identity | Fault) -> Hit | None:
        """The record of an item, if it has one that stands; asked for once. Raises StaysOpen."""
        if index not in self._hits:
            hit = self._units.recall_item(identity, index)
            local = {"item": self._live[index], "index": index}
            found = hit and await self._units.standing(self._planned, hit, local)
            self._moved = self._moved or isinstance(found, Miss)
            self._hits[index] = found if isinstance(found, Hit) else None
        return self._hits[index]

    def _identity(self, index: int) -> Identity | Fault:
        marked = {"item": self._marked[index], "index": index}
        return try_identity(self._units.identifier.item, self._planned, marked)

    async def _watch(self, workers: Sequence[asyncio.Future[None]], crew: Crew) -> None:
        """Until every worker is done, or one item failed and the rest must not go on."""
        pending = set(workers)
        while pending and not self._found.stopped:
            done, pending = await asyncio.wait(pending, return_when=asyncio.FIRST_COMPLETED)
            for worker in done:
                worker.result()
            if pending and not self._found.stopped:
                crew.ended(done)

    async def _worker(self, waiting: Iterator[int]) -> None:
        for index in waiting:
            await asyncio.sleep(0)  # a stop is heard, however many items are done in no time
            if self._found.stopped or self._found.cut:
                return
            await self._item(index)

    async def _item(self, index: int) -> None:
        work = Work()
        local = {"item": self._live[index], "index": index}
        identity = self._identity(index)
        work.keys = hashes(identity)
        try:
            hit = await self._hit(index, identity)
            work.stood = hit is not None
            outcome, bindings = await self._settled(work, local, index, identity, hit)
        except StaysOpen as waits:
            self._found.leave_open(waits)
            return
        finally:
            self._work.absorb(work)  # also of an item that was cut off: what it cost, that it had begun
        if outcome.status == "cancelled":
            self._found.cut = True
            return
        self._found.outcomes[index] = outcome
        self._found.bindings[index] = bindings
        self._units.settler.item(self._planned.task.id, index, outcome, work, identity, hit)
        if outcome.status == "failure" and self._fails_fast:
            self._found.stopped = True

    async def _settled(
        self, work: Work, local: dict[str, Any], index: int, identity: Identity | Fault, hit: Hit | None
    ) -> tuple[Outcome, dict[str, Any]]:
        if hit is None:
            carried = self._units.carried_item(identity, index)
            if carried is not None and not carried.open:
                return carried.outcome, {}
            if carried is not None:
                work.restore(carried)
            return await self._units.live(self._planned, work, local, index)
        try:
            return await self._units.recalled(self._planned, hit)
        except Fault as fault:
            error = error_of(fault, self._planned.task.id, 1)
            return Outcome("failure", "verb_error", error=error), {}

    @property
    def _fails_fast(self) -> bool:
        for_each = self._planned.task.for_each
        return for_each is None or for_each.fail_fast is not False


def fold(planned: TaskPlan, items: Items) -> tuple[Outcome, dict[str, Any]]:
    """The outcome of the whole fan-out, and its bindings as arrays aligned with the items."""
    failures = [
        (index, outcome.error)
        for index, outcome in enumerate(items.outcomes)
        if outcome is not None and outcome.status == "failure" and outcome.error is not None
    ]
    if failures:
        return _failure(planned, items, failures), {}
    if items.cut:
        return Outcome("cancelled", "budget"), {}
    values = [o.value if o is not None and o.status == "success" else None for o in items.outcomes]
    bindings = aligned(planned, items.bindings)
    recovered = next((o.error for o in items.outcomes if o and o.cause == "recovered"), None)
    cause = "recovered" if recovered else "normal"
    attempts = max((o.attempts for o in items.outcomes if o is not None), default=1)
    return Outcome("success", cause, values, recovered, attempts), bindings


def aligned(planned: TaskPlan, bindings: list[dict[str, Any]]) -> dict[str, Any]:
    """Every named binding as the array of its items' values."""
    return {name: [found.get(name) for found in bindings] for name in planned.task.extract}


def _failure(planned: TaskPlan, items: Items, failures: list[tuple[int, TaskError]]) -> Outcome:
    index, first = failures[0]
    total = len(items.outcomes)
    details = {
        "failed": len(failures),
        "items": [
            {"item": at, "code": error.code, "message": error.message}
            for at, error in failures[:_SHOWN_ERRORS]
        ],
    }
    message = f"{len(failures)} of {total} items failed; item {index}: {first.message}"
    error = TaskError(
        first.code, first.category, message, first.transient, details, planned.task.id, first.attempt
    )
    cause = next(o.cause for o in items.outcomes if o is not None and o.error is first)
    return Outcome("failure", cause, error=error, attempts=first.attempt)


def not_a_list(planned: TaskPlan, value: Any) -> Fault:
    return Fault(
        "NIKA-VAR-006",
        f"`for_each.items` of `{planned.task.id}` is {type_name(value)}, and only an array can be iterated",
        span=planned.task.for_each.items.span if planned.task.for_each else None,
    )
