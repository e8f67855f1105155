"""Runs that took up the same pause: one question that several ask is answered in one of them."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import suppress
from pathlib import Path

from nika_nb.doors import option, together
from nika_nb.engine.contract import unit_key
from nika_nb.errors import NikaError
from nika_nb.runs.answered import AlreadyAnswered, continuation, folders, since, when
from nika_nb.runs.answers import task_of
from nika_nb.runs.heads import Head, head_of
from nika_nb.runs.shelf import Shelf
from nika_nb.trace.folder import TraceFolder
from nika_nb.trace.reader import read


def refuse_twice(path: Path, elsewhere: TraceFolder, keys: Collection[str]) -> None:
    """Raises AlreadyAnswered for a question to which another run that took up this pause has its answer."""
    for head, folder in _kin(path, elsewhere):
        for key in keys:
            if _answers(head, folder, key):
                again = together([option("resume", path.name), option("from", task_of(key))])
                raise AlreadyAnswered(
                    f"`{key}` was already answered {when(head)}, in another run: {head.run} took up the same "
                    f"pause in {head.name} and {since(head, head.state(folder))}. What is behind it would "
                    "happen twice: nothing was run and nothing was consumed. To ask again, in a run of its "
                    f"own: `{again}`"
                )


def told_of_kin(path: Path, elsewhere: TraceFolder) -> list[str]:
    """A line for each other run that took up this pause and has completed since."""
    found = {head.run: head for head, folder in _kin(path, elsewhere) if head.state(folder) == "completed"}
    return [
        f"{run} took up the same pause in {head.name} and has completed since: what both of them do happens "
        "twice"
        for run, head in found.items()
    ]


def _kin(path: Path, elsewhere: TraceFolder) -> Iterator[tuple[Head, Path]]:
    """The invocations of other runs behind the same pause, each with the folder it lies in."""
    asked = head_of(path)
    if asked is None:
        return
    for folder in folders(path, elsewhere):
        shelf = Shelf(folder)
        found = [*(head for head in _behind(asked, shelf) if head.run != asked.run), *_beside(asked, shelf)]
        yield from ((head, folder) for head in found)


def _behind(asked: Head, shelf: Shelf) -> Iterator[Head]:
    """Whatever resumed a trace, or what resumed it."""
    seen, left = {asked.name}, [asked]
    while left:
        for head in shelf.resumers(left.pop()):
            if head.name not in seen and not head.blocked:
                seen.add(head.name)
                left.append(head)
                yield head


def _beside(asked: Head, shelf: Shelf) -> Iterator[Head]:
    """How the run whose pause this one took up went on from there, unless that was before."""
    first = next((head for head in shelf.heads(asked.run) if not head.blocked and head.parent), None)
    if first is None or first.parent is None:
        return
    others = shelf.heads(first.parent)
    pause = next((head for head in others if first.resumes(head)), None)
    later = continuation(pause, others) if pause is not None else None
    while later is not None:
        if later.stamp[1] > first.stamp[1]:
            yield later
        later = continuation(later, others)


def _answers(head: Head, folder: Path, key: str) -> bool:
    """Whether a question was granted in an invocation, by somebody or by its default, or may have been."""
    if head.end is None and key in head.answered and key not in head.declined:
        return True
    with suppress(NikaError, OSError):
        for frame in read(folder / head.name).frames:
            if frame.kind == "approval_decided" and frame.get("decision") == "allow":
                item = frame.get("item")
                if unit_key(str(frame.get("task")), item if isinstance(item, int) else None) == key:
                    return True
    return False
