"""The one door through which the engine speaks: every event is masked, stamped and handed on."""

from __future__ import annotations

from typing import Any, Protocol

from nika_nb.engine.clock import Clock, Stamper
from nika_nb.engine.events import Event, Sink


class Mask(Protocol):
    """Hides resolved secret values."""

    def mask(self, value: Any) -> Any:
        """The value (text or nested JSON) with every secret replaced."""
        ...

    def found(self, value: Any) -> bool:
        """Whether a secret's value stands anywhere in it."""
        ...

    def reveals(self, value: Any) -> bool:
        """The same, where it is not by chance that a short one does."""
        ...


# Names, numbers and hashes of ours: masking them could only damage the journal.
_STRUCTURAL = frozenset(
    (
        *("task", "item", "kind", "attempt", "attempts", "max_attempts", "delay_ms", "duration_ms"),
        *("started_ns", "ended_ns", "files_as_of_ns"),
        *("pgid", "started", "page", "pages", "total", "done", "tokens", "cost_usd"),
        *("def_hash", "input_hash", "value_digest", "definition_parts", "input_parts", "shown_hash"),
        *("approval_shown_hash", "workflow_sha256", "semantic_hash", "trace_format", "engine_version"),
        *("decision", "plane", "status", "reason", "mode"),
        *("event", "within"),  # a called workflow's own frames: their fields are masked one by one
    )
)

# JSON text of values: masked before it was written, for as text nothing in it is found for sure and
# what is found breaks it. And JSON text of names, numbers and hashes of ours.
_WRITTEN = frozenset(
    (
        *("outcome", "output", "outputs", "input_values", "prompts", "choices", "matched", "child"),
        *("gates", "effects"),
        *("needs", "parts", "permits_json", "inputs", "pricing", "budget", "answered", "forced"),
        *("inputs_withheld", "answers", "approvals", "decided", "files_seen", "files_changed"),
    )
)

# What is masked as a whole before it is cut into pages.
_PAGED = frozenset({"nb_source_page"})


# What a reproducible journal cannot say: it is of this machine and this moment.
_MOMENTARY = frozenset({"pgid", "started"})


class Emitter:
    """Emits events; fields that are None are left out, and where it is timeless those of the moment."""

    def __init__(
        self, sink: Sink, clock: Clock, stamper: Stamper, mask: Mask, *, timeless: bool = False
    ) -> None:
        self._sink = sink
        self._clock = clock
        self._stamper = stamper
        self._mask = mask
        self._left_out = _MOMENTARY if timeless else frozenset()

    def emit(self, kind: str, **fields: Any) -> None:
        ident, at = self._stamper.stamp()
        self._sink(Event(kind, self._clean(kind, fields), at, ident))

    def live(self, kind: str, **fields: Any) -> None:
        """An event for those who watch, which no journal keeps."""
        self._sink(Event(kind, self._clean(kind, fields), self._clock.now()))

    def _clean(self, kind: str, fields: dict[str, Any]) -> dict[str, Any]:
        exact = kind in _PAGED
        return {
            name: value if exact or name in _STRUCTURAL or name in _WRITTEN else self._mask.mask(value)
            for name, value in fields.items()
            if value is not None and name not in self._left_out
        }
