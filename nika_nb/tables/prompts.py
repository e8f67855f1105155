"""The frames of one trace → a row per question to a human: asked and waiting, or decided and how."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from nika_nb.tables.columns import PROMPTS
from nika_nb.tables.values import value_of
from nika_nb.trace.child import CHILD, event_of
from nika_nb.trace.fields import list_of, said, whole
from nika_nb.trace.frame import Frame
from nika_nb.trace.paging import with_texts
from nika_nb.trace.trace import Prompt, prompts_of, unit_key, unit_of
from nika_nb.values import to_text

_HUMAN = ("answer", "resumed")  # sources
_LISTED = {"choices": " · ", "gates": ", ", "effects": ", "}  # and what stands between


def prompt_rows(frames: Iterable[Frame], running: bool) -> Iterator[tuple[Any, ...]]:
    """In the order in which they were decided, or asked."""
    fold = _Fold()
    for frame, text in with_texts(frames):
        fold.take(frame, text, "")
    return (tuple(row.get(column.name) for column in PROMPTS) for row in fold.rows)


class _Fold:
    def __init__(self) -> None:
        self.rows: list[dict[str, Any]] = []
        self._decided: dict[str, dict[str, Any]] = {}  # by key, until the prompt settles with its answer
        self._door: str | None = None

    def take(self, frame: Frame, text: str | None, above: str) -> None:
        """above: the call that the frame stands in, as keys name it."""
        task, item = frame.get("task"), whole(frame.get("item"))
        if frame.kind == "workflow_started" and not above:
            self._door = said(frame.get("door"))
        if frame.kind == "workflow_paused" and not above:
            self.rows += (_waiting(prompt, frame.timestamp) for prompt in prompts_of(frame))
        if not isinstance(task, str):
            return
        key = f"{above}{unit_key(task, item)}"
        if frame.kind == CHILD and text is not None:
            event = event_of(frame, text)
            if event is not None:
                inside = event.kind == CHILD
                self.take(event, said(event.get("event" if inside else "output")), f"{key}/")
        elif frame.kind == "approval_decided":
            self._decide(key, frame)
        elif key in self._decided and frame.kind in ("task_completed", "nb_item_completed"):
            self._decided.pop(key)["answer"] = value_of(text)

    def _decide(self, key: str, frame: Frame) -> None:
        why = said(frame.get("why"))
        state = "answered" if why is None else "declined" if why == "declined" else "refused"
        task, item = unit_of(key.partition("/")[0])
        row: dict[str, Any] = {
            "key": key,
            "task": task,
            "item": item,
            "state": state,
            "time": frame.timestamp,
            **{name: said(frame.get(name)) for name in ("mode", "message", "source", "why", "shown_hash")},
            **{name: _listed(frame, name) for name in _LISTED},
        }
        row["door"] = self._door if row["source"] in _HUMAN else None
        self.rows.append(row)
        self._decided[key] = row


def _listed(frame: Frame, name: str) -> str | None:
    return _LISTED[name].join(map(to_text, list_of(frame.get(name)))) or None


def _waiting(prompt: Prompt, at: int) -> dict[str, Any]:
    return {
        "key": prompt.key,
        "task": prompt.task,
        "item": prompt.item,
        "mode": prompt.mode,
        "message": prompt.message,
        "choices": _LISTED["choices"].join(prompt.choices) or None,
        "state": "waiting",
        "time": at,
        "gates": _LISTED["gates"].join(prompt.gates) or None,
        "effects": _LISTED["effects"].join(prompt.effects) or None,
        "shown_hash": prompt.shown_hash or None,
    }
