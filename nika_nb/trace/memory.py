"""A trace as a memory: what it recorded, asked by identity; and why something is not in it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from nika_nb.engine.contract import Carried, Hit, Memory, Miss, NoMemory, Permit, unit_key
from nika_nb.engine.outcome import Outcome, TaskError
from nika_nb.plan.identity import Identity
from nika_nb.trace.child import Child
from nika_nb.trace.fields import inner, list_of, shape_of
from nika_nb.trace.frame import Frame
from nika_nb.trace.trace import Trace
from nika_nb.values import LEVELS, Json, loads, too_deep, unequal

_SETTLED = ("task_completed", "task_cache_hit")
_UNPARSEABLE = "output not parseable"
_LATEST = 1 << 63  # unix ns beyond which nothing is a moment


@dataclass(frozen=True, slots=True)
class Record:
    """A usable success: the keys it is recognised by and what it gives back."""

    frame: Frame
    def_hash: str
    input_hash: str
    output: Json

    @property
    def keys(self) -> tuple[str, str]:
        return self.def_hash, self.input_hash


@dataclass(frozen=True, slots=True)
class InFlight:
    """Work that had begun and is not known to have ended.

    pgid and started name the process group that worked on it, where there was one; started is its
    leader's start time.
    """

    task: str
    item: int | None
    attempt: int
    pgid: int | None
    started: str | None

    @property
    def key(self) -> str:
        """What people call it: `copy`, `fan[3]`, `call/copy`."""
        return unit_key(self.task, self.item)


@dataclass
class _Task:
    """Everything one trace says about one task."""

    record: Record | None = None
    items: dict[tuple[str, str], dict[int, Record]] = field(default_factory=dict)  # by keys, by index
    by_index: dict[int, Record] = field(default_factory=dict)
    last: Frame | None = None  # its last terminal frame
    item_ends: dict[int, Frame] = field(default_factory=dict)
    flying: dict[int | None, Frame] = field(default_factory=dict)  # verb_invoked without an end
    began: bool = False  # its verb was invoked, here or in what was recalled
    failed_open: dict[int | None, Frame] = field(default_factory=dict)  # what only has to recover
    why: str = ""  # why the last success cannot be used
    children: dict[int | None, Child] = field(default_factory=dict)  # what a called workflow said, by item


class JournalMemory:
    """The memory of a resume: implements `engine.contract.Memory` over one trace.

    forced: tasks and items (`rows[3]`) that run whatever is recorded. carry_failures: for continuing a
    paused run, whose failures and skips because of an error stand. earlier: what is asked for a task that
    this trace brought to no success.
    usable, keyless and unparseable count the recorded successes.
    """

    resuming = True

    def __init__(
        self,
        trace: Trace,
        forced: Iterable[str] = frozenset(),
        *,
        carry_failures: bool = False,
        earlier: JournalMemory | None = None,
    ) -> None:
        self.trace = trace
        self.earlier = earlier
        self.forced = frozenset(forced)
        self._opened = _items_of(self.forced)
        self.carry_failures = carry_failures
        self.usable = self.keyless = self.unparseable = 0
        self._tasks: dict[str, _Task] = {}
        self._asked = {prompt.task for prompt in trace.prompts}
        self._remembered: dict[tuple[str, int | None], JournalMemory | None] = {}
        for frame, text in trace.texts():
            self._take(frame, text)

    def recall(self, identity: Identity) -> Hit | Miss:
        """A recorded success of the same definition and inputs, or why there is none."""
        if identity.task in self.forced:
            return Miss("forced")
        if identity.task in self._opened:
            return Miss("forced", detail=", ".join(self._opened[identity.task]))
        known = self._tasks.get(identity.task)
        record = known.record if known else None
        if record is None:
            found = self._unrecorded(identity.task, known)
            return _better(found, self.earlier.recall(identity)) if self.earlier else found
        if record.keys == (identity.def_hash, identity.input_hash):
            return self._hit(record)
        return _differs(record, identity)

    def recall_item(self, identity: Identity, index: int) -> Hit | Miss:
        """The same for one item; every recorded item serves once, the one at its own index first."""
        if self.forces(identity.task, index):
            return Miss("forced")
        known = self._tasks.get(identity.task)
        fitting = known.items.get((identity.def_hash, identity.input_hash)) if known else None
        if fitting:
            return self._hit(fitting.pop(index) if index in fitting else fitting.popitem()[1])
        found = self._item_miss(identity, index, known)
        if self.earlier is None or (known is not None and known.record is not None):
            return found
        return _better(found, self.earlier.recall_item(identity, index))

    def forces(self, task: str, item: int | None) -> bool:
        """Whether a task, or an item of one, runs whatever is recorded."""
        return task in self.forced or (item is not None and unit_key(task, item) in self.forced)

    def items_of(self, task: str) -> frozenset[int]:
        """The items of a fan-out of which the trace, or the one that it went on from, tells anything."""
        known = self._tasks.get(task)
        here = (
            frozenset(known.item_ends) | {item for item in known.flying if item is not None}
            if known
            else set()
        )
        return frozenset(here) | (self.earlier.items_of(task) if self.earlier else frozenset())

    def carried(self, task: str) -> Carried | None:
        """A failure, or a skip because of an error, that still stands; None where there is none to carry."""
        known = self._tasks.get(task)
        last = (known.last or known.failed_open.get(None)) if known else None
        return _carried(last) if self.carry_failures and last is not None else None

    def carried_item(self, identity: Identity, index: int) -> Carried | None:
        """The same for one item, where it is still the same one."""
        known = self._tasks.get(identity.task)
        end = (known.item_ends.get(index) or known.failed_open.get(index)) if known else None
        if not self.carry_failures or end is None:
            return None
        same = (end.get("def_hash"), end.get("input_hash")) == (identity.def_hash, identity.input_hash)
        return _carried(end) if same else None

    def decided(self, task: str, def_hash: str) -> Json:
        """The recorded output of a task that is written today as it was then; None where there is none."""
        known = self._tasks.get(task)
        record = known.record if known else None
        if record is None and self.earlier is not None:
            return self.earlier.decided(task, def_hash)
        return record.output if record is not None and record.def_hash == def_hash else None

    def recorded(self) -> dict[str, Hit]:
        """Every task with a success that can be used again, as long as nothing about it changes."""
        found = self.earlier.recorded() if self.earlier else {}
        own = {name: self._hit(known.record) for name, known in self._tasks.items() if known.record}
        return {name: hit for name, hit in (found | own).items() if name not in self.forced}

    def began(self, task: str) -> str:
        """How a task ended that had begun: `completed`, `failed (NIKA-…)`, `was running`; else empty."""
        known = self._tasks.get(task)
        if known is None or not known.began:
            return self.earlier.began(task) if self.earlier else ""
        if known.last is None:
            return "was running"
        return "completed" if known.last.kind in _SETTLED else _ended(known.last)

    def knows(self, task: str, def_hash: str) -> bool:
        """Whether a success is recorded of a task that is written today as it was then."""
        known = self._tasks.get(task)
        if task in self.forced:
            return False
        if known is not None and known.record is not None:
            return known.record.def_hash == def_hash
        return self.earlier is not None and self.earlier.knows(task, def_hash)

    def running_at_crash(self) -> list[InFlight]:
        """What had begun and not ended when the journal broke off; empty where the run has an end."""
        if self.trace.end is not None:
            return []
        return [
            left
            for task, known in self._tasks.items()
            for left in (*_flying(task, known), *self._running_children(task, known))
        ]

    def in_doubt(self) -> frozenset[tuple[str, int | None]]:
        """The tasks and items that had begun at a crash, also at an earlier one, and have not ended since.

        Of a called workflow it is the call.
        """
        here = {_called(left) for left in self.running_at_crash()}
        behind = self.earlier.in_doubt() if self.earlier else frozenset()
        return frozenset(here | {unit for unit in behind if not self._reached(*unit)})

    def _reached(self, task: str, item: int | None) -> bool:
        known = self._tasks.get(task)
        if known is None:
            return False
        return known.last is not None or item in known.flying or item in known.item_ends

    def _running_children(self, task: str, known: _Task) -> Iterator[InFlight]:
        for item in known.children:
            memory = self._remember_child(task, item)
            for left in memory.running_at_crash() if memory else ():
                yield replace(left, task=f"{unit_key(task, item)}/{left.task}")

    def child(self, task: str, item: int | None) -> Memory:
        """What the workflow that a task calls had settled by itself, in the last attempt that is known."""
        if self.forces(task, item):
            return NoMemory()
        return self._remember_child(task, item) or NoMemory()

    def _remember_child(self, task: str, item: int | None) -> JournalMemory | None:
        if (task, item) not in self._remembered:
            earlier = self.earlier._remember_child(task, item) if self.earlier else None
            known = self._tasks.get(task)
            said = known.children.get(item) if known else None
            self._remembered[task, item] = earlier if said is None else self._of_child(said, earlier)
        return self._remembered[task, item]

    def _of_child(self, said: Child, earlier: JournalMemory | None) -> JournalMemory:
        trace = said.trace(self.trace)
        return JournalMemory(trace, carry_failures=self.carry_failures, earlier=earlier)

    def notice(self) -> str | None:
        """What has to be said before a resume: that little or nothing can be recognised."""
        name, lost = self.trace.path.name, self.keyless + self.unparseable
        called = any(known.children for known in self._tasks.values())
        if not self.usable and self.earlier is None and not called:
            return f"{name} holds no success that can be used again: everything runs live"
        if lost:
            records = "1 record" if lost == 1 else f"{lost} records"
            return f"{name}: {records} without a usable resume key; those tasks run live"
        return None

    def _take(self, frame: Frame, text: str | None) -> None:
        task = frame.get("task")
        if not isinstance(task, str):
            return
        known = self._tasks.setdefault(task, _Task())
        item = frame.get("item") if isinstance(frame.get("item"), int) else None
        match frame.kind:
            case "verb_invoked":
                known.began = True
                known.flying[item] = frame
            case "nb_child" if text is not None:
                known.children.setdefault(item, Child()).take(frame, text)
            case "task_retrying":
                known.flying.pop(item, None)
            case "nb_failed_open":
                known.flying.pop(item, None)
                known.failed_open[item] = frame
            case "nb_item_completed":
                self._take_item(known, frame, item, text)
            case "task_completed" | "task_cache_hit":
                self._take_success(known, frame, text)
            case "task_failed" | "task_skipped" | "task_cancelled":
                known.last = frame
                known.flying.clear()

    def _take_success(self, known: _Task, frame: Frame, text: str | None) -> None:
        known.last = frame
        known.began = True
        known.flying.clear()
        found = _record(frame, text)
        if isinstance(found, Record):
            known.record = found
            self.usable += 1
        else:
            known.why = found
            self._count_lost(found)

    def _take_item(self, known: _Task, frame: Frame, item: int | None, text: str | None) -> None:
        known.flying.pop(item, None)
        if item is None:
            return
        known.began = True
        known.item_ends[item] = frame
        if frame.get("status") != "success":
            return
        found = _record(frame, text)
        if isinstance(found, Record):
            known.items.setdefault(found.keys, {})[item] = found
            known.by_index[item] = found
            self.usable += 1
        else:
            self._count_lost(found)

    def _count_lost(self, why: str) -> None:
        if why == _UNPARSEABLE:
            self.unparseable += 1
        else:
            self.keyless += 1

    def _unrecorded(self, task: str, known: _Task | None) -> Miss:
        if known is None:
            return Miss("new")
        last = known.last
        if last is None and None in known.failed_open:
            return Miss("not-recorded", detail=_ended(known.failed_open[None]))
        if last is None:
            detail = "was running" if known.flying or known.item_ends else "never started"
            return Miss("not-recorded", detail="waited for an answer" if task in self._asked else detail)
        if last.kind in _SETTLED:
            reason = last.get("not_resumable")
            if isinstance(reason, str):
                return Miss("not-resumable", detail=reason)
            return Miss("not-recorded", detail=known.why)
        return Miss("not-recorded", detail=_ended(last))

    def _item_miss(self, identity: Identity, index: int, known: _Task | None) -> Miss:
        if known is None:
            return Miss("new")
        same = known.by_index.get(index)
        if same is not None and same.keys != (identity.def_hash, identity.input_hash):
            return _differs(same, identity)
        end = known.item_ends.get(index)
        if end is not None and end.get("status") != "success":
            return Miss("not-recorded", detail=_ended(end))
        if end is not None and isinstance(end.get("not_resumable"), str):
            return Miss("not-resumable", detail=end.get("not_resumable"))
        if index in known.flying:
            return Miss("not-recorded", detail="was running")
        if known.last is not None and known.last.kind in _SETTLED and known.item_ends:
            return Miss("new")
        return Miss("not-recorded", detail="never started")

    def _hit(self, record: Record) -> Hit:
        frame = record.frame
        payload = inner(shape_of(frame.get("outcome")), "payload")
        error, attempts = payload.get("recovered_from"), payload.get("attempts")
        return Hit(
            output=record.output,
            trace=self.trace.label,
            frame=frame.id,
            error=error if TaskError.of(error) else None,
            attempts=attempts if isinstance(attempts, int) else 1,
            duration_ms=_first(frame, "duration_ms", "saved_ms", int),
            tokens=_first(frame, "tokens", "saved_tokens", int),
            cost_usd=_first(frame, "cost_usd", "saved_usd", (int, float)),
            **_times(frame),
        )


def _items_of(forced: frozenset[str]) -> dict[str, list[str]]:
    """Task → its items that are forced one by one."""
    found: dict[str, list[str]] = {}
    for key in sorted(forced):
        task, counted, _ = key.partition("[")
        if counted:
            found.setdefault(task, []).append(key)
    return found


def _carried(frame: Frame) -> Carried | None:
    outcome = Outcome.of(shape_of(frame.get("outcome")))
    if outcome is None:
        return None
    waits = frame.kind == "nb_failed_open"
    return Carried(outcome, **_times(frame), open=waits, permits=tuple(_decided(frame)))


def _decided(frame: Frame) -> Iterator[Permit]:
    """The decisions at the boundary that a frame of an open failure lists."""
    for row in list_of(frame.get("decided")):
        match row:
            case [str(plane), str(gate), bool(allowed), str(why)]:
                yield Permit(plane, gate, allowed, why)


def _times(frame: Frame) -> dict[str, int]:
    """When the task of a terminal frame ran: as recorded, or as long before the frame as it took."""
    started, ended = frame.get("started_ns"), frame.get("ended_ns")
    if not (isinstance(started, int) and isinstance(ended, int)):
        ended, took = frame.timestamp, _first(frame, "duration_ms", "saved_ms", int)
        started = ended - took * 10**6 if took is not None else -1
    return {"started": started, "ended": ended} if 0 <= started <= ended < _LATEST else {}


def _called(left: InFlight) -> tuple[str, int | None]:
    """The unit of this workflow that something running is, or is called by."""
    unit, below, _ = left.task.partition("/")
    if not below:
        return left.task, left.item
    task, counted, item = unit.partition("[")
    return task, int(item.rstrip("]")) if counted else None


def _record(frame: Frame, text: str | None) -> Record | str:
    """The usable success in a frame, or why it cannot be used again."""
    keys = frame.get("def_hash"), frame.get("input_hash")
    if not isinstance(keys[0], str) or not isinstance(keys[1], str):
        return "recorded without keys"
    try:
        output = loads(text if text is not None else "")
    except (ValueError, RecursionError):
        return _UNPARSEABLE
    if too_deep(output, LEVELS + 1):  # a fan-out stands one level above its items
        return _UNPARSEABLE
    return Record(frame, keys[0], keys[1], output)


def _better(found: Miss, behind: Hit | Miss) -> Hit | Miss:
    """What the earlier trace knows, where that says more than that the later one broke off."""
    telling = isinstance(behind, Hit) or behind.reason in ("definition", "input", "not-resumable")
    return behind if telling else found


def _differs(record: Record, identity: Identity) -> Miss:
    if record.def_hash != identity.def_hash:
        recorded = shape_of(record.frame.get("definition_parts"))
        return Miss("definition", _differing(recorded, identity.definition_parts))
    return Miss("input", _differing(shape_of(record.frame.get("input_parts")), identity.input_parts))


def _differing(recorded: Mapping[str, Any], current: Mapping[str, str]) -> tuple[str, ...]:
    """The parts that differ; empty where none were recorded."""
    return unequal(recorded, current) if recorded and current else ()


def _ended(frame: Frame) -> str:
    """How a task or an item ended that is no success: `failed (NIKA-…)`, `cancelled`, `skipped`."""
    status = {"task_failed": "failure", "task_cancelled": "cancelled", "task_skipped": "skipped"}
    kind = status.get(frame.kind) or str(frame.get("status"))
    if kind != "failure":
        return kind
    error = inner(shape_of(frame.get("outcome")), "payload").get("error")
    code = error.get("code") if isinstance(error, dict) else None
    code = code or str(frame.get("detail") or "").partition(" · ")[0]
    return f"failed ({code})" if code else "failed"


def _flying(task: str, known: _Task) -> Iterator[InFlight]:
    for item, frame in known.flying.items():
        yield _in_flight(task, item, frame)


def _in_flight(task: str, item: int | None, frame: Frame) -> InFlight:
    attempt, pgid, started = frame.get("attempt"), frame.get("pgid"), frame.get("started")
    known = isinstance(pgid, int) and pgid > 1 and isinstance(started, str)
    return InFlight(
        task=task,
        item=item,
        attempt=attempt if isinstance(attempt, int) else 1,
        pgid=pgid if known else None,
        started=started if known else None,
    )


def _first(frame: Frame, name: str, other: str, kind: Any) -> Any:
    """A figure of a live success, or what a cache hit says it saved."""
    value = frame.get(name, frame.get(other))
    return value if isinstance(value, kind) and not isinstance(value, bool) else None
