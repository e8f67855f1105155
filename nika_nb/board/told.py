"""What a frame tells of a task, an item or a called workflow's task: its name, how it settled, its output."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from nika_nb.board.rows import State
from nika_nb.engine.contract import unit_key
from nika_nb.trace.child import CHILD, nested
from nika_nb.trace.fields import inner, shape_of
from nika_nb.trace.frame import Frame
from nika_nb.values import loads

_ITEM = "nb_item_completed"
_AT_WORK = frozenset({"verb_invoked", "task_started"})
_STATES: dict[str, State] = {
    "task_completed": "ok", "task_cache_hit": "cached", "task_failed": "failed",
    "task_skipped": "skipped", "task_cancelled": "cancelled",
}  # fmt: skip
_OF_ITEM: dict[str, State] = {
    "success": "ok", "failure": "failed", "skipped": "skipped", "cancelled": "cancelled",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Told:
    """A frame, or what an `nb_child` frame holds of the called workflow's.

    name: as answers are written (`ask`, `fan[3]`, `call/ask`), empty where it is about no task. fine: it
    is an item's or a called workflow's. text: the whole output as JSON text, None where there is none.
    """

    name: str
    kind: str
    fields: Mapping[str, Any]
    fine: bool
    text: str | None

    @property
    def state(self) -> State | None:
        """How the task or the item settled; None for a frame that settles nothing."""
        if not self.name:
            return None
        if self.kind == _ITEM:
            state = _OF_ITEM.get(str(self.fields.get("status")))
            return "cached" if state == "ok" and self.fields.get("matched") else state
        return _STATES.get(self.kind)

    @property
    def at_work(self) -> bool:
        """Whether it witnesses that work went on."""
        return self.kind in _AT_WORK

    @property
    def has_output(self) -> bool:
        return self.state in ("ok", "cached") and (self.text is not None or "value" in self._payload)

    @property
    def output(self) -> Any:
        """The value, secrets blotted out as the journal has them; as text where it is no JSON."""
        if self.text is None:
            return self._payload.get("value")
        try:
            return loads(self.text)
        except (ValueError, RecursionError):
            return self.text

    @property
    def error(self) -> dict[str, Any] | None:
        """The typed record of what went wrong, where something did."""
        return inner(self._payload, "error") or None

    @property
    def recovered_from(self) -> dict[str, Any] | None:
        """The same of what a success recovered from."""
        return inner(self._payload, "recovered_from") or None

    @property
    def _payload(self) -> dict[str, Any]:
        return inner(shape_of(self.fields.get("outcome")), "payload")


def told(frame: Frame, text: str | None) -> Told:
    """text: the frame's large text whole, as `paging.Joiner` gives it."""
    if frame.kind != CHILD:
        name = named(frame.get("task"), frame.get("item"))
        return Told(name, frame.kind, frame.fields, frame.kind == _ITEM, text)
    calls, kind, fields = nested(frame, text or "") or ([], "", {})
    way = [named(task, item) for task, item in calls]
    below = named(fields.get("task"), fields.get("item"))
    output = fields.get("output")
    name = "/".join([*way, below]) if below else ""
    return Told(name, kind, fields, True, output if isinstance(output, str) else None)


def named(task: Any, item: Any) -> str:
    """`ask`, or `ask[3]` for an item of it; empty where that is no task."""
    if not isinstance(task, str):
        return ""
    return unit_key(task, item)
