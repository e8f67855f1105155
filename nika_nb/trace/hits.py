"""What a recorded frame gives back: a success to use again, or a failure that still stands."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from nika_nb.engine.contract import Permit
from nika_nb.engine.memory import Carried, Hit
from nika_nb.engine.outcome import Outcome, TaskError
from nika_nb.engine.seen import marks_of
from nika_nb.trace.fields import inner, json_in, list_of, shape_of, whole
from nika_nb.trace.frame import Frame
from nika_nb.trace.remembered import Record
from nika_nb.values import too_deep

_LATEST = 1 << 63  # unix ns beyond which nothing is a moment


def hit(record: Record, trace: str, as_of: int | None = None) -> Hit:
    """A success for a task to take. trace: the label of where it was found; as_of: when that had ended."""
    frame = record.frame
    payload = inner(shape_of(frame.get("outcome")), "payload")
    error, attempts = payload.get("recovered_from"), payload.get("attempts")
    return Hit(
        output=record.output,
        trace=trace,
        frame=frame.id,
        error=error if TaskError.of(error) else None,
        attempts=attempts if isinstance(attempts, int) else 1,
        duration_ms=_first(frame, "duration_ms", "saved_ms", int),
        tokens=_first(frame, "tokens", "saved_tokens", int),
        cost_usd=_first(frame, "cost_usd", "saved_usd", (int, float)),
        **_times(frame),
        files=marks_of(shape_of(frame.get("files_seen"))),
        as_of=whole(frame.get("files_as_of_ns")) or as_of,
    )


def came(frame: Frame, text: str | None, trace: str, as_of: int | None = None) -> Hit:
    """What a cleanup that succeeded had come to: null where its output was withheld, or cannot be read.

    text: its output as it stands in the frame or in pages; older engines kept it in the outcome alone.
    """
    if text is None and "def_hash" not in frame.fields:
        output = inner(shape_of(frame.get("outcome")), "payload").get("value")
    else:
        output = json_in(text)
    return hit(Record(frame, "", "", None if too_deep(output) else output), trace, as_of)


def carried(frame: Frame) -> Carried | None:
    """How a unit ended, for it to stay so; None where the frame does not tell."""
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
    started, ended = whole(frame.get("started_ns")), whole(frame.get("ended_ns"))
    if ended is not None and frame.get("started_ns") is None:  # its verb was never set to work
        return {"ended": ended} if 0 <= ended < _LATEST else {}
    if started is None or ended is None:
        ended, took = frame.timestamp, _first(frame, "duration_ms", "saved_ms", int)
        started = ended - took * 10**6 if took is not None else -1
    return {"started": started, "ended": ended} if 0 <= started <= ended < _LATEST else {}


def _first(frame: Frame, name: str, other: str, kind: Any) -> Any:
    """A figure of a live success, or what a cache hit says it saved."""
    value = frame.get(name, frame.get(other))
    return value if isinstance(value, kind) and not isinstance(value, bool) else None
