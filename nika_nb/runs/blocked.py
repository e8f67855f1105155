"""A resume that could not begin because something is in the way: kept in a one-frame trace of its own."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from nika_nb import __version__
from nika_nb.catalog.frames import ENGINE_VERSION, RESUME_BLOCKED, TRACE_FORMAT
from nika_nb.engine.clock import Stamper, SystemClock
from nika_nb.engine.events import Event
from nika_nb.errors import UsageError
from nika_nb.runs.answered import answering
from nika_nb.runs.heads import Head, head_of
from nika_nb.runs.ids import new_invocation_id
from nika_nb.runs.lack import Lack, Refused, RunBlocked, lacks_of
from nika_nb.runs.request import Request
from nika_nb.runs.shelf import Shelf
from nika_nb.trace.trust import Untrusted
from nika_nb.trace.writer import Journal
from nika_nb.values import dumps


def blocked(request: Request, refused: Refused, *, keep: bool = True) -> RunBlocked:
    """The refusal of a continuation, noted beside the trace that it would have continued.

    keep: whether traces are written at all. Raises ResumeRefused where somebody else is at work on
    the trace or has answered it: then that is what has to be said.
    """
    path = Path(str(request.resume))
    with answering(path, request.place.folder):
        head = head_of(path)
        if head is None:
            raise UsageError(f"{path} cannot be read as a journal")
        lacks = lacks_of(refused)
        note = _note(path, head, request, lacks) if keep else None
        return RunBlocked(head.run, lacks, note, refused.exit_code if isinstance(refused, Untrusted) else 3)


def _note(path: Path, head: Head, request: Request, lacks: Sequence[Lack]) -> Path | None:
    """The file that keeps what was missing; None where none could be written."""
    folder = path.resolve().parent
    earlier = [note for note in Shelf(folder).heads(head.run) if note.blocked and note.continues(head)]
    number, at = Stamper(SystemClock()).stamp()
    fields = {
        "workflow": head.workflow,
        "resumed_trace": head.name,
        "resumed_head": head.head,
        "attempt": len(earlier) + 1,
        "diagnostics": dumps([lack.to_json() for lack in lacks]),
        "diagnostic_count": len(lacks),
        "trace_format": TRACE_FORMAT,
        "engine_version": ENGINE_VERSION,
        "package_version": __version__,
        "door": request.door,
    }
    journal = Journal(folder, run=new_invocation_id(), correlation=head.run)
    journal(Event(RESUME_BLOCKED, fields, at, number))
    journal.close()
    return None if journal.error else journal.path
