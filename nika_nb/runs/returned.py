"""What a run returned, and what became of each of its tasks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from nika_nb.board.clean import error_line
from nika_nb.board.rows import said
from nika_nb.engine.outcome import Outcome
from nika_nb.errors import RunFailed, RunPaused, RunUnfinished, UsageError
from nika_nb.runs.at_work import AtWork
from nika_nb.runs.session import Session
from nika_nb.trace.reader import read
from nika_nb.trace.trace import Trace
from nika_nb.values import Named, loads


@dataclass(frozen=True, slots=True)
class TaskResult:
    """What became of one task.

    state: success failure skipped cancelled cached paused running pending. output: its value, None
    unless it succeeded. error: the typed error record of a failure. duration_ms: of the verb run.
    attempts: how often its verb was run in this invocation, 0 where a record stood for it.
    """

    id: str
    state: str
    output: Any = None
    error: dict[str, Any] | None = None
    duration_ms: int | None = None
    attempts: int = 0


def outputs_of(work: AtWork, session: Session | None) -> dict[str, Any]:
    """What the workflow returned. Else raises RunUnfinished, RunPaused or RunFailed, one sentence."""
    state = work.state
    verdict = session.verdict if session else None
    if state == "completed":
        return _returned(session, verdict.outputs) if session and verdict else _written(work)
    if state == "paused":
        waiting = ", ".join(f"`{prompt.key}`" for prompt in work.prompts)
        raise RunPaused(
            f"`{work.workflow}` waits for an answer to {waiting}: it has no outputs yet; its form, or "
            "`run.answer(…)`, goes on with it"
        )
    if state == "running":
        raise RunUnfinished(f"`{work.workflow}` is still running: `run.wait()` waits for its outputs")
    raise RunFailed(f"`{work.workflow}` {_failure(work)}: it has no outputs")


def _returned(session: Session, outputs: Mapping[str, Any] | None) -> dict[str, Any]:
    """The outputs, without the secrets that may not leave with them."""
    inside = session.prepared.masker.inside
    return Named({name: inside.mask(value) for name, value in (outputs or {}).items()}, "output")


def _written(work: AtWork) -> dict[str, Any]:
    found = _recorded(work).outputs
    if found is None:
        raise RunFailed(f"the outputs of `{work.workflow}` are in no journal: a secret stands in them")
    return Named(found, "output")


def _failure(work: AtWork) -> str:
    if work.board.state != "failed":
        return "was cancelled" if work.board.state == "cancelled" else "never reached its end"
    first = next((row for row in work.board.rows.values() if row.state == "failed"), None)
    detail = error_line(first.detail if first else work.board.detail, 400)
    return f"failed at `{first.id}` ({detail})" if first else f"failed ({detail})"


def tasks_of(work: AtWork, session: Session | None) -> dict[str, TaskResult]:
    """Every task by id, in document order; secrets are blotted out."""
    work.catch_up()
    outcomes = _outcomes(work, session)
    found = {row.id: _result(row, outcomes.get(row.id)) for row in work.board.tasks}
    return Named({name: _shown(session, result) for name, result in found.items()}, "task")


def _shown(session: Session | None, result: TaskResult) -> TaskResult:
    if session is None:
        return result
    output, error = session.prepared.masker.mask([result.output, result.error])
    return replace(result, output=output, error=error)


def _outcomes(work: AtWork, session: Session | None) -> dict[str, Outcome | dict[str, Any]]:
    if session is not None and session.verdict is not None:
        return dict(session.verdict.tasks)
    if work.trace is None:
        return {}
    found: dict[str, Outcome | dict[str, Any]] = {}
    for frame, text in _recorded(work).texts():
        outcome, task = frame.get("outcome"), frame.get("task")
        if isinstance(outcome, str) and isinstance(task, str) and frame.kind != "nb_item_completed":
            found[task] = _shape(outcome, text)
    return found


def _recorded(work: AtWork) -> Trace:
    if work.trace is None:
        raise UsageError(f"`{work.workflow}` wrote no trace")
    return read(work.trace)


def _shape(outcome: str, text: str | None) -> dict[str, Any]:
    """A recorded outcome with its value; empty where a strange file holds something else."""
    try:
        shape = loads(outcome)
        if text is not None:
            shape["payload"]["value"] = loads(text)
        return {"payload": dict(shape["payload"])}
    except (ValueError, TypeError, KeyError, RecursionError):
        return {"payload": {}}


def _result(row: Any, outcome: Outcome | dict[str, Any] | None) -> TaskResult:
    output, error = _payload(outcome)
    return TaskResult(row.id, said(row.state), output, error, row.duration_ms, row.attempts)


def _payload(outcome: Outcome | dict[str, Any] | None) -> tuple[Any, dict[str, Any] | None]:
    if outcome is None:
        return None, None
    if isinstance(outcome, Outcome):
        error = outcome.error.to_json() if outcome.error else None
        return outcome.value, None if outcome.status == "success" else error
    payload = outcome["payload"]
    return payload.get("value"), payload.get("error")
