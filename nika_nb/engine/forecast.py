"""What a run would do with each task, told from what is known already: the pipeline without its verbs.

Values come from the memory alone. Behind a task that would run they are not known, and what hangs on
them is said to depend on it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from nika_nb.engine.attempts import error_of, named
from nika_nb.engine.contract import Extractor
from nika_nb.engine.fanout import aligned, not_a_list
from nika_nb.engine.identify import Identifier, recall, try_identity
from nika_nb.engine.known import Known
from nika_nb.engine.memory import Hit, Memory, Miss
from nika_nb.engine.outcome import Outcome, TaskError, null_said
from nika_nb.engine.recovery import MOVED, has_to_stand, sources, standing
from nika_nb.engine.scope import Scopes
from nika_nb.engine.unit import decide, when_reads_item
from nika_nb.errors import Fault
from nika_nb.language.model import Task
from nika_nb.language.template import render
from nika_nb.plan.gates import Status
from nika_nb.plan.graph import cycle, topological
from nika_nb.plan.plan import Plan, TaskPlan

Fate = Literal["skip", "run", "depends", "idle"]


@dataclass(frozen=True, slots=True)
class Expected:
    """What would become of one task.

    fate: `skip` where a record stands for it, `run`, `depends` where it is skipped if its producers give
    what they gave before and runs otherwise, `idle` where it does no work at all. miss: why it runs.
    why: what else is to say, in a few words. upstream: the tasks that have to run before more is known.
    recorded, items: how many of a fan-out's items have a record, of how many; None where that is not
    known. One that changed runs also where all of them have: none of its items does then.
    hits: the records that stand for it, one per item of a fan-out. bindings: its `with:` as far as it is
    known.
    """

    task: str
    fate: Fate
    miss: Miss | None = None
    why: str = ""
    upstream: tuple[str, ...] = ()
    recorded: int | None = None
    items: int | None = None
    hits: tuple[Hit, ...] = ()
    bindings: Mapping[str, Any] = field(default_factory=dict)


class Forecaster:
    """Goes through a plan in the order in which its tasks could run. One use each: a memory is consumed.

    extractor: names the parts of recorded outputs, as the run would.
    """

    def __init__(
        self, plan: Plan, scopes: Scopes, identifier: Identifier, memory: Memory, extractor: Extractor
    ) -> None:
        self._plan = plan
        self._scopes = scopes
        self._known = Known(plan, scopes)
        self._identifier = identifier
        self._memory = memory
        self._extractor = extractor
        self._found: dict[str, Expected] = {}

    async def run(self) -> list[Expected]:
        """Every task in document order, cleanups included."""
        names = [planned.task.id for planned in self._plan.scheduled]
        known = set(names)
        edges = [edge for edge in self._plan.edges if {edge.producer, edge.consumer} <= known]
        for name in topological(names, edges, recoveries=not cycle(names, edges)):
            self._found[name] = await self._expected(self._plan.tasks[name])
        for planned in self._plan.tasks.values():
            if planned.task.is_cleanup and planned.task.id not in self._found:
                self._found[planned.task.id] = self._cleanup(planned)
        return [self._found[name] for name in self._plan.tasks]

    async def _expected(self, planned: TaskPlan) -> Expected:
        blocked = self._blocked(planned)
        if blocked is not None:
            return blocked
        only = _only_unless(planned, self._known.settled)
        if only:
            word = " and ".join(f"`{name}` {state}" for name, state in only)
            return Expected(planned.task.id, "depends", why=f"only if {word}", upstream=tuple(dict(only)))
        try:
            found = await self._at_the_boundary(planned)
        except Fault as fault:
            error = error_of(fault, planned.task.id, 1)
            self._known.settle(planned, Outcome("failure", "verb_error", error=error), {})
            return Expected(planned.task.id, "idle", why=f"fails before it starts: {fault}")
        why = ", ".join(filter(None, (found.why, *self._nulls(planned, found))))
        upstream = tuple(dict.fromkeys((*found.upstream, *self._known.unknown(planned))))
        return replace(found, why=why, upstream=upstream)

    def _blocked(self, planned: TaskPlan) -> Expected | None:
        for edge in planned.incoming:
            status = self._known.settled.get(edge.producer)
            if status is not None and status not in edge.admits:
                self._known.settle(planned, Outcome("cancelled", "upstream"), {})
                return Expected(planned.task.id, "idle", why=f"`{edge.producer}` ends as {status}")
        return None

    def _nulls(self, planned: TaskPlan, found: Expected) -> Iterator[str]:
        """What a task that runs reads of those that are skipped."""
        for edge in planned.incoming if found.fate == "run" else ():
            if edge.kind == "value" and self._known.settled.get(edge.producer) == "skipped":
                yield null_said(edge.binding or "", edge.producer, "is skipped")

    async def _at_the_boundary(self, planned: TaskPlan) -> Expected:
        task = planned.task
        bindings = self._known.bindings(task, self._scopes.live)
        scope = self._scopes.live | {"with": bindings}
        open_, why = self._gate(task, scope)
        if not open_:
            self._known.settle(planned, Outcome("skipped", "gate"), {})
            return Expected(task.id, "idle", why="when: gate closed")
        if task.for_each is None:
            found = await self._single(planned)
        else:
            found = await self._fan_out(planned, scope)
        return replace(found, bindings=bindings, why=found.why or why)

    def _gate(self, task: Task, scope: Mapping[str, Any]) -> tuple[bool, str]:
        """Whether `when:` may be open, and what is to say about it."""
        if task.for_each is not None and when_reads_item(task):
            return True, ""
        if not self._known.holds(task, task.condition):
            return True, "if its `when:` says so"
        return decide(task, dict(scope)), ""

    # -- what the memory says ----------------------------------------------------------------------

    async def _single(self, planned: TaskPlan) -> Expected:
        waits = self._known.waits(planned.task)
        if waits:
            return self._in_part(planned, waits)
        identity = try_identity(self._identifier.task, planned)
        found = recall(self._memory, identity)
        if isinstance(found, Hit):
            unsettled = self._recovers_from(planned, found)
            if unsettled:
                return Expected(planned.task.id, "depends", upstream=unsettled)
            found = self._standing(planned, found, {})
        if isinstance(found, Hit):
            return await self._hit(planned, found)
        return Expected(planned.task.id, "run", found)

    def _recovers_from(self, planned: TaskPlan, hit: Hit) -> tuple[str, ...]:
        """The tasks that have to run before it is known whether a recovery comes to the same."""
        read = dict(sources(planned.task)) if has_to_stand(planned, hit) else ()
        return tuple(name for name in read if name not in self._known.settled)

    def _standing(self, planned: TaskPlan, found: Hit | Miss, local: dict[str, Any]) -> Hit | Miss:
        if isinstance(found, Miss) or not has_to_stand(planned, found):
            return found
        return standing(planned.task, found, self._scopes, local)

    async def _hit(self, planned: TaskPlan, hit: Hit) -> Expected:
        error = TaskError(**hit.error) if hit.error else None
        outcome = Outcome("success", "recovered" if error else "normal", hit.output, error, hit.attempts)
        self._known.settle(planned, outcome, await named(self._extractor, planned.task, hit.output), hit)
        return Expected(planned.task.id, "skip", hits=(hit,))

    def _in_part(self, planned: TaskPlan, waits: tuple[str, ...], items: list[Any] | None = None) -> Expected:
        """A task whose inputs are not all known: what differs already, else it depends."""
        bindings = self._known.bindings(planned.task, self._scopes.marked)
        identity = try_identity(self._identifier.in_part, planned, bindings, items)
        found = recall(self._memory, identity)
        assert isinstance(found, Miss)
        task = planned.task.id
        if isinstance(identity, Fault) or found.reason != "input":
            return Expected(task, "run", found, upstream=waits)
        parts = tuple(name for name in found.parts if name in identity.input_parts)
        if parts:
            return Expected(task, "run", replace(found, parts=parts), upstream=waits)
        return Expected(task, "depends", upstream=waits)

    async def _fan_out(self, planned: TaskPlan, scope: dict[str, Any]) -> Expected:
        task, for_each = planned.task, planned.task.for_each
        assert for_each is not None
        if not self._known.holds(task, for_each.items):
            return self._in_part(planned, self._known.waits(task))
        live = render(for_each.items, scope)
        if not isinstance(live, list):
            raise not_a_list(planned, live)
        if not live:
            self._known.settle(planned, Outcome("skipped", "gate"), {})
            return Expected(task.id, "idle", why="for_each · empty collection", items=0)
        marked = self._scopes.marked | {"with": self._known.bindings(task, self._scopes.marked)}
        items: list[Any] = render(for_each.items, marked)
        waits = self._known.waits(task)
        found = self._in_part(planned, waits, items) if waits else await self._collected(planned, items, live)
        return replace(found, items=len(items))

    async def _collected(self, planned: TaskPlan, items: list[Any], live: list[Any]) -> Expected:
        task = planned.task.id
        found = recall(self._memory, try_identity(self._identifier.fan_out, planned, items))
        unsettled = self._recovers_from(planned, found) if isinstance(found, Hit) else ()
        if unsettled:
            return Expected(task, "depends", upstream=unsettled)
        if isinstance(found, Miss) or has_to_stand(planned, found):
            each = list(self._item_records(planned, items, live))
            hits = tuple(one for one in each if isinstance(one, Hit))
            if isinstance(found, Miss) or MOVED in each or not any(hit.error for hit in hits):
                miss = found if isinstance(found, Miss) else MOVED
                return Expected(task, "run", miss, recorded=len(hits), hits=hits)
        await self._settle_items(planned, found)
        return Expected(task, "skip", recorded=len(items), hits=(found,))

    async def _settle_items(self, planned: TaskPlan, hit: Hit) -> None:
        """A fan-out that is recalled whole; an item without a value was skipped."""
        values = hit.output if isinstance(hit.output, list) else []
        each = [
            {} if value is None else await named(self._extractor, planned.task, value) for value in values
        ]
        self._known.settle(planned, Outcome("success", "normal", values), aligned(planned, each), hit)

    def _item_records(self, planned: TaskPlan, items: list[Any], live: list[Any]) -> Iterator[Hit | Miss]:
        for index, item in enumerate(items):
            identity = try_identity(self._identifier.item, planned, {"item": item, "index": index})
            if isinstance(identity, Fault):
                continue
            local = {"item": live[index], "index": index}
            yield self._standing(planned, self._memory.recall_item(identity, index), local)

    # -- what follows ------------------------------------------------------------------------------

    def _cleanup(self, planned: TaskPlan) -> Expected:
        """It runs behind the producers that start, or had when the last run stopped; else it stands."""
        task = planned.task.id
        finally_ = (edge for edge in self._plan.edges if edge.consumer == task and edge.kind == "finally")
        fates = {edge.producer: self._fate(edge.producer) for edge in finally_}
        owed = [name for name in fates if self._memory.owes(task, name)]
        starts = [name for name, fate in fates.items() if fate in ("run", "depends") or name in owed]
        if not starts and "skip" not in fates.values():
            return Expected(task, "idle", why="unwind · nothing started")
        blocked = self._blocked(planned)
        if blocked is not None:
            return blocked
        if not starts:
            return self._cleaned(planned)
        waits = tuple(self._known.unknown(planned))
        certain = not waits and (owed or "run" in fates.values())
        who = " or ".join(f"`{name}`" for name in starts)
        upstream = tuple(dict.fromkeys((*starts, *waits)))
        return Expected(
            task, "run" if certain else "depends", why=f"cleans up behind {who}", upstream=upstream
        )

    def _cleaned(self, planned: TaskPlan) -> Expected:
        found = self._memory.cleaned(planned.task.id, planned.def_hash)
        if isinstance(found, Hit):
            return Expected(planned.task.id, "skip", hits=(found,))
        why = "unwind · nothing started" if found is None else f"{found.outcome.sentence} earlier"
        return Expected(planned.task.id, "idle", why=why)

    def _fate(self, name: str) -> Fate:
        """Of a task that a cleanup follows, which may be a cleanup that stands further down."""
        if name not in self._found:
            self._found[name] = self._cleanup(self._plan.tasks[name])
        return self._found[name].fate


_UNLESS = {"failure": "fails", "skipped": "is skipped"}


def _only_unless(planned: TaskPlan, settled: Mapping[str, Status]) -> list[tuple[str, str]]:
    """The producers that will run, and whose success does not admit this task: (task, what would)."""
    return [
        (edge.producer, next((word for state, word in _UNLESS.items() if state in edge.admits), "fails"))
        for edge in planned.incoming
        if edge.producer not in settled and "success" not in edge.admits
    ]
