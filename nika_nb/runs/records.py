"""Traces that share a run id → the record of that run, its checkpoints, its status. Folded, never stored."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any, Literal, get_args

from nika_nb.runs.heads import Head
from nika_nb.trace.trace import state_of

Status = Literal["interrupted", "completed", "failed"]
STATUSES: tuple[Status, ...] = get_args(Status)
Outcome = Literal["interrupted", "completed", "failed", "cancelled"]
Readiness = Literal["ready", "blocked", "not_applicable"]

_OUTCOMES: dict[str, Outcome] = {
    "completed": "completed",
    "failed": "failed",
    "cancelled": "cancelled",
    "paused": "interrupted",
}


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """One stop of a run.

    sequence: from 1, in the order of the stops. reason: the status that the run had then. trace: the
    name of the file that holds its state, up to the line whose hash is `head`. at: unix nanoseconds.
    """

    run_id: str
    sequence: int
    reason: Status
    trace: str
    head: str
    at: int

    def to_json(self) -> dict[str, Any]:
        return asdict(self) | {"at": moment(self.at)}


@dataclass(frozen=True, slots=True, repr=False)
class Summary:
    """A run in a list: nothing of what it read, did or returned.

    status and outcome are None for a run that has not stopped: it works, or its writer died. created,
    updated: unix nanoseconds. traces: the names of its files in order, refused resumes left out.
    answered_by: the other run that has the answers to all that this one asks, where it was looked for.
    """

    run_id: str
    deployment: str | None
    deployment_version: int | None
    workflow: str
    workflow_version: str
    status: Status | None
    outcome: Outcome | None
    resume_readiness: Readiness
    diagnostic_count: int
    created: int
    updated: int
    parent_run: str | None
    traces: tuple[str, ...]
    answered_by: str | None = None

    def __repr__(self) -> str:
        from nika_nb.runs.lines import line_of  # which draws what is declared here

        return line_of(self)

    def to_json(self) -> dict[str, Any]:
        shape = asdict(self)
        del shape["traces"], shape["created"], shape["updated"]
        if self.answered_by is None:
            del shape["answered_by"]
        return shape | {"created_at": moment(self.created), "updated_at": moment(self.updated)}


@dataclass(frozen=True, slots=True)
class Record:
    """One durable run.

    invocations: its traces in the order in which they continued each other. refusal: the newest note
    that its open pause could not be resumed.
    """

    summary: Summary
    invocations: tuple[Head, ...]
    refusal: Head | None = None

    @property
    def latest(self) -> Head:
        return self.invocations[-1]

    @property
    def checkpoints(self) -> tuple[Checkpoint, ...]:
        """One per stop; an invocation that never reached its end is none."""
        stops = [head for head in self.invocations if head.end is not None]
        return tuple(_checkpoint(head, at) for at, head in enumerate(stops, 1))


def fold(heads: Iterable[Head]) -> Record | None:
    """The record of the traces of one run; None where only notes are left of it."""
    known = tuple(heads)
    line = line_of([head for head in known if not head.blocked])
    if not line:
        return None
    refusal = _refusal(known, line[-1])
    return Record(_summary(line, refusal), line, refusal)


def line_of(heads: Sequence[Head]) -> tuple[Head, ...]:
    """The newest invocation and those that it continues, oldest first.

    The order comes from what each one says that it continues: clocks go back.
    """
    before = _before(heads)
    continued = {head.name for head in before.values()}
    lines = {head.resumed_head for head in heads if head.resumed_trace}  # their copies go on nowhere
    ends = [head for head in heads if head.name not in continued and head.head not in lines]
    found = [max(ends or heads, key=_age)] if heads else []
    while found and (earlier := before.get(found[-1].name)) and earlier not in found:
        found.append(earlier)
    return tuple(reversed(found))


def _before(heads: Sequence[Head]) -> dict[str, Head]:
    """name → the invocation that the one of this name continues."""
    named = {head.name: head for head in heads}
    alike: dict[str, list[Head]] = {}
    for head in heads:
        alike.setdefault(head.head, []).append(head)
    found: dict[str, Head] = {}
    for head in heads:
        by_name = named.get(head.resumed_trace or "")
        wanted = [by_name] if by_name is not None else alike.get(head.resumed_head or "", [])
        fitting = [other for other in wanted if head.continues(other)]
        if fitting:
            found[head.name] = max(fitting, key=_age)
    return found


def _age(head: Head) -> tuple[int, int, str]:
    return head.created, head.stamp[1], head.name


def _refusal(heads: Iterable[Head], latest: Head) -> Head | None:
    if latest.end != "workflow_paused":
        return None
    notes = [head for head in heads if head.blocked and head.continues(latest)]
    return max(notes, key=lambda head: (head.attempt, *_age(head))) if notes else None


def _summary(line: Sequence[Head], refusal: Head | None) -> Summary:
    first, latest = line[0], line[-1]
    outcome = None if latest.end is None else _OUTCOMES.get(state_of(latest.end, False))
    status = _status(outcome)
    return Summary(
        run_id=latest.run,
        deployment=latest.deployment,
        deployment_version=latest.deployment_version,
        workflow=latest.workflow,
        workflow_version=latest.version,
        status=status,
        outcome=outcome,
        resume_readiness=_readiness(status, refusal),
        diagnostic_count=refusal.diagnostics if refusal else 0,
        created=first.began or first.created,
        updated=refusal.updated if refusal else latest.updated,
        parent_run=first.parent,
        traces=tuple(head.name for head in line),
    )


def _status(outcome: Outcome | None) -> Status | None:
    """A cancelled run is a failed one."""
    return "failed" if outcome == "cancelled" else outcome


def _readiness(status: Status | None, refusal: Head | None) -> Readiness:
    if status != "interrupted":
        return "not_applicable"
    return "blocked" if refusal else "ready"


def _checkpoint(head: Head, position: int) -> Checkpoint:
    outcome = _OUTCOMES[state_of(head.end, False)]
    reason = _status(outcome)
    assert reason is not None
    return Checkpoint(head.run, head.sequence or position, reason, head.name, head.head, head.updated)


def moment(nanoseconds: int) -> str:
    """A time as people and programs read it: ISO 8601, UTC, microseconds."""
    at = datetime.fromtimestamp(nanoseconds // 10**9, UTC).replace(microsecond=nanoseconds % 10**9 // 1000)
    return at.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def grouped(heads: Iterable[Head]) -> dict[str, list[Head]]:
    """Heads by the run that they belong to."""
    found: dict[str, list[Head]] = {}
    for head in heads:
        found.setdefault(head.run, []).append(head)
    return found
