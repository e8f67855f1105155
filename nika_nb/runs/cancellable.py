"""The run that is meant by a cancel that names none: the only one that is at work or waits for an answer."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from nika_nb.board.clean import one_line
from nika_nb.doors import command
from nika_nb.errors import UsageError
from nika_nb.runs.calling_off import process
from nika_nb.runs.heads import head_of
from nika_nb.runs.inbox import Waiting
from nika_nb.runs.kin import told_in
from nika_nb.runs.session import Session, at_work
from nika_nb.runs.shelf import LONGEST_PAGE, Shelf
from nika_nb.trace.ends import standing
from nika_nb.trace.folder import TRACES

_MOST = 12  # that are told one by one
_OPENING = 5.0  # seconds that a run which has just begun gets to write its first line in


@dataclass(frozen=True, slots=True)
class Candidate:
    """A run that can be cancelled. path: its newest trace, None where it writes none."""

    run_id: str
    heading: str
    path: Path | None


def only_one(folder: Path, *options: str) -> Path:
    """The trace of the one run that can be cancelled, which need not be named.

    folder: of the traces. options: what stands before a run's name where one is named. Raises
    UsageError where there is none, and where there are several: which one is meant nobody knows.
    """
    found = candidates(folder)
    if not found:
        raise UsageError("nothing is at work here, and nothing waits for an answer")
    if len(found) == 1 and found[0].path is not None:
        return found[0].path
    lines = [_line(one, folder, options) for one in found[:_MOST]]
    more = [f"  … {len(found) - _MOST} more: {command('runs')}"] if len(found) > _MOST else []
    what = f"{len(found)} runs can be cancelled: say which" if len(found) > 1 else "it has no trace to name"
    raise UsageError("\n".join([f"{what}. Nothing was cancelled", *lines, *more]))


def run_of(path: Path, root: Path) -> tuple[Path, str]:
    """(the project, the run's id) of a trace: of one in another project's folder that, else `root`.

    Raises UsageError where it tells of no run.
    """
    head = head_of(path)
    if head is None:
        raise UsageError(f"{path.name} is no trace of a run: there is nothing to cancel")
    folder = path.resolve().parent
    own = folder.parts[-2:] == (".nika", TRACES)
    return folder.parents[1] if own else root, head.run


def _line(one: Candidate, folder: Path, options: tuple[str, ...]) -> str:
    if one.path is None:
        how = "run.cancel()"
    else:
        how = command("cancel", *options, one.run_id if one.path.parent == folder else str(one.path))
    return f"  {how}  {one_line(one.heading)}"


def candidates(folder: Path) -> list[Candidate]:
    """Each run once: those at work in this process, those elsewhere, those that wait; the newest first."""
    found: dict[str, Candidate] = {}
    for one in (*_here(), *_in(folder)):
        found.setdefault(one.run_id, one)
    return list(found.values())


def _here() -> Iterator[Candidate]:
    """Whatever folder it belongs to."""
    for session in sorted(at_work.copy(), key=lambda session: session.run_id):
        session.opened.wait(_OPENING)
        if not session.done.is_set():
            heading = f"{session.prepared.workflow.id} · at work in this process"
            yield Candidate(session.run_id, heading, _journal(session))


def _journal(session: Session) -> Path | None:
    journal = session.prepared.journal
    return journal.path if journal is not None else None


def _in(folder: Path) -> Iterator[Candidate]:
    page = Shelf(folder).page(0, LONGEST_PAGE, "interrupted")
    for summary in page.unfinished:
        path = folder / summary.traces[-1]
        found = standing(path)
        if found is not None and found.running:
            yield Candidate(summary.run_id, f"{summary.workflow} · at work in {process(found.pid)}", path)
    for summary in told_in(page.runs, folder):
        path = folder / summary.traces[-1]
        yield Candidate(summary.run_id, Waiting(path, summary).heading, path)
