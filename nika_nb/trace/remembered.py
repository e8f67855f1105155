"""What one trace says about each of its tasks, folded frame by frame."""

from __future__ import annotations

from dataclasses import dataclass, field

from nika_nb.trace.child import Child
from nika_nb.trace.fields import names_of
from nika_nb.trace.frame import Frame
from nika_nb.values import LEVELS, Json, loads, too_deep

_UNPARSEABLE = "output not parseable"


@dataclass(frozen=True, slots=True)
class Record:
    """A usable success: the keys it is recognised by and what it gives back."""

    frame: Frame
    def_hash: str
    input_hash: str
    output: Json

    @property
    def keys(self) -> tuple[str, str]:
        return self.def_hash, self.input_hash


@dataclass
class Remembered:
    """Everything one trace says about one task.

    usable, keyless and unparseable count its recorded successes, those of its items included.
    """

    record: Record | None = None
    items: dict[tuple[str, str], dict[int, Record]] = field(default_factory=dict)  # by keys, by index
    by_index: dict[int, Record] = field(default_factory=dict)
    last: Frame | None = None  # its last terminal frame
    item_ends: dict[int, Frame] = field(default_factory=dict)
    flying: dict[int | None, Frame] = field(default_factory=dict)  # verb_invoked without an end
    began: bool = False  # its verb was invoked, here or in what was recalled
    failed_open: dict[int | None, Frame] = field(default_factory=dict)  # what only has to recover
    owed_to: frozenset[str] = frozenset()  # of a cleanup: who had worked, and it was still due at a pause
    why: str = ""  # why the last success cannot be used
    said: str | None = None  # the output text of that one
    children: dict[int | None, Child] = field(default_factory=dict)  # what a called workflow said, by item
    usable: int = 0
    keyless: int = 0
    unparseable: int = 0

    def take(self, frame: Frame, text: str | None) -> None:
        """Takes a frame of this task in, given the whole text of its output."""
        item = frame.get("item") if isinstance(frame.get("item"), int) else None
        match frame.kind:
            case "verb_invoked":
                self.began = True
                self.flying[item] = frame
            case "nb_child" if text is not None:
                self.children.setdefault(item, Child()).take(frame, text)
            case "task_retrying":
                self.flying.pop(item, None)
            case "nb_owed":
                self.owed_to = frozenset(names_of(frame.get("worked")))
            case "nb_failed_open":
                self.flying.pop(item, None)
                self.failed_open[item] = frame
            case "nb_item_completed":
                self._take_item(frame, item, text)
            case "task_completed" | "task_cache_hit":
                self._take_success(frame, text)
            case "task_failed" | "task_skipped" | "task_cancelled":
                self.last = frame
                self.flying.clear()

    def _take_success(self, frame: Frame, text: str | None) -> None:
        self.last = frame
        self.began = True
        self.flying.clear()
        found = _record(frame, text)
        if isinstance(found, Record):
            self.record = found
            self.usable += 1
        else:
            self.why, self.said = found, text
            self._count_lost(found, frame)

    def _take_item(self, frame: Frame, item: int | None, text: str | None) -> None:
        self.flying.pop(item, None)
        if item is None:
            return
        self.began = True
        self.item_ends[item] = frame
        if frame.get("status") != "success":
            return
        found = _record(frame, text)
        if isinstance(found, Record):
            self.items.setdefault(found.keys, {})[item] = found
            self.by_index[item] = found
            self.usable += 1
        else:
            self._count_lost(found, frame)

    def _count_lost(self, why: str, frame: Frame) -> None:
        if why == _UNPARSEABLE:
            self.unparseable += 1
        elif "def_hash" not in frame.fields:  # a cleanup has that one alone, and needs no other
            self.keyless += 1


def _record(frame: Frame, text: str | None) -> Record | str:
    """The usable success in a frame, or why it cannot be used again."""
    keys = frame.get("def_hash"), frame.get("input_hash")
    if not isinstance(keys[0], str) or not isinstance(keys[1], str):
        return "recorded without keys"
    try:
        output = loads(text if text is not None else "")
    except (ValueError, RecursionError):
        return _UNPARSEABLE
    if too_deep(output, LEVELS + 1):  # a fan-out stands one level above its items
        return _UNPARSEABLE
    return Record(frame, keys[0], keys[1], output)
