"""One unit of work to its end: attempts with backoff, the timeout around them, contracts, recovery."""

from __future__ import annotations

import random
import traceback
from collections.abc import Awaitable, Callable
from pathlib import PurePath
from typing import Any

from nika_nb.catalog.codes import category_of, transient_of
from nika_nb.engine.budget import Budget
from nika_nb.engine.clock import Clock
from nika_nb.engine.contract import Asks, Call, Extractor, OverBudget, Reply, StaysOpen, Usage, Verbs
from nika_nb.engine.emit import Emitter
from nika_nb.engine.halt import Halt
from nika_nb.engine.located import decode, is_undecoded
from nika_nb.engine.outcome import Outcome, TaskError
from nika_nb.engine.places import Places
from nika_nb.engine.retries import backoff_ms, may_retry
from nika_nb.engine.seen import Seen
from nika_nb.engine.telling import Telling
from nika_nb.engine.work import Work, usage_fields
from nika_nb.errors import Fault, short_of
from nika_nb.language.model import OnError, Task
from nika_nb.language.types import TypeExpr
from nika_nb.plan.plan import TaskPlan
from nika_nb.values import LEVELS, too_deep

UNANSWERED_CODE = "NIKA-BUILTIN-PROMPT-001"

Recover = Callable[[], Awaitable[Any]]  # resolves `on_error.recover`; raises Fault


class Attempts:
    """Runs units; knows nothing of gates, memory or other tasks."""

    def __init__(
        self,
        verbs: Verbs,
        extractor: Extractor,
        clock: Clock,
        emitter: Emitter,
        chance: random.Random,
        base: str,
        budget: Budget,
        halt: Halt,
        places: Places,
        seen: Seen,
    ) -> None:
        self._verbs = verbs
        self._extractor = extractor
        self._clock = clock
        self._emitter = emitter
        self._chance = chance
        self._base = base
        self._budget = budget
        self._halt = halt
        self._places = places
        self._seen = seen

    async def unit(
        self,
        planned: TaskPlan,
        work: Work,
        body: Callable[[], dict[str, Any]],
        recover: Recover,
        item: int | None,
        owed: bool = False,
    ) -> tuple[Outcome, dict[str, Any]]:
        """The outcome and the named bindings. Raises Asks where a human has to answer first.

        Over the run's cap no further attempt and no further call of a model is begun, but for what is `owed`.

        A prompt that nobody can answer is a failure where the task handles that one; else it pauses.

        `body` renders the action; what it raises is the task's own failure and recoverable.
        """
        task = planned.task
        if work.failed is None:
            try:
                value, bindings = await self._timed(planned, work, body, item, owed)
            except OverBudget:
                return Outcome("cancelled", "budget"), {}
            except Fault as fault:
                error = error_of(self._places.fault(fault), task.id, max(work.attempts, 1))
            except TimeoutError:
                error = _timeout_error(task, max(work.attempts, 1))
            except Asks as asks:
                if not asks.unattended or not _handles(task.on_error, UNANSWERED_CODE):
                    raise
                if asks.call_off is not None:
                    await asks.call_off()
                error = error_of(_unanswered(asks), task.id, max(work.attempts, 1))
            except StaysOpen:
                raise
            except Exception as defect:  # noqa: BLE001 - it ends its task, so that the run still ends in order
                error = error_of(_defect(defect), task.id, max(work.attempts, 1))
            else:
                return Outcome("success", "normal", value, attempts=max(work.attempts, 1)), bindings
            work.failed = error
        return await self._after_failure(task, work, work.failed, recover)

    async def _timed(
        self,
        planned: TaskPlan,
        work: Work,
        body: Callable[[], dict[str, Any]],
        item: int | None,
        owed: bool,
    ) -> tuple[Any, dict[str, Any]]:
        task = planned.task
        if task.timeout_ms is None:
            return await self._tries(planned, work, body(), item, owed)
        async with self._clock.timeout(task.timeout_ms / 1000):
            return await self._tries(planned, work, body(), item, owed)

    async def _tries(
        self, planned: TaskPlan, work: Work, body: dict[str, Any], item: int | None, owed: bool
    ) -> tuple[Any, dict[str, Any]]:
        task = planned.task
        while True:
            await self._halt.heed(owed)
            work.attempts += 1
            paid, within = len(work.usages), not self._budget.crossed
            try:
                reply = await self._verbs.run(self._call(planned, work, body, item, owed))
                return await self._accepted(task, work, reply)
            except Fault as fault:
                if not may_retry(task.retry, fault, work.attempts) or not self._affords(owed):
                    raise
                await self._back_off(task, fault, work.attempts, item, work.usages[paid:])
                if not self._affords(owed):
                    raise
            finally:
                if within and self._budget.crossed:
                    work.warnings.append(self._budget.passed)

    def _affords(self, owed: bool) -> bool:
        """Whether the cap leaves something. Raises CancelledError where the run was ended."""
        self._halt.check(owed)
        return owed or not self._budget.crossed

    def _call(
        self, planned: TaskPlan, work: Work, body: dict[str, Any], item: int | None, owed: bool
    ) -> Call:
        task = planned.task
        telling = Telling(
            planned, item, work.attempts, work, self._emitter, self._clock, self._budget, self._places
        )
        return Call(
            task=task.id,
            item=item,
            attempt=work.attempts,
            verb=task.action.verb,
            body=_with_contract(task, body),
            base=self._base,
            witness=telling.witness,
            permit=telling.permit,
            show=telling.show,
            attach=work.attach,
            tell=telling.tell,
            spend=telling.spend,
            called=telling.called,
            now=self._clock.now,
            sleep=self._clock.sleep,
            chance=self._chance,
            lifts=frozenset(lift.law for lift in task.lift),
            affords=lambda: self._affords(owed),
            saw=lambda place: self._saw(work, place),
            halt=None if owed else self._halt,
        )

    def _saw(self, work: Work, place: str) -> None:
        marked = self._seen.mark(place)
        if marked is not None:
            work.see(*marked)

    async def _accepted(self, task: Task, work: Work, reply: Reply) -> tuple[Any, dict[str, Any]]:
        if reply.warning and reply.warning not in work.warnings:
            work.warnings.append(reply.warning)
        _hold("output", reply.output, task.returns if task.action.verb in ("exec", "invoke") else None)
        return reply.output, await self.bind(task, reply.output)

    async def bind(self, task: Task, output: Any) -> dict[str, Any]:
        """The named bindings of an output. Raises Fault NIKA-VAR-002/-004."""
        try:
            return await named(self._extractor, task, output)
        except Fault as fault:
            if not is_undecoded(task, output):
                raise
            raise Fault(fault.code, f"{fault.message}; {decode(task.id)}", details=fault.details) from None

    async def _back_off(
        self, task: Task, fault: Fault, attempt: int, item: int | None, usages: list[Usage]
    ) -> None:
        """Tells of the failed attempt, what it cost included, and waits before the next."""
        assert task.retry is not None
        delay = backoff_ms(task.retry, attempt, self._chance)
        self._emitter.emit(
            "task_retrying",
            task=task.id,
            item=item,
            attempt=attempt,
            max_attempts=task.retry.max_attempts,
            delay_ms=delay,
            code=fault.code,
            **usage_fields(usages),
        )
        await self._clock.sleep(delay / 1000)

    async def _after_failure(
        self, task: Task, work: Work, error: TaskError, recover: Recover
    ) -> tuple[Outcome, dict[str, Any]]:
        policy = task.on_error
        failed = Outcome("failure", _cause(task, error), error=error, attempts=error.attempt)
        if policy is None or not _handles(policy, error.code):
            return failed, {}
        if policy.skip:
            return Outcome("skipped", "error_skip", error=error, attempts=error.attempt), {}
        try:
            value = await recover()
        except Fault as fault:
            work.warnings.append(f"no recovery: {fault.message}")
            return failed, {}
        try:
            _hold("recovery", value, task.returns if value is not None else None)  # null: there is none
            bindings = await self.bind(task, value)
        except Fault as fault:
            message = f"{fault.message} (recovering from {error.code})"
            broken = error_of(Fault(fault.code, message, details=fault.details), task.id, error.attempt)
            return Outcome("failure", "verb_error", error=broken, attempts=error.attempt), {}
        return Outcome("success", "recovered", value, error, error.attempt), bindings


async def named(extractor: Extractor, task: Task, output: Any) -> dict[str, Any]:
    """What `extract:` names in an output. Raises Fault NIKA-VAR-002/-004."""
    bindings: dict[str, Any] = {}
    for name, program in task.extract.items():
        values = await extractor.values(program, output)
        if len(values) != 1:
            count = "no value" if not values else f"{len(values)} values"
            raise Fault(
                "NIKA-VAR-002",
                f"extract `{name}` produced {count} where exactly one is needed: "
                "collect with `[ … ]` or take `first(…)`",
            )
        bindings[name] = values[0]
    return bindings


def _hold(what: str, value: Any, contract: TypeExpr | None) -> None:
    """Raises Fault NIKA-TYPE-101 where a value cannot be the output of its task."""
    if too_deep(value):
        raise Fault("NIKA-TYPE-101", f"the {what} is nested deeper than {LEVELS} levels: flatten it")
    trouble = contract.conforms(value) if contract is not None else None
    if trouble:
        raise Fault("NIKA-TYPE-101", f"the {what} does not fit `returns:`: {trouble}")


def _handles(policy: OnError | None, code: str) -> bool:
    return policy is not None and (policy.on_codes is None or code in policy.on_codes)


def _unanswered(asks: Asks) -> Fault:
    return Fault(UNANSWERED_CODE, f"nobody can answer `{asks.prompt.key}`: {asks.prompt.message}")


def _with_contract(task: Task, body: dict[str, Any]) -> dict[str, Any]:
    """The body as dispatched: a typed contract reaches a model as its JSON Schema."""
    if task.returns is not None and task.action.verb in ("infer", "agent"):
        return body | {"schema": task.returns.schema}
    return body


def error_of(fault: Fault, task: str, attempt: int) -> TaskError:
    """The error record of a fault."""
    transient = transient_of(fault.code) if fault.transient is None else fault.transient
    return TaskError(
        fault.code, category_of(fault.code), fault.message, transient, fault.details, task, attempt
    )


def _defect(error: Exception) -> Fault:
    """What no workflow should be able to cause: told as it is, where it came up."""
    short = short_of(error)
    if short is not None:
        return Fault("NIKA-IMPL-001", short, details={"type": type(error).__name__})
    last = traceback.extract_tb(error.__traceback__)[-1]
    place = f"{PurePath(last.filename).name}:{last.lineno}"
    message = f"this is a defect of nika_nb, not of the workflow: {type(error).__name__}: {error} ({place})"
    return Fault("NIKA-IMPL-001", message, details={"type": type(error).__name__, "place": place})


def _timeout_error(task: Task, attempt: int) -> TaskError:
    message = f"`{task.id}` took longer than its timeout of {task.timeout_ms} ms and was ended"
    return TaskError("NIKA-TIMEOUT-001", "timeout_error", message, False, {}, task.id, attempt)


def _cause(task: Task, error: TaskError) -> str:
    if error.code == "NIKA-TIMEOUT-001":
        return "timeout"
    exhausted = (
        task.retry is not None and task.retry.max_attempts > 1 and error.attempt >= task.retry.max_attempts
    )
    return "retry_exhausted" if exhausted else "verb_error"
