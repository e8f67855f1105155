"""How a task ends: its class, its cause and what it carries (chapter 13's closed table)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from nika_nb.plan.gates import Status
from nika_nb.values import dumps_sorted

LEGAL: frozenset[tuple[str, str]] = frozenset(
    {
        ("success", "normal"),
        ("success", "recovered"),
        ("failure", "verb_error"),
        ("failure", "timeout"),
        ("failure", "retry_exhausted"),
        ("skipped", "gate"),
        ("skipped", "error_skip"),
        ("cancelled", "upstream"),
        ("cancelled", "operator"),
        ("cancelled", "budget"),
    }
)


# How people hear that a task ended, of ends that their class alone does not tell.
_BY_CAUSE = {
    "timeout": "timed out",
    "error_skip": "was skipped after an error",
    "upstream": "was blocked",
    "budget": "was over budget",
}
_BY_STATUS: dict[str, str] = {
    "success": "succeeded",
    "failure": "failed",
    "skipped": "was skipped",
    "cancelled": "was cancelled",
}


@dataclass(frozen=True, slots=True)
class TaskError:
    """The typed error record that expressions read at `tasks.X.error`."""

    code: str
    category: str
    message: str
    transient: bool = False
    details: dict[str, Any] = field(default_factory=dict)
    task_id: str = ""
    attempt: int = 1

    def to_json(self) -> dict[str, Any]:
        return {
            "code": self.code,
            "category": self.category,
            "message": self.message,
            "transient": self.transient,
            "details": self.details,
            "task_id": self.task_id,
            "attempt": self.attempt,
        }

    @classmethod
    def of(cls, shape: Any) -> TaskError | None:
        """The record that `to_json` has written, None for anything else."""
        kinds = {"code": str, "category": str, "message": str, "transient": bool, "details": dict}
        kinds |= {"task_id": str, "attempt": int}
        if not isinstance(shape, dict) or not shape.keys() <= kinds.keys():
            return None
        fits = all(isinstance(value, kinds[name]) for name, value in shape.items())
        return cls(**shape) if fits and {"code", "category", "message"} <= shape.keys() else None


@dataclass(frozen=True, slots=True)
class Outcome:
    """`value` only of a success; `error` of a failure, of an error-skip, and what was recovered from."""

    status: Status
    cause: str
    value: Any = None
    error: TaskError | None = None
    attempts: int = 1

    def __post_init__(self) -> None:
        if (self.status, self.cause) not in LEGAL:
            raise AssertionError(f"not a legal outcome: {self.status} by {self.cause}")

    @classmethod
    def of(cls, shape: Any) -> Outcome | None:
        """The failure, or the skip because of an error, that `to_text` has written; else None."""
        match shape:
            case {"class": "failure" | "skipped" as status, "cause": cause, "payload": {"error": record}}:
                error = TaskError.of(record)
                if error is not None and (status, cause) in LEGAL:
                    return cls(status, cause, error=error, attempts=error.attempt)
        return None

    @property
    def sentence(self) -> str:
        """`failed`, `timed out`, `was skipped`: how it ended, for those behind it."""
        return _BY_CAUSE.get(self.cause) or _BY_STATUS[self.status]

    def to_text(self) -> str:
        """The `outcome` field of a terminal frame: JSON text of class, cause and payload."""
        return dumps_sorted({"class": self.status, "cause": self.cause, "payload": self._payload()})

    def _payload(self) -> dict[str, Any]:
        error = self.error.to_json() if self.error else None
        match self.status:
            case "success":
                payload = {"value": self.value, "attempts": self.attempts}
                return payload | ({"recovered_from": error} if error else {})
            case "failure":
                return {"error": error, "attempts": self.attempts}
            case "skipped":
                return {"error": error} if error else {}
        return {"reason": self.cause}


def blocked_said(by: str, note: str) -> str:
    """`gate was skipped`: what kept a task from running, from the two fields of its frame.

    note: `upstream …`; older engines name the status there.
    """
    how = note.removeprefix("upstream ") if note.startswith("upstream ") else "failed"
    return f"{by} {_BY_STATUS.get(how, how)}"


def null_said(binding: str, producer: str, how: str = "was skipped") -> str:
    """`how reads null: ask was skipped`: the output of a task that gave none, as its reader has it."""
    return f"{binding} reads null: {producer} {how}"


_CALLED_OFF = {"operator": "the run was cancelled", "over budget": "the run is over its cap"}


def cancelled_said(note: str, how: str = "") -> str:
    """`stopped: the run was cancelled`: why a task did not come to its end, from the note of its frame.

    how: `stopped` where its verb had been set to work, else `not started`; empty where that is not told.
    """
    why = _CALLED_OFF.get(note)
    return note if why is None else f"{how}: {why}" if how else why
