"""What one trace says about its run: who wrote it, from what, how it ended, what it still asks."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from nika_nb.catalog.frames import RESUME_BLOCKED, RUN_ENDS
from nika_nb.engine.contract import Prompt as Prompt
from nika_nb.engine.contract import unit_key as unit_key
from nika_nb.engine.contract import unit_of as unit_of
from nika_nb.errors import visible
from nika_nb.trace.fields import json_in, list_of, name_of, names_of, object_of, said, shape_of
from nika_nb.trace.frame import Frame
from nika_nb.trace.paging import INPUT_PAGE, with_texts
from nika_nb.values import to_text

# What may stand behind the frame that ends a run.
AFTER_END = frozenset({"run_sealed", "notify_delivered", "notify_failed"})

# `blocked` is no run's: a note of what kept one from going on.
State = Literal["completed", "failed", "cancelled", "paused", "incomplete", "running", "blocked"]


@dataclass(frozen=True, slots=True)
class Damage:
    """An unreadable line in the middle of a journal, and why it cannot be read."""

    line: int
    why: str


@dataclass(frozen=True, slots=True)
class Trace:
    """One journal as it was read.

    lines: how many lines the reading looked at. torn: the last line is half a line; damage: the
    line where the reading had to stop. head: the hash of the last whole line. size: the bytes up
    to its end. running: its writer was alive when the reading began.
    """

    path: Path
    frames: tuple[Frame, ...]
    lines: int
    torn: bool
    damage: Damage | None
    head: str
    size: int
    running: bool = False

    @property
    def prologue(self) -> dict[str, Any]:
        """The fields of the first frame: the manifest of the run."""
        return self.frames[0].fields

    @property
    def workflow(self) -> str | None:
        return said(self.prologue.get("workflow"))

    @property
    def engine_version(self) -> str | None:
        """The engine that wrote the trace, None where it is unrecorded."""
        return said(self.prologue.get("engine_version"))

    @property
    def run_id(self) -> str | None:
        """The durable run this trace belongs to."""
        return self.frames[0].correlation

    @property
    def reproducible(self) -> bool:
        """Whether another run of the same text writes the same bytes."""
        return self.prologue.get("stamper_kind") == "deterministic"

    @property
    def label(self) -> str:
        """How another journal names this one: by its file, or by its head where many may have the same."""
        return self.head if self.reproducible else self.path.name

    @property
    def inputs(self) -> dict[str, Any]:
        """Where each input came from, by name."""
        return shape_of(self.prologue.get("inputs"))

    @property
    def input_values(self) -> dict[str, Any] | None:
        """The values the run was started with; None where they are not recorded whole."""
        count = self.prologue.get("input_pages")
        if count is None:
            return object_of(self.prologue.get("input_values"))
        pages = [str(frame.get("text", "")) for frame in self.frames if frame.kind == INPUT_PAGE]
        return object_of("".join(pages)) if len(pages) == count else None

    @property
    def inputs_withheld(self) -> tuple[str, ...]:
        """The inputs whose values held a secret and were not written down."""
        return names_of(self.prologue.get("inputs_withheld"))

    @property
    def end(self) -> Frame | None:
        """The frame that ended the run, None while there is none."""
        last = next((frame for frame in reversed(self.frames) if frame.kind not in AFTER_END), None)
        return last if last is not None and last.kind in RUN_ENDS else None

    @property
    def state(self) -> State:
        return state_of(self.end.kind if self.end else None, self.running)

    @property
    def prompts(self) -> tuple[Prompt, ...]:
        """The questions that wait for an answer; empty unless the run is paused."""
        end = self.end
        return prompts_of(end) if end is not None and end.kind == "workflow_paused" else ()

    @property
    def outputs(self) -> dict[str, Any] | None:
        """The workflow's outputs; None where none are recorded."""
        for frame, text in self.texts():
            if frame.kind == "workflow_completed" and text is not None:
                return object_of(text)
        return None

    def texts(self) -> Iterator[tuple[Frame, str | None]]:
        """Every frame but the output pages, each with its whole output text where it has one."""
        return with_texts(self.frames)

    def sources(self) -> dict[str, str]:
        """The texts recorded exactly, by name: the workflow's own, then what it calls, then skills."""
        found: dict[str, list[str]] = {}
        wanted: dict[str, Any] = {}
        for frame in self.frames:
            if frame.kind == "nb_source_page" and "masked" not in frame.fields:
                name = name_of(frame.get("name"))
                found.setdefault(name, []).append(str(frame.get("text", "")))
                wanted[name] = frame.get("pages")
        return {name: "".join(pages) for name, pages in found.items() if len(pages) == wanted[name]}

    @property
    def masked_sources(self) -> tuple[str, ...]:
        """The names of the texts that are not recorded exactly, for a secret stood in them."""
        pages = (frame for frame in self.frames if frame.kind == "nb_source_page")
        return tuple(dict.fromkeys(name_of(page.get("name")) for page in pages if "masked" in page.fields))

    @property
    def source(self) -> str | None:
        """The exact text that was run; None where the trace does not hold the text its prologue names."""
        return next((text for text in self.sources().values() if self.ran(text)), None)

    def ran(self, text: str) -> bool:
        """Whether this is the text that its prologue names."""
        data = text.encode("utf-8", "replace")  # of half a character no workflow was made
        return hashlib.sha256(data).hexdigest() == self.prologue.get("workflow_sha256")


def state_of(end: str | None, running: bool) -> State:
    """The state of a run whose last end frame is of this kind."""
    states: dict[str, State] = {
        "workflow_completed": "completed",
        "workflow_failed": "failed",
        "workflow_cancelled": "cancelled",
        "workflow_paused": "paused",
        RESUME_BLOCKED: "blocked",
    }
    return states.get(end or "", "running" if running else "incomplete")


def prompts_of(pause: Frame) -> tuple[Prompt, ...]:
    """The questions that a `workflow_paused` frame asks."""
    found = tuple(_prompt(item) for item in list_of(pause.get("prompts")) if isinstance(item, dict))
    return found or (_prompt(pause.fields | {"shown_hash": pause.get("approval_shown_hash")}),)


def _prompt(shape: dict[str, Any]) -> Prompt:
    choices = json_in(shape.get("choices")) if isinstance(shape.get("choices"), str) else shape.get("choices")
    mode = shape.get("mode")
    item = shape.get("item")
    return Prompt(
        task=visible(str(shape.get("task", ""))),
        mode=mode if mode in ("input", "choice") else "confirm",
        message=str(shape.get("message") or ""),
        choices=_texts(choices),
        default=shape.get("default"),
        has_default="default" in shape,
        item=item if isinstance(item, int) else None,
        gates=_texts(shape.get("gates")),
        effects=_texts(shape.get("effects")),
        shown_hash=said(shape.get("shown_hash")) or "",
        inner=visible(said(shape.get("inner")) or ""),
        conditions=_texts(shape.get("conditions")),
    )


def _texts(value: Any) -> tuple[str, ...]:
    return tuple(to_text(item) for item in value) if isinstance(value, list) else ()
