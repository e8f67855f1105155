"""A trace as a memory: what it recorded, asked by identity; and why something is not in it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from nika_nb.catalog.frames import TASK_SUCCESSES
from nika_nb.engine.contract import unit_key
from nika_nb.engine.memory import Carried, Hit, Memory, Miss, NoMemory
from nika_nb.plan.identity import Identity
from nika_nb.trace.child import Child
from nika_nb.trace.hits import came, carried, hit
from nika_nb.trace.inflight import InFlight, in_flight
from nika_nb.trace.misses import better, differs, ended, missed, missed_item
from nika_nb.trace.remembered import Record, Remembered
from nika_nb.trace.trace import Trace
from nika_nb.values import Json, plural

_SETS_OFF = Miss("input", detail="an answer would set off something else")


class JournalMemory:
    """The memory of a resume: implements `engine.memory.Memory` over one trace.

    forced: tasks and items (`rows[3]`) that run whatever is recorded. carry_failures: for continuing a
    paused run, whose failures and skips because of an error stand. earlier: what is asked for a task that
    this trace brought to no success.
    as_of: when the run had ended that a called workflow's journal stands in. reopened: the questions, in
    called workflows as `call/ask`, whose answers do not hold any more.
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
        as_of: int | None = None,
        reopened: frozenset[str] = frozenset(),
    ) -> None:
        self.trace = trace
        self._as_of = as_of or _ended(trace)
        self.earlier = earlier
        self.forced = frozenset(forced)
        self._opened = _items_of(self.forced)
        self.reopened = reopened
        self.carry_failures = carry_failures
        self._tasks: dict[str, Remembered] = {}
        self._asked = {prompt.task for prompt in trace.prompts}
        self._remembered: dict[tuple[str, int | None], JournalMemory | None] = {}
        for frame, text in trace.texts():
            task = frame.get("task")
            if isinstance(task, str):
                self._tasks.setdefault(task, Remembered()).take(frame, text)
        self.usable = sum(known.usable for known in self._tasks.values())
        self.keyless = sum(known.keyless for known in self._tasks.values())
        self.unparseable = sum(known.unparseable for known in self._tasks.values())

    def reopen(self, judge: Callable[[Trace], frozenset[str]]) -> None:
        """Asks of this trace, and of what lies behind it, which of its answers do not hold any more."""
        self.reopened = judge(self.trace)
        self._remembered.clear()
        if self.earlier is not None:
            self.earlier.reopen(judge)

    def recall(self, identity: Identity) -> Hit | Miss:
        """A recorded success of the same definition and inputs, or why there is none."""
        if identity.task in self.forced:
            return Miss("forced")
        if identity.task in self._opened:
            return Miss("forced", detail=", ".join(self._opened[identity.task]))
        known = self._tasks.get(identity.task)
        record = known.record if known else None
        if record is None:
            found = missed(known, asked=identity.task in self._asked)
            return better(found, self.earlier.recall(identity)) if self.earlier else found
        if record.keys != (identity.def_hash, identity.input_hash):
            return differs(record, identity)
        return _SETS_OFF if self._reopens(identity.task) else self._hit(record)

    def recall_item(self, identity: Identity, index: int) -> Hit | Miss:
        """The same for one item; every recorded item serves once, the one at its own index first."""
        if self.forces(identity.task, index):
            return Miss("forced")
        known = self._tasks.get(identity.task)
        fitting = known.items.get((identity.def_hash, identity.input_hash)) if known else None
        if fitting and self._reopens(identity.task):
            return _SETS_OFF
        if fitting:
            return self._hit(fitting.pop(index) if index in fitting else fitting.popitem()[1])
        found = missed_item(known, identity, index)
        if self.earlier is None or (known is not None and known.record is not None):
            return found
        return better(found, self.earlier.recall_item(identity, index))

    def forces(self, task: str, item: int | None) -> bool:
        """Whether a task, or an item of one, runs whatever is recorded."""
        return task in self.forced or (item is not None and unit_key(task, item) in self.forced)

    def _reopens(self, task: str) -> bool:
        """Whether an answer of this task, or of one below it, does not hold any more."""
        return any(key.partition("/")[0] == task for key in self.reopened)

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
        return carried(last) if self.carry_failures and last is not None else None

    def carried_item(self, identity: Identity, index: int) -> Carried | None:
        """The same for one item, where it is still the same one."""
        known = self._tasks.get(identity.task)
        end = (known.item_ends.get(index) or known.failed_open.get(index)) if known else None
        if not self.carry_failures or end is None:
            return None
        same = (end.get("def_hash"), end.get("input_hash")) == (identity.def_hash, identity.input_hash)
        return carried(end) if same else None

    def decided(self, task: str, def_hash: str) -> Json:
        """The recorded output of a task that is written today as it was then; None where there is none."""
        known = self._tasks.get(task)
        record = known.record if known else None
        if record is None and self.earlier is not None:
            return self.earlier.decided(task, def_hash)
        if record is None or self._reopens(task):
            return None
        return record.output if record.def_hash == def_hash else None

    def recorded(self) -> dict[str, Hit]:
        """Every task with a success that can be used again, as long as nothing about it changes."""
        found = self.earlier.recorded() if self.earlier else {}
        own = {name: self._hit(known.record) for name, known in self._tasks.items() if known.record}
        return {name: known for name, known in (found | own).items() if name not in self.forced}

    def began(self, task: str) -> str:
        """How a task ended that had begun: `completed`, `failed (NIKA-…)`, `was running`; else empty."""
        known = self._tasks.get(task)
        if known is None or not known.began:
            return self.earlier.began(task) if self.earlier else ""
        if known.last is None:
            return "was running"
        return "completed" if known.last.kind in TASK_SUCCESSES else ended(known.last)

    def knows(self, task: str, def_hash: str) -> bool:
        """Whether a success is recorded of a task that is written today as it was then."""
        known = self._tasks.get(task)
        if task in self.forced:
            return False
        if known is not None and known.record is not None:
            return known.record.def_hash == def_hash and not self._reopens(task)
        return self.earlier is not None and self.earlier.knows(task, def_hash)

    def stands(self, task: str, def_hash: str) -> bool:
        """Whether what became of a task stands, so that it does not run again."""
        known = self._tasks.get(task)
        last = known.last if known else None
        if last is None or "not_resumable" in last.fields:
            return False
        if last.kind in TASK_SUCCESSES:
            return self.knows(task, def_hash)
        return self.carry_failures or last.kind == "task_skipped"

    def open_items(self, task: str) -> list[int]:
        """The items of a fan-out over a workflow that were called and have not ended."""
        known = self._tasks.get(task)
        called = known.children if known else {}
        return [item for item in called if item is not None and known and item not in known.item_ends]

    def running_at_crash(self) -> list[InFlight]:
        """What had begun and not ended when the journal broke off; empty where the run has an end."""
        if self.trace.end is not None:
            return []
        return [
            left
            for task, known in self._tasks.items()
            for left in (*in_flight(task, known.flying), *self._running_children(task, known))
        ]

    def in_doubt(self) -> frozenset[tuple[str, int | None]]:
        """The tasks and items that had begun at a crash, also at an earlier one, and have not ended since.

        Of a called workflow it is the call.
        """
        here = {left.unit for left in self.running_at_crash()}
        behind = self.earlier.in_doubt() if self.earlier else frozenset()
        return frozenset(here | {unit for unit in behind if not self._reached(*unit)})

    def _reached(self, task: str, item: int | None) -> bool:
        known = self._tasks.get(task)
        if known is None:
            return False
        return known.last is not None or item in known.flying or item in known.item_ends

    def _running_children(self, task: str, known: Remembered) -> Iterator[InFlight]:
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
            self._remembered[task, item] = earlier if said is None else self._of_child(task, said, earlier)
        return self._remembered[task, item]

    def _of_child(self, task: str, said: Child, earlier: JournalMemory | None) -> JournalMemory:
        within = (key.partition("/") for key in self.reopened)
        return JournalMemory(
            said.trace(self.trace),
            carry_failures=self.carry_failures,
            earlier=earlier,
            as_of=self._as_of,
            reopened=frozenset(inner for call, _, inner in within if call == task and inner),
        )

    def owes(self, cleanup: str, producer: str) -> bool:
        """Whether the producer had worked, and this cleanup of it was there and came to no end since.

        A pause tells which ones; of a run that broke off, it is those whose producer had begun in it.
        """
        tidied, known = self._tasks.get(cleanup), self._tasks.get(producer)
        if tidied is not None:
            if tidied.last is not None:
                return False
            if self.trace.state == "paused":
                return producer in tidied.owed_to
            recalled = known is not None and known.last is not None and known.last.kind == "task_cache_hit"
            if known is not None and known.began and not recalled:
                return True
        return self.earlier is not None and self.earlier.owes(cleanup, producer)

    def cleaned(self, cleanup: str, def_hash: str) -> Hit | Carried | None:
        """How a cleanup had ended, where it is written today as it was; None where that is not known.

        What an answer continues is pinned, and written as it was.
        """
        known = self._tasks.get(cleanup)
        if cleanup in self.forced:
            return None
        if known is None or known.last is None:
            return self.earlier.cleaned(cleanup, def_hash) if self.earlier else None
        if not self.carry_failures and known.last.get("def_hash") != def_hash:
            return None
        if known.last.kind in TASK_SUCCESSES:
            return came(known.last, known.said, self.trace.label, self._as_of)
        return carried(known.last)

    def notice(self) -> str | None:
        """What has to be said before a resume: that little or nothing can be recognised."""
        name, lost = self.trace.path.name, self.keyless + self.unparseable
        called = any(known.children for known in self._tasks.values())
        if not self.usable and self.earlier is None and not called:
            return f"{name} holds no success that can be used again: everything runs live"
        if lost:
            return f"{name}: {plural(lost, 'record')} without a usable resume key; those tasks run live"
        return None

    def _hit(self, record: Record) -> Hit:
        return hit(record, self.trace.label, self._as_of)


def _ended(trace: Trace) -> int | None:
    """The moment of its last frame, in unix ns; None where that is no moment of this world."""
    virtual = trace.reproducible or trace.prologue.get("clock") == "virtual"
    return None if virtual or not trace.frames else trace.frames[-1].timestamp


def _items_of(forced: frozenset[str]) -> dict[str, list[str]]:
    """Task → its items that are forced one by one."""
    found: dict[str, list[str]] = {}
    for key in sorted(forced):
        task, counted, _ = key.partition("[")
        if counted:
            found.setdefault(task, []).append(key)
    return found
