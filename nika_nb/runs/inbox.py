"""What waits for an answer in a folder and in the projects below it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from nika_nb.runs.below import projects
from nika_nb.runs.kin import told_in
from nika_nb.runs.records import Summary
from nika_nb.runs.shelf import LONGEST_PAGE, Shelf
from nika_nb.trace.folder import TraceFolder


@dataclass(frozen=True, slots=True)
class Waiting:
    """A run that waits for an answer.

    path: the trace that asks. where: its project's folder, as it is called from the one that was looked
    into; empty for that one.
    """

    path: Path
    summary: Summary
    where: str = ""

    @property
    def heading(self) -> str:
        """The run as a list calls it."""
        asked = datetime.fromtimestamp(self.summary.updated // 10**9, UTC)
        parts = [self.summary.workflow, f"asked {asked.strftime('%Y-%m-%d %H:%M:%S UTC')}"]
        parts += [f"in {self.where}"] if self.where else []
        if self.summary.answered_by:
            parts.append(f"answered by {self.summary.answered_by}")
        elif self.summary.resume_readiness == "blocked":
            parts.append(f"blocked: {self.summary.diagnostic_count} missing when it was answered last")
        return " · ".join(parts)


@dataclass(frozen=True, slots=True)
class Inbox:
    """waiting: those first that asked last. cut: there were more folders than were looked into."""

    waiting: tuple[Waiting, ...]
    cut: bool = False


def inbox(root: Path) -> Inbox:
    """The runs that wait in a folder and below it; not those that another run got the answer of.

    Nothing is changed by a look. Raises UsageError where the folder's own traces cannot be looked up.
    """
    Shelf(TraceFolder(root).path).judge()
    below = projects(root)
    found = [one for project in below.roots for one in _waiting_in(project, root)]
    found.sort(key=lambda one: (-one.summary.updated, one.summary.run_id))
    return Inbox(tuple(found), below.cut)


def _waiting_in(project: Path, root: Path) -> Iterator[Waiting]:
    folder = TraceFolder(project).path
    where = "" if project == root else os.path.relpath(project, root)
    for summary in told_in(Shelf(folder).page(0, LONGEST_PAGE, "interrupted").runs, folder):
        if summary.answered_by is None:
            yield Waiting(folder / summary.traces[-1], summary, where)
