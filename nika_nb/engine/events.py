"""What the engine says while it works: one event per fact, in the shape of a journal frame."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Event:
    """A fact of the run.

    kind: a frame kind (`catalog.frames`) or a live-only kind.
    fields: ordered names and JSON values; values that are themselves serialized stay strings.
    at: unix nanoseconds by the run's clock. id: a UUIDv7 as text, empty for live-only kinds.
    """

    kind: str
    fields: dict[str, Any]
    at: int
    id: str = ""

    def get(self, name: str, default: Any = None) -> Any:
        return self.fields.get(name, default)


Sink = Callable[[Event], None]  # must not raise: a sink's trouble never changes the run
