"""Events → the lines of one journal: paged where large, each bound to the one before it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from nika_nb.catalog.frames import LINE_BOUND, LIVE_ONLY
from nika_nb.engine.events import Event
from nika_nb.trace.frame import GENESIS_CHAIN, encode, link
from nika_nb.trace.paging import paged_output
from nika_nb.values import dumps

_CLIPS = (4096, 256)  # characters that stay of a text that makes a line too long, tried in turn
_EXACT = frozenset({"output", "outputs", "input_values", "text"})  # what a resume gives back is never cut


class Chain:
    """The hash chain of one journal or stream.

    run: this invocation's id; correlation: the durable run's. head: the hash of the last line, None
    before the first. events: how many there are.
    """

    def __init__(self, run: str | None = None, correlation: str | None = None) -> None:
        self.run = run
        self.correlation = correlation
        self.head: str | None = None
        self.events = 0

    def lines(self, event: Event) -> Iterator[tuple[Event, bytes]]:
        """The lines of an event, without newlines, each with the event it holds; none of a live-only one.

        Raises ValueError for an event that fits no line.
        """
        if event.kind in LIVE_ONLY:
            return
        for part in paged_output(event):
            line = self._line(part)
            self.head = link(line)
            self.events += 1
            yield part, line

    def _line(self, event: Event) -> bytes:
        line = self._encode(event)
        for limit in _CLIPS:
            if len(line) <= LINE_BOUND:
                return line
            line = self._encode(_clipped(event, limit))
        if len(line) > LINE_BOUND:
            raise ValueError(f"a {event.kind} frame is {len(line)} bytes and fits no line")
        return line

    def _encode(self, event: Event) -> bytes:
        return encode(event, self.head or GENESIS_CHAIN, self.run, self.correlation)


def _clipped(event: Event, limit: int) -> Event:
    """The event with its long texts cut: for what even paging leaves too long, such as a message."""
    fields = {
        key: value if key in _EXACT else _clip_field(value, limit) for key, value in event.fields.items()
    }
    return replace(event, fields=fields)


def _clip_field(value: Any, limit: int) -> Any:
    """JSON text stays JSON text, with the texts inside it cut; any other text is cut itself."""
    if not isinstance(value, str) or len(value) <= limit:
        return value
    try:
        inner = dumps(_clip(json.loads(value), limit))
    except (ValueError, RecursionError):
        return _clip(value, limit)
    return inner if len(inner) < LINE_BOUND // 4 else _clip(value, limit)


def _clip(value: Any, limit: int) -> Any:
    if isinstance(value, str) and len(value) > limit:
        return f"{value[:limit]}… ({len(value) - limit} characters more)"
    if isinstance(value, list):
        return [_clip(item, limit) for item in value]
    if isinstance(value, dict):
        return {key: _clip(item, limit) for key, item in value.items()}
    return value
