"""One run looked at: its summary, what it asks, what came of it; and a bounded piece of its trace."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from nika_nb.engine.contract import Prompt
from nika_nb.runs.heads import Head
from nika_nb.runs.lack import Lack
from nika_nb.runs.records import Checkpoint, Record, Summary, moment
from nika_nb.trace.fields import shape_of
from nika_nb.trace.frame import Frame
from nika_nb.trace.memory import JournalMemory
from nika_nb.trace.reader import frames, read
from nika_nb.trace.trace import State, Trace
from nika_nb.values import dumps

_MOST_BYTES = 4 << 20  # JSON bytes of one slice of a trace, whatever its limit


@dataclass(frozen=True, slots=True)
class Unrunnable:
    """What a start answers where something is missing: there is no run, no id and no file."""

    diagnostics: tuple[Lack, ...]
    status: Literal["unrunnable"] = "unrunnable"
    run_id: None = None

    def to_json(self) -> dict[str, Any]:
        return asdict(self) | {"diagnostics": [lack.to_json() for lack in self.diagnostics]}


@dataclass(frozen=True, slots=True, repr=False)
class TracePiece:
    """A piece of the frames of a run, counted from 0 over all its invocations.

    truncated: there are more behind it. Each frame is {index, trace, line, kind, id, timestamp, fields}.
    """

    start: int
    limit: int
    truncated: bool
    frames: tuple[dict[str, Any], ...]

    def __repr__(self) -> str:
        more = ", more behind" if self.truncated else ""
        return f"{len(self.frames)} frames from {self.start} on{more}"

    def to_json(self) -> dict[str, Any]:
        return {
            "trace_start": self.start,
            "trace_limit": self.limit,
            "trace_truncated": self.truncated,
            "frames": list(self.frames),
        }


@dataclass(frozen=True, slots=True, repr=False)
class Inspection:
    """A run as an operation returns it.

    state: of the newest invocation; running and incomplete are no status. prompts: what an
    interrupted run asks. output: what a completed one returned. error: what a failed one failed of,
    {code, message, task}. diagnostics: what a resume would be refused for. in_flight: what had begun and
    not ended when an incomplete one broke off. trace_count: how many frames there are to read. notices:
    what was said when it was started or resumed just now. trace: a piece of its frames, only where one
    was asked for.
    """

    summary: Summary
    state: State
    trace_count: int
    prompts: tuple[Prompt, ...] = ()
    output: dict[str, Any] | None = None
    error: dict[str, Any] | None = None
    diagnostics: tuple[Lack, ...] = ()
    checkpoint: Checkpoint | None = None
    in_flight: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()
    trace: TracePiece | None = None

    def __repr__(self) -> str:
        from nika_nb.runs.lines import described  # which draws what is declared here

        return "\n".join(described(self))

    @property
    def run_id(self) -> str:
        return self.summary.run_id

    @property
    def status(self) -> str | None:
        """interrupted, completed or failed; None while the run has not stopped."""
        return self.summary.status

    @property
    def outcome(self) -> str | None:
        """The status, or `cancelled` of a run that failed by being cancelled."""
        return self.summary.outcome

    @property
    def resume_readiness(self) -> str:
        """ready, blocked or not_applicable."""
        return self.summary.resume_readiness

    def to_json(self) -> dict[str, Any]:
        """Everything but what is empty of its kind: only a failed run has an error."""
        shape = self.summary.to_json() | {"state": self.state, "trace_count": self.trace_count}
        shape["diagnostics"] = [lack.to_json() for lack in self.diagnostics]
        found = {
            "prompts": [prompt.to_json() | {"key": prompt.key} for prompt in self.prompts],
            "output": self.output,
            "error": self.error,
            "checkpoint": self.checkpoint.to_json() if self.checkpoint else None,
            "in_flight": list(self.in_flight),
            "notices": list(self.notices),
        }
        shape |= {name: value for name, value in found.items() if value not in (None, [])}
        return shape | (self.trace.to_json() if self.trace else {})


def inspected(record: Record, folder: Path) -> Inspection:
    """What a record and its newest trace tell; not whether an interrupted run could go on right now."""
    trace = read(folder / record.latest.name)
    earlier = sum(sum(1 for _ in frames(folder / head.name)) for head in record.invocations[:-1])
    state = trace.state
    return Inspection(
        summary=record.summary,
        state=state,
        trace_count=earlier + len(trace.frames),
        prompts=trace.prompts,
        output=trace.outputs if state == "completed" else None,
        error=_error(trace) if state == "failed" else None,
        checkpoint=record.checkpoints[-1] if record.checkpoints else None,
        in_flight=_in_flight(trace) if state == "incomplete" else (),
    )


def piece(record: Record, folder: Path, start: int, limit: int) -> TracePiece:
    """Frames `start` to `start + limit`; fewer where they would be more than 4 MiB. The range is judged."""
    found: list[dict[str, Any]] = []
    size = count = 0
    for name, frame in _frames(record.invocations, folder):
        if start <= count < start + limit and size < _MOST_BYTES:
            shape = _shape(count, name, frame)
            size += len(dumps(shape))
            found.append(shape)
        count += 1
    return TracePiece(start, limit, start + len(found) < count, tuple(found))


def _frames(invocations: Sequence[Head], folder: Path) -> Iterator[tuple[str, Frame]]:
    for head in invocations:
        for frame in frames(folder / head.name):
            yield head.name, frame


def _shape(index: int, trace: str, frame: Frame) -> dict[str, Any]:
    return {
        "index": index,
        "trace": trace,
        "line": frame.line,
        "kind": frame.kind,
        "id": frame.id,
        "timestamp": moment(frame.timestamp),
        "fields": frame.fields,
    }


def _error(trace: Trace) -> dict[str, Any]:
    """The first failure that no `on_error` took, else what the run itself says."""
    for frame in trace.frames:
        outcome = shape_of(frame.get("outcome")) if frame.kind == "task_failed" else {}
        error = outcome.get("payload", {}).get("error")
        if isinstance(error, dict):
            return {"code": error.get("code"), "message": error.get("message"), "task": frame.get("task")}
    detail = str(trace.end.get("detail") or "") if trace.end else ""
    code, sign, message = detail.partition(" · ")
    return {"code": code if sign else None, "message": message if sign else detail, "task": None}


def _in_flight(trace: Trace) -> tuple[str, ...]:
    flying = JournalMemory(trace).running_at_crash()
    return tuple(left.key for left in flying)
