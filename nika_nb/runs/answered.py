"""Whether a paused trace was answered already: by whom, when, and what came of it."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from nika_nb.errors import ResumeRefused
from nika_nb.runs.heads import Head, head_of
from nika_nb.runs.shelf import Shelf
from nika_nb.trace.folder import TraceFolder

_DOORS = {"Python": "from Python", "a form": "in a form", "MCP": "through MCP"}
_SINCE = {
    "completed": "has completed since",
    "failed": "has failed since",
    "cancelled": "was cancelled since",
    "paused": "waits for another answer now",
    "running": "is at work",
    "incomplete": "broke off there: go on with `--resume {name}`",
}


class AlreadyAnswered(ResumeRefused):
    """The prompt has its answer: a second one is refused, and nothing was consumed by it."""


def refuse_answered(path: Path, elsewhere: TraceFolder) -> None:
    """Raises AlreadyAnswered where the run went on from this trace. Hold its lock: it may not, then.

    elsewhere: where a continuation may lie besides the trace's own folder.
    """
    asked = head_of(path)
    if asked is None:
        return
    for folder in dict.fromkeys((path.resolve().parent, elsewhere.path.resolve())):
        found = _continuation(asked, Shelf(folder).heads(asked.run))
        if found is not None:
            raise AlreadyAnswered(_sentence(asked, found, folder))


def _continuation(asked: Head, heads: list[Head]) -> Head | None:
    found = [head for head in heads if not head.blocked and head.continues(asked)]
    return min(found, key=lambda head: head.created) if found else None


def _sentence(asked: Head, found: Head, folder: Path) -> str:
    at = datetime.fromtimestamp(found.created // 10**9, UTC).strftime("%Y-%m-%d at %H:%M:%S UTC")
    door = f" {_DOORS.get(found.door, f'with {found.door}')}" if found.door else ""
    what = ", ".join(f"`{key}`" for key in found.answered) or "it"
    since = _SINCE[found.state(folder)].format(name=found.name)
    return (
        f"{asked.name} was already answered: {what} on {at}{door}. The run {asked.run} went on in "
        f"{found.name} and {since}. Nothing was run and nothing was consumed"
    )
