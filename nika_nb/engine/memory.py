"""What the engine asks of earlier runs: a record that stands, or why there is none. Folded in `trace`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from nika_nb.engine.contract import Permit
from nika_nb.engine.outcome import Outcome
from nika_nb.plan.identity import Identity

Reason = Literal["new", "definition", "input", "not-recorded", "forced", "not-resumable", "first-run"]


@dataclass(frozen=True, slots=True)
class Hit:
    """A recorded success that stands for running the task again.

    trace and frame say where it was found; the saved figures are what running it had cost. started,
    ended: when it ran, in unix ns, which is what a task that observes it still sees. files: what it read, by
    name, each as (bytes, unix ns of its last change, digest). as_of: to when its run was at work, in unix ns,
    None where no clock on the wall says so.
    """

    output: Any
    trace: str
    frame: str
    error: dict[str, Any] | None = None  # what it had recovered from
    attempts: int = 1
    duration_ms: int | None = None
    tokens: int | None = None
    cost_usd: float | None = None
    started: int | None = None
    ended: int | None = None
    files: Mapping[str, tuple[int, int, str | None]] = field(default_factory=dict)
    as_of: int | None = None


@dataclass(frozen=True, slots=True)
class Carried:
    """What became of a unit before a pause and still stands: a failure, or a skip because of an error.

    started, ended: as of a `Hit`. open: it failed, and has not settled: its recovery waited for what
    was asked. permits: what had been decided for it by then, of an open one.
    """

    outcome: Outcome
    started: int | None = None
    ended: int | None = None
    open: bool = False
    permits: tuple[Permit, ...] = ()


@dataclass(frozen=True, slots=True)
class Miss:
    """Why a task has to run: the reason, and which parts differ.

    parts: definition fields (`exec.command`, `retry`) or bindings (`with.rows`, `inputs.topic`),
    each with the upstream tasks it comes from. detail: a short phrase (`was running`, `failed`).
    """

    reason: Reason
    parts: tuple[str, ...] = ()
    detail: str = ""


class Memory(Protocol):
    """What earlier invocations settled. A fresh run has an empty one.

    `carried` and `carried_item` answer only when a paused run goes on after an answer: then what had
    failed stays failed, for nothing is retried behind anyone's back. `child` is what the workflow
    that a task calls had settled by itself. `owes`: a producer had worked when the earlier run stopped,
    and this cleanup of it was still due. `cleaned`: how a cleanup had ended, where it is written as it was.
    """

    @property
    def resuming(self) -> bool: ...

    def recall(self, identity: Identity) -> Hit | Miss: ...

    def recall_item(self, identity: Identity, index: int) -> Hit | Miss: ...

    def carried(self, task: str) -> Carried | None: ...

    def carried_item(self, identity: Identity, index: int) -> Carried | None: ...

    def child(self, task: str, item: int | None) -> Memory: ...

    def owes(self, cleanup: str, producer: str) -> bool: ...

    def cleaned(self, cleanup: str, def_hash: str) -> Hit | Carried | None: ...


class NoMemory:
    """Nothing to resume from: every task runs, and says nothing about it."""

    resuming = False

    def carried(self, task: str) -> Carried | None:
        return None

    def carried_item(self, identity: Identity, index: int) -> Carried | None:
        return None

    def recall(self, identity: Identity) -> Hit | Miss:
        return Miss("first-run")

    def recall_item(self, identity: Identity, index: int) -> Hit | Miss:
        return Miss("first-run")

    def child(self, task: str, item: int | None) -> Memory:
        return self

    def owes(self, cleanup: str, producer: str) -> bool:
        return False

    def cleaned(self, cleanup: str, def_hash: str) -> Hit | Carried | None:
        return None
