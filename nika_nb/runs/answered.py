"""Whether a paused trace was answered already: by whom, when, and what came of it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path

from nika_nb.doors import option
from nika_nb.errors import ResumeRefused
from nika_nb.runs.heads import Head, head_of
from nika_nb.runs.records import Record, fold
from nika_nb.runs.shelf import Shelf
from nika_nb.trace.folder import TraceFolder
from nika_nb.trace.lock import ResumeLock, Turn, busy
from nika_nb.trace.trace import State

_TOLD = 32  # hex digits of a line's hash that stand for a pause

_DOORS = {"Python": "from Python", "a form": "in a form", "MCP": "through MCP"}
_SINCE = {
    "completed": "has completed since",
    "failed": "has failed since",
    "cancelled": "was cancelled since",
    "paused": "waits for another answer now",
    "running": "is at work",
    "incomplete": "broke off there: go on with `{resume}`",
}


class AlreadyAnswered(ResumeRefused):
    """The prompt has its answer: a second one is refused, and nothing was consumed by it."""


@contextmanager
def answering(path: Path, elsewhere: TraceFolder) -> Iterator[None]:
    """The right to answer a paused trace: held by one at a time, and given for one answer in all.

    elsewhere: where a continuation may lie besides the trace's own folder. Raises ResumeRefused for
    whoever comes second: with the process that is at it, or when and by which door it was answered.
    """
    with ExitStack() as held:
        try:
            held.enter_context(ResumeLock(path))
            held.enter_context(_ours(path, elsewhere))
        except ResumeRefused:
            refuse_answered(path, elsewhere)  # who holds it may be about to be refused as well
            raise
        refuse_answered(path, elsewhere)
        yield


@contextmanager
def _ours(path: Path, elsewhere: TraceFolder) -> Iterator[None]:
    """The right to answer a pause under whatever name: a copy of a trace is another file to the system.

    Raises ResumeRefused for whoever comes second. What it leaves behind where it is killed says nothing.
    """
    asked = head_of(path)
    if asked is None:
        yield
        return
    with turn_at(asked, path, elsewhere):
        yield


def turn_at(pause: Head, path: Path, elsewhere: TraceFolder, sort: str = "") -> Turn:
    """The right to answer a pause, whatever the trace is called. sort: in another way than by itself.

    Taking it raises ResumeRefused for whoever comes second.
    """
    own = elsewhere.path.parent / f"answering-{pause.head[:_TOLD]}{sort}.lock"
    return Turn(own, lambda pid: ResumeRefused(busy(path, pid)))


def refuse_answered(path: Path, elsewhere: TraceFolder) -> None:
    """Raises AlreadyAnswered where the run went on from this trace."""
    told = how_answered(path, elsewhere)
    if told is not None:
        raise AlreadyAnswered(f"{told}. Nothing was run and nothing was consumed")


def how_answered(path: Path, elsewhere: TraceFolder) -> str | None:
    """When a trace was answered, and what came of it; None while nobody has."""
    asked = head_of(path)
    if asked is None:
        return None
    for folder in folders(path, elsewhere):
        found = continuation(asked, Shelf(folder).heads(asked.run))
        if found is not None:
            return _sentence(asked, found, folder)
    return None


def folders(path: Path, elsewhere: TraceFolder) -> tuple[Path, ...]:
    """Where what went on from a trace may lie: beside it, or in the folder of whoever asks."""
    return tuple(dict.fromkeys((path.resolve().parent, elsewhere.path.resolve())))


def refuse_earlier(path: Path, keys: Iterable[str], open_keys: Collection[str]) -> None:
    """Raises AlreadyAnswered for a prompt that is not open any more because its run has its answer."""
    other = [key for key in keys if key not in open_keys]
    here = head_of(path) if other else None
    record = fold(Shelf(path.resolve().parent).heads(here.run)) if here is not None else None
    for key in other:
        told = told_of(record, key) if record is not None else None
        if told is not None:
            raise AlreadyAnswered(f"{told}: an answer is not taken back. Nothing was consumed")


def told_of(record: Record, key: str) -> str | None:
    """Where, when and through which door a run got the answer to a prompt; None where it has none."""
    found = next((head for head in record.invocations if key in head.answered), None)
    return (
        None if found is None else f"`{key}` was already {found.decided(key)} {when(found)}, in {found.name}"
    )


def when(head: Head) -> str:
    """When an invocation was started, and through which door."""
    at = datetime.fromtimestamp(head.created // 10**9, UTC).strftime("on %Y-%m-%d at %H:%M:%S UTC")
    door = _DOORS.get(head.door, f"with {head.door}") if head.door else ""
    return f"{at} {door}".rstrip()


def continuation(asked: Head, heads: Iterable[Head]) -> Head | None:
    """The invocation that went on from this one; None where none did."""
    found = [head for head in heads if not head.blocked and head.continues(asked)]
    return min(found, key=lambda head: head.created) if found else None


def _sentence(asked: Head, found: Head, folder: Path) -> str:
    what = ", ".join(f"`{key}`" for key in found.answered)
    if not what:  # whoever goes on without an answer ends it
        return f"{asked.name} can be answered no more: the run {asked.run} was called off {when(found)}"
    since_then = since(found, found.state(folder))
    return (
        f"{asked.name} was already answered: {what} {when(found)}. The run {asked.run} went on in "
        f"{found.name} and {since_then}"
    )


def since(head: Head, state: State) -> str:
    """What an invocation has come to, as the second half of a sentence about its run."""
    said = _SINCE[state].format(resume=option("resume", head.name))
    return f"{said} in process {head.pid}" if state == "running" and head.pid else said
