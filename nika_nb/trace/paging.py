"""Evidence that is too large for one line: cut into pages on the way in, joined on the way out."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import pairwise
from typing import Any
from uuid import UUID

from nika_nb.catalog.frames import LINE_BOUND, PAGE_BOUND
from nika_nb.engine.events import Event
from nika_nb.trace.frame import Frame
from nika_nb.values import dumps, dumps_sorted

PAGE = "nb_output_page"
INPUT_PAGE = "nb_input_page"  # follows the prologue, which has to be the first line
PROMPT_PAGE = "nb_prompt_page"  # stands before the pause, which has to be the last line

_ROOM = LINE_BOUND // 2  # bytes that the prompts of a pause may take up in its line

# Which field of which kind may be paged, and the field that then says how many pages stand for it.
PAGED = {
    "task_completed": ("output", "output_pages"),
    "task_cache_hit": ("output", "output_pages"),
    "nb_item_completed": ("output", "output_pages"),
    "workflow_completed": ("outputs", "outputs_pages"),
    "nb_child": ("event", "event_pages"),
}


def pages(text: str, bound: int = PAGE_BOUND) -> list[str]:
    """The text in pieces of at most `bound` bytes of UTF-8, no code point split; at least one piece.

    JSON escaping makes a piece at most six times as long, so a page of PAGE_BOUND always fits a line.
    """
    data = text.encode("utf-8", "replace")
    cuts = [0]
    while cuts[-1] < len(data):
        cuts.append(_cut(data, cuts[-1] + bound))
    pieces = [data[start:end].decode("utf-8") for start, end in pairwise(cuts)]
    return pieces or [""]


def _cut(data: bytes, at: int) -> int:
    if at >= len(data):
        return len(data)
    while data[at] & 0xC0 == 0x80:  # a continuation byte: the code point began earlier
        at -= 1
    return at


def paged_output(event: Event) -> list[Event]:
    """The event itself, or `nb_output_page` events followed by the event without its large output.

    The outcome of a paged event keeps class, cause and attempts; its value is what the pages hold.
    Large `input_values` of a prologue follow it as `nb_input_page` events; `prompts` of a pause for which a
    line has no room come before it as `nb_prompt_page` events.
    """
    if event.kind == "workflow_started":
        return _paged_inputs(event)
    if event.kind == "workflow_paused":
        return _paged_prompts(event)
    if event.kind not in PAGED:
        return [event]
    name, count = PAGED[event.kind]
    text, outcome = _large(event, name)
    if text is None:
        return [event]
    pieces = pages(text, PAGE_BOUND)
    fields = {key: value for key, value in event.fields.items() if key not in (name, "outcome")}
    fields[count] = len(pieces)
    if outcome is not None:
        fields["outcome"] = outcome
    whose: dict[str, Any] = {key: event.fields[key] for key in ("task", "item") if key in event.fields}
    return [*_page_events(event, PAGE, pieces, whose), replace(event, fields=fields)]


def _paged_inputs(event: Event) -> list[Event]:
    text = event.get("input_values")
    if not _is_large(text):
        return [event]
    pieces = pages(text, PAGE_BOUND)
    fields = {key: value for key, value in event.fields.items() if key != "input_values"}
    first = replace(event, fields=fields | {"input_pages": len(pieces)})
    return [first, *_page_events(event, INPUT_PAGE, pieces, {})]


def _paged_prompts(event: Event) -> list[Event]:
    text = event.get("prompts")
    if not isinstance(text, str) or _size(dumps(text)) <= _ROOM:
        return [event]
    pieces = pages(text, PAGE_BOUND)
    fields = {key: value for key, value in event.fields.items() if key != "prompts"}
    pause = replace(event, fields=fields | {"prompt_pages": len(pieces)})
    return [*_page_events(event, PROMPT_PAGE, pieces, {}), pause]


def _page_events(event: Event, kind: str, pieces: list[str], whose: dict[str, Any]) -> list[Event]:
    return [
        Event(kind, whose | {"page": n, "pages": len(pieces), "text": piece}, event.at, _page_id(event.id, n))
        for n, piece in enumerate(pieces)
    ]


def _large(event: Event, name: str) -> tuple[str | None, str | None]:
    """The text to be paged (None: nothing is) and the outcome that stays in the frame."""
    text, outcome = event.get(name), event.get("outcome")
    if not _is_large(text) and not _is_large(outcome):
        return None, None
    if outcome is None:
        return text, None
    shape = json.loads(outcome)
    if "value" not in shape["payload"]:  # a large error: nothing a resume gives back
        return None, None
    value = shape["payload"].pop("value")
    return text if isinstance(text, str) else dumps_sorted(value), dumps_sorted(shape)


def _is_large(text: Any) -> bool:
    return isinstance(text, str) and len(text) * 4 > PAGE_BOUND and _size(text) > PAGE_BOUND


def _size(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "replace"))


def _page_id(event_id: str, page: int) -> str:
    """A UUIDv7 of the event's own millisecond, made from its id: the same journal twice."""
    if not event_id:
        return ""
    noise = bytearray(hashlib.sha256(f"{event_id}/{page}".encode()).digest()[:16])
    noise[:6] = UUID(event_id).bytes[:6]
    noise[6] = noise[6] & 0x0F | 0x70
    noise[8] = noise[8] & 0x3F | 0x80
    return str(UUID(bytes=bytes(noise)))


class Asking:
    """Follows the frames of a journal in order and gives a pause back with every prompt in it."""

    def __init__(self) -> None:
        self.pages: list[str] = []  # of a pause that has not come yet

    def whole(self, frame: Frame) -> Frame:
        """The frame itself; a pause whose prompts stand in pages as if they stood in it."""
        if frame.kind == PROMPT_PAGE:
            self.pages.append(str(frame.get("text", "")))
            return frame
        found, self.pages = self.pages, []
        if frame.kind == "workflow_paused" and found and len(found) == frame.get("prompt_pages"):
            return replace(frame, fields=frame.fields | {"prompts": "".join(found)})
        return frame


class Joiner:
    """Follows the frames of a journal in order and gives every large text back whole."""

    def __init__(self) -> None:
        self._open: dict[tuple[Any, Any], list[str]] = {}

    def feed(self, frame: Frame) -> None:
        """Takes a page in; other kinds are ignored."""
        if frame.kind != PAGE:
            return
        held = self._open.setdefault((frame.get("task"), frame.get("item")), [])
        if frame.get("page") == 0:
            held.clear()
        held.append(str(frame.get("text", "")))

    def text(self, frame: Frame) -> str | None:
        """The frame's output text, from the frame or from its pages; None when it holds none whole."""
        name, count = PAGED.get(frame.kind, ("output", "output_pages"))
        if count not in frame.fields:
            inline = frame.get(name)
            return inline if isinstance(inline, str) else None
        held = self._open.pop((frame.get("task"), frame.get("item")), [])
        return "".join(held) if len(held) == frame.get(count) else None


def with_texts(frames: Iterable[Frame]) -> Iterator[tuple[Frame, str | None]]:
    """Every frame that is not a page, with its whole output text where it has one."""
    joiner = Joiner()
    for frame in frames:
        if frame.kind == PAGE:
            joiner.feed(frame)
        else:
            yield frame, joiner.text(frame) if frame.kind in PAGED else None
