"""The frames of a settled task, in the order a journal holds them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from nika_nb.engine import keeping
from nika_nb.engine.emit import Emitter, Mask
from nika_nb.engine.keeping import hashes
from nika_nb.engine.memory import Hit
from nika_nb.engine.outcome import Outcome, TaskError
from nika_nb.engine.reasons import reason_fields
from nika_nb.engine.seen import Mark, Seen
from nika_nb.engine.work import Work, usage_fields
from nika_nb.errors import Fault
from nika_nb.plan.identity import Identity
from nika_nb.plan.plan import TaskPlan
from nika_nb.values import digest, dumps, holds_bytes, portable


class Settler:
    """Writes what became of a task or an item: started, decisions, the terminal frame."""

    def __init__(self, emitter: Emitter, mask: Mask, seen: Seen | None = None) -> None:
        self._emitter = emitter
        self._mask = mask
        self._seen = seen or Seen(watched=False)

    def ran(
        self,
        planned: TaskPlan,
        note: str,
        outcome: Outcome,
        work: Work,
        identity: Identity | Fault,
    ) -> None:
        """A task whose verb ran, to whatever end."""
        task = planned.task.id
        self._emitter.emit("task_started", task=task, note=note, **reason_fields(planned, work.miss))
        self._decisions(task, work)
        if outcome.status == "success":
            self._succeeded(planned, note, outcome, work, identity)
        elif outcome.status == "failure":
            self._failed(planned, note, outcome, work)
        elif outcome.status == "cancelled":
            self._called_off(task, outcome, work)
        else:
            self._skipped_on_error(planned, outcome, work)

    def _decisions(self, task: str, work: Work) -> None:
        for lift in work.lifts:
            let_in = {"from": lift.origin, "way": " → ".join(lift.way) or None, "value_digest": lift.value}
            self._emitter.emit("lift", task=task, law=lift.law, because=lift.because, **let_in)
        for decision in work.permits:
            self._emitter.emit(
                "permit_checked",
                task=task,
                plane=decision.plane,
                gate=decision.gate,
                decision="allow" if decision.allowed else "deny",
                why=decision.why,
            )
        self._attached(task, None, work)

    def _attached(self, task: str, item: int | None, work: Work) -> None:
        for kind, fields in work.attached:
            self._emitter.emit(kind, task=task, item=item, **fields)

    def _succeeded(
        self, planned: TaskPlan, note: str, outcome: Outcome, work: Work, identity: Identity | Fault
    ) -> None:
        task = planned.task.id
        if outcome.error is not None:
            self._emitter.emit("task_recovered", task=task, code=outcome.error.code)
        self._emitter.emit(
            "task_completed",
            task=task,
            note=note,
            duration_ms=_duration(work) or 0,
            attempts=outcome.attempts,
            **work.times(),
            **work.figures(),
            **keeping.success(self._mask, identity, outcome.value),
            **keeping.cleanup(self._mask, planned, outcome),
            outcome=self._outcome(outcome),
            files_seen=self._files(work.files),
        )

    def _failed(self, planned: TaskPlan, note: str, outcome: Outcome, work: Work) -> None:
        self._emitter.emit(
            "task_failed",
            task=planned.task.id,
            note=note,
            detail=_detail(outcome.error),
            duration_ms=_duration(work) or 0,
            attempts=outcome.attempts,
            **work.times(),
            **work.figures(),
            **keeping.cleanup(self._mask, planned, outcome),
            outcome=self._outcome(outcome),
        )

    def _called_off(self, task: str, outcome: Outcome, work: Work) -> None:
        self._emitter.emit(
            "task_cancelled",
            task=task,
            note=note_of(outcome),
            **work.figures(),
            outcome=self._outcome(outcome),
        )

    def _skipped_on_error(self, planned: TaskPlan, outcome: Outcome, work: Work) -> None:
        self._emitter.emit(
            "task_skipped",
            task=planned.task.id,
            note="on_error · skip",
            detail=_detail(outcome.error),
            **work.times(),
            **work.figures(),
            **keeping.cleanup(self._mask, planned, outcome),
            outcome=self._outcome(outcome),
        )

    def before_start(self, planned: TaskPlan, stage: str, outcome: Outcome) -> None:
        """A task that failed at its boundary: nothing was dispatched."""
        self._emitter.emit(
            "task_failed",
            task=planned.task.id,
            note=stage,
            detail=_detail(outcome.error),
            **keeping.cleanup(self._mask, planned, outcome),
            outcome=self._outcome(outcome),
        )

    def carried(self, planned: TaskPlan, outcome: Outcome, work: Work) -> None:
        """An end of an earlier run that still stands: after the answer to a pause, or a cleanup's."""
        failed = outcome.status == "failure"
        when = "earlier" if planned.task.is_cleanup else "before the pause"
        self._emitter.emit(
            "task_failed" if failed else "task_skipped",
            task=planned.task.id,
            note=f"{'failed' if failed else 'skipped'} {when}",
            detail=_detail(outcome.error),
            **work.times(),
            **keeping.cleanup(self._mask, planned, outcome),
            outcome=self._outcome(outcome),
        )

    def failed_open(self, task: str, item: int | None, work: Work) -> None:
        """A unit that failed, and whose recovery waits for what is asked: it has not settled."""
        failed = Outcome("failure", "verb_error", error=work.failed, attempts=work.attempts)
        decided = [[one.plane, one.gate, one.allowed, one.why] for one in work.permits]
        self._emitter.emit(
            "nb_failed_open",
            task=task,
            item=item,
            status="failure",
            detail=_detail(self._without_secrets(work.failed)),
            **work.keys,
            **work.times(),
            decided=dumps(self._mask.mask(decided)) if decided else None,
            outcome=self._outcome(failed),
        )

    def fans_out(self, task: str, total: int) -> None:
        """For those who watch: how many items there are."""
        self._emitter.live("live_progress", task=task, done=0, total=total)

    def skipped(self, planned: TaskPlan, note: str, when: str | None, outcome: Outcome) -> None:
        self._emitter.emit(
            "task_skipped", task=planned.task.id, note=note, when=when, outcome=self._outcome(outcome)
        )

    def cancelled(self, task: str, note: str, blocked_by: str | None, outcome: Outcome) -> None:
        self._emitter.emit(
            "task_cancelled", task=task, note=note, blocked_by=blocked_by, outcome=self._outcome(outcome)
        )

    def cache_hit(self, planned: TaskPlan, outcome: Outcome, identity: Identity | Fault, hit: Hit) -> None:
        self._emitter.emit(
            "task_cache_hit",
            task=planned.task.id,
            note="cache hit (resume)",
            **keeping.success(self._mask, identity, outcome.value),
            **keeping.cleanup(self._mask, planned, outcome),
            outcome=self._outcome(outcome),
            matched=dumps({"trace": hit.trace, "frame": hit.frame}),
            saved_ms=hit.duration_ms,
            saved_tokens=hit.tokens,
            saved_usd=hit.cost_usd,
            started_ns=hit.started,
            ended_ns=hit.ended,
            **self._since(hit),
        )

    def item(
        self,
        task: str,
        index: int,
        outcome: Outcome,
        work: Work,
        identity: Identity | Fault,
        hit: Hit | None = None,
    ) -> None:
        """One settled item of a fan-out, ran or recalled."""
        succeeded = outcome.status == "success"
        keys = keeping.success(self._mask, identity, outcome.value) if succeeded else hashes(identity)
        self._attached(task, index, work)
        self._emitter.emit(
            "nb_item_completed",
            task=task,
            item=index,
            status=outcome.status,
            duration_ms=_duration(work),
            attempts=outcome.attempts,
            **usage_fields(work.usages),
            child=work.child,
            **keys,
            outcome=self._outcome(outcome),
            matched=dumps({"trace": hit.trace, "frame": hit.frame}) if hit else None,
            saved_ms=hit.duration_ms if hit else None,
            saved_tokens=hit.tokens if hit else None,
            saved_usd=hit.cost_usd if hit else None,
            **(self._since(hit) if hit else {"files_seen": self._files(work.files)}),
        )

    def _files(self, files: Mapping[str, Mark]) -> str | None:
        told = {name: list(mark) for name, mark in files.items() if not self._mask.found(name)}
        return dumps(told) if told else None

    def _since(self, hit: Hit) -> dict[str, Any]:
        """What a recalled success was made from. Once a file has changed the moment to compare with stays."""
        changed = self._seen.changed(hit)
        return {
            "files_seen": self._files(hit.files),
            "files_changed": dumps(list(changed)) if changed else None,
            "files_as_of_ns": hit.as_of if changed else None,
        }

    def digest(self, value: Any) -> str | None:
        """The digest of a value as a journal may hold it: from one a secret can be guessed."""
        return None if self._mask.found(value) else digest(portable(value))

    def output_text(self, outputs: dict[str, Any] | None) -> str | None:
        """The workflow's outputs as a journal may hold them; None where it must not."""
        if outputs is None or holds_bytes(outputs) or self._mask.found(outputs):
            return None
        return dumps(outputs)

    def _outcome(self, outcome: Outcome) -> str:
        """The outcome as text, without bytes and without secrets."""
        value = "bytes" if holds_bytes(outcome.value) else self._mask.mask(outcome.value)
        return replace(outcome, value=value, error=self._without_secrets(outcome.error)).to_text()

    def _without_secrets(self, error: TaskError | None) -> TaskError | None:
        if error is None:
            return None
        message, details = self._mask.mask([error.message, error.details])
        return replace(error, message=message, details=details)


def note_of(outcome: Outcome) -> str:
    """Why a task was cancelled, as the console shows it."""
    return "over budget" if outcome.cause == "budget" else outcome.cause


def _detail(error: TaskError | None) -> str | None:
    return f"{error.code} · {error.message}" if error else None


def _duration(work: Work) -> int | None:
    if work.started is None or work.ended is None:
        return None
    return max(0, (work.ended - work.started) // 10**6)
