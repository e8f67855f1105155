"""Runs that took up the same pause: one question that several ask is answered in one of them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from nika_nb.doors import option, together
from nika_nb.engine.contract import unit_key
from nika_nb.errors import NikaError, UsageError
from nika_nb.runs.answered import AlreadyAnswered, folders, since, turn_at, when
from nika_nb.runs.answers import task_of
from nika_nb.runs.heads import Head, head_of
from nika_nb.runs.lack import Lack
from nika_nb.runs.records import Summary, fold
from nika_nb.runs.shelf import Shelf
from nika_nb.trace.ends import ends
from nika_nb.trace.folder import TraceFolder
from nika_nb.trace.lock import Turn
from nika_nb.trace.reader import read
from nika_nb.trace.trace import prompts_of

ANSWERED_CODE = "NIKA-NB-006"

Found = tuple[Head, Path]  # an invocation of another run, and the folder that it lies in


@dataclass(frozen=True, slots=True)
class Answered:
    """Where other runs have the answers to all that a trace asks, by prompt."""

    path: Path
    answers: Mapping[str, Found]

    @property
    def by(self) -> Head:
        """The newest invocation that has one."""
        return max((head for head, _ in self.answers.values()), key=lambda head: head.updated)

    @property
    def lacks(self) -> tuple[Lack, ...]:
        """What an answer would be refused for, and what is left to do."""
        return tuple(
            Lack(ANSWERED_CODE, _said(key, *found), f"decline it, or end this run. {_again(self.path, key)}")
            for key, found in self.answers.items()
        )


def turn_of_kin(path: Path, elsewhere: TraceFolder) -> Turn:
    """The right to answer for all that took up the same pause: until the answer can be read, one at a time.

    Taking it raises ResumeRefused for whoever comes second.
    """
    asked = head_of(path)
    if asked is None:
        raise UsageError(f"{path} cannot be read as a journal")
    shelf = Shelf(path.resolve().parent)
    first = _first(asked.run, shelf)
    top = [_root(asked, shelf), *(_taken_up(first, shelf) if first is not None else ())][-1]
    return turn_at(top, path, elsewhere, "-kin")


def refuse_twice(path: Path, elsewhere: TraceFolder, keys: Collection[str]) -> None:
    """Raises AlreadyAnswered for a question to which another run that took up this pause has its answer."""
    for key, found in _answered(keys, _kin(path, elsewhere)).items():
        raise AlreadyAnswered(
            f"{_said(key, *found)}: nothing was run and nothing was consumed. {_again(path, key)}"
        )


def _said(key: str, head: Head, folder: Path) -> str:
    latest = latest_of(head, Shelf(folder))
    return (
        f"`{key}` was already answered {when(head)}, in another run: {head.run} took up the same pause in "
        f"{head.name} and {since(latest, latest.state(folder))}. What is behind it would happen twice"
    )


def _again(path: Path, key: str) -> str:
    again = together([option("resume", path.name), option("from", task_of(key))])
    return f"To ask again, in a run of its own: `{again}`"


def latest_of(head: Head, shelf: Shelf) -> Head:
    """The newest invocation of the run that one belongs to."""
    record = fold(shelf.heads(head.run))
    return record.latest if record is not None else head


def told_of_kin(path: Path, elsewhere: TraceFolder) -> list[str]:
    """A line for each other run that took up this pause and has completed since."""
    found = {head.run: head for head, folder in _kin(path, elsewhere) if head.state(folder) == "completed"}
    return [
        f"{run} took up the same pause in {head.name} and has completed since: what both of them do happens "
        "twice"
        for run, head in found.items()
    ]


def answered_elsewhere(paused: Iterable[Path], folder: Path) -> dict[Path, Answered]:
    """Of traces that ask, those whose every question another run in a folder has the answer to.

    Only of those that have kin more than the ends are read.
    """
    shelf = Shelf(folder)
    heads = {path: head for path in paused if (head := head_of(path)) is not None}
    own = shelf.heads_of(head.run for head in heads.values())
    resumers = shelf.resumers_of([*heads.values(), *(one for run in own.values() for one in run)])
    found: dict[Path, Answered] = {}
    for path, head in heads.items():
        line = (head, *own.get(head.run, ()))
        others = (one for own_head in line for one in resumers[own_head.name] if one.run != head.run)
        # A run that took up another's pause may stand beside others.
        if any(one.parent for one in line) or any(not one.blocked for one in others):
            keys = _asked(path)
            answers = _answered(keys, ((kin, folder) for kin in _of(head, shelf)))
            if keys and len(answers) == len(keys):
                found[path] = Answered(path, answers)
    return found


def answered_by(paused: Iterable[Path], folder: Path) -> dict[Path, str]:
    """The runs that have the answers, by the trace that asks."""
    return {path: found.by.run for path, found in answered_elsewhere(paused, folder).items()}


def told_in(summaries: Iterable[Summary], folder: Path) -> tuple[Summary, ...]:
    """The summaries of runs in a folder, with the run that has the answers to all that one of them asks."""
    known = tuple(summaries)
    paused = {one.run_id: folder / one.traces[-1] for one in known if one.status == "interrupted"}
    by_path = answered_elsewhere(paused.values(), folder)
    found = {run: by_path[path] for run, path in paused.items() if path in by_path}
    return tuple(_told(one, found[one.run_id]) if one.run_id in found else one for one in known)


def _told(summary: Summary, found: Answered) -> Summary:
    return replace(
        summary,
        resume_readiness="blocked",
        diagnostic_count=len(found.answers),
        answered_by=found.by.run,
    )


def _asked(path: Path) -> tuple[str, ...]:
    found = ends(path)
    return tuple(prompt.key for prompt in prompts_of(found.end)) if found and found.end else ()


def _kin(path: Path, elsewhere: TraceFolder) -> Iterator[Found]:
    """The invocations of other runs that took up the same pause."""
    asked = head_of(path)
    if asked is not None:
        for folder in folders(path, elsewhere):
            yield from ((head, folder) for head in _of(asked, Shelf(folder)))


def _of(asked: Head, shelf: Shelf) -> Iterator[Head]:
    """What other runs did behind a pause and its root; behind one that its run took up, unless that was
    before."""
    yield from (head for head in _behind(_root(asked, shelf), shelf) if head.run != asked.run)
    began = _first(asked.run, shelf)
    if began is None:
        return
    for pause in _taken_up(began, shelf):
        for head in _behind(pause, shelf):
            if head.run != asked.run and head.stamp[1] > began.stamp[1]:
                yield head


def _taken_up(began: Head | None, shelf: Shelf) -> Iterator[Head]:
    """The pause that a run took up, the one that the run which asked there had taken up, and so on; of each
    its root."""
    seen: set[str] = set()
    while began is not None and began.run not in seen:
        seen.add(began.run)
        others = shelf.heads(began.parent or "")
        pause = next((head for head in others if head.end == "workflow_paused" and began.resumes(head)), None)
        if pause is None:
            return
        yield _root(pause, shelf)
        began = _first(pause.run, shelf)


def _root(pause: Head, shelf: Shelf) -> Head:
    """The first pause of its run, on the way to this one, at which a question of it waited already."""
    keys = set(_asked(shelf.path / pause.name))
    left = [head for head in shelf.heads(pause.run) if not head.blocked]
    while (before := next((head for head in left if pause.continues(head)), None)) is not None:
        there = _asked(shelf.path / before.name)
        if there and keys.isdisjoint(there):
            break
        left.remove(before)
        pause = before
    return pause


def _first(run: str, shelf: Shelf) -> Head | None:
    """The invocation that a run began with, where it resumed another run."""
    return next((head for head in shelf.heads(run) if not head.blocked and head.parent), None)


def _behind(asked: Head, shelf: Shelf) -> Iterator[Head]:
    """Whatever resumed a trace, or what resumed it."""
    seen, left = {asked.name}, [asked]
    while left:
        for head in shelf.resumers(left.pop()):
            if head.name not in seen and not head.blocked:
                seen.add(head.name)
                left.append(head)
                yield head


def _answered(keys: Collection[str], kin: Iterable[Found]) -> dict[str, Found]:
    """Of these questions those that an invocation has the answer to, with the first one that does."""
    found: dict[str, Found] = {}
    for head, folder in kin:
        if len(found) == len(keys):
            break
        granted = _granted(head, folder)
        found |= {key: (head, folder) for key in keys if key in granted and key not in found}
    return found


def _granted(head: Head, folder: Path) -> set[str]:
    """The questions that were granted in an invocation, by somebody or by a default, or may have been."""
    found = set(head.answered) - set(head.declined) if head.end is None else set[str]()
    with suppress(NikaError, OSError):
        for frame in read(folder / head.name).frames:
            if frame.kind == "approval_decided" and frame.get("decision") == "allow":
                item = frame.get("item")
                found.add(unit_key(str(frame.get("task")), item if isinstance(item, int) else None))
    return found
