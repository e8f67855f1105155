"""A called workflow's own journal, taken out of its caller's."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from nika_nb.trace.frame import Frame
from nika_nb.trace.trace import Trace
from nika_nb.values import dumps, loads

CHILD = "nb_child"
DEEPEST = 64  # calls within calls that are followed: far more than may be made, and no endless way down


@dataclass
class Child:
    """The frames of the last attempt at one call, in their order."""

    attempt: Any = None
    frames: list[Frame] = field(default_factory=list)

    def take(self, frame: Frame, text: str) -> None:
        """Takes an `nb_child` frame in, given its whole text; what is not of its shape tells nothing."""
        event = event_of(frame, text)
        if event is None:
            return
        if frame.get("attempt") != self.attempt:
            self.attempt, self.frames = frame.get("attempt"), []
        self.frames.append(event)

    def trace(self, of: Trace) -> Trace:
        """The child's journal as a trace; its file and its head are those of the one it stands in."""
        return replace(of, frames=tuple(self.frames), lines=len(self.frames), torn=False, damage=None)


def nested(frame: Frame, text: str) -> tuple[list[tuple[str, Any]], str, dict[str, Any]] | None:
    """What an `nb_child` frame tells, given its whole text: where, the kind, the fields.

    Where: (task, item) of the call and of every call in it. None for what is not of that shape.
    """
    try:
        event = loads(text)
        below = loads(str(frame.get("within"))) if frame.get("within") is not None else []
        calls = [(frame.get("task"), frame.get("item")), *((task, item) for task, item, _ in below)]
        return [(str(task), item) for task, item in calls], str(event["kind"]), dict(event["fields"])
    except (KeyError, TypeError, ValueError, RecursionError):
        return None


def event_of(frame: Frame, text: str) -> Frame | None:
    """The event as the child's own journal would hold it: still one of a child where it is a grandchild's.

    None for what is not of its shape.
    """
    try:
        return _event(frame, text)
    except (KeyError, TypeError, ValueError, RecursionError):
        return None


def _event(frame: Frame, text: str) -> Frame:
    if frame.get("within") is None:
        event = loads(text)
        return replace(frame, kind=str(event["kind"]), fields=dict(event["fields"]))
    (task, item, attempt), *within = loads(str(frame.get("within")))
    if len(within) > DEEPEST:
        raise ValueError("no call is that deep")
    fields = {"task": task, "item": item, "attempt": attempt, "child": frame.get("child"), "event": text}
    return replace(frame, fields=fields | ({"within": dumps(within)} if within else {}))
