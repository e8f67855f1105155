"""The confirmations that a run has used up: it may ask for so many, however often it pauses in between."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from nika_nb.engine.contract import unit_key
from nika_nb.runs.doubt import carried
from nika_nb.trace.child import CHILD, nested
from nika_nb.trace.trace import Trace
from nika_nb.values import loads

# What settles a confirmation without one: nobody was asked.
_UNASKED = ("default", "engine")


def used_up(trace: Trace) -> list[str]:
    """What a run was asked to confirm by the end of a trace, as hashes of what was shown, each once.

    Whether something is to be run again after a crash is not asked in the workflow's name, and not counted.
    """
    doubtful = carried(trace)
    asked = (p for p in trace.prompts if p.mode == "confirm" and p.key not in doubtful)
    shown = [*_before(trace), *_decided(trace, doubtful), *(prompt.shown_hash for prompt in asked)]
    return [found for found in dict.fromkeys(shown) if found]


def _before(trace: Trace) -> list[str]:
    """What its earlier invocations had used up, as its first line keeps it."""
    text = trace.prologue.get("approvals")
    try:
        found = loads(text) if isinstance(text, str) else []
    except (ValueError, RecursionError):
        return []
    return [shown for shown in found if isinstance(shown, str)] if isinstance(found, list) else []


def _decided(trace: Trace, doubtful: Collection[str]) -> Iterator[str]:
    for key, fields in _attested(trace):
        unasked = fields.get("source") in _UNASKED or key in doubtful
        if fields.get("mode") == "confirm" and not unasked:
            yield str(fields.get("shown_hash") or "")


def _attested(trace: Trace) -> Iterator[tuple[str, dict[str, Any]]]:
    """(unit, fields) of every `approval_decided`; of a called workflow's the unit is empty."""
    for frame, text in trace.texts():
        if frame.kind == "approval_decided":
            yield unit_key(str(frame.get("task")), frame.get("item")), frame.fields
        elif frame.kind == CHILD and text is not None:
            told = nested(frame, text)
            if told is not None and told[1] == "approval_decided":
                yield "", told[2]
