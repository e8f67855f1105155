"""Where traces lie: `.nika/traces` under one root, listed newest first, found by name."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import groupby, islice
from pathlib import Path
from stat import S_ISREG

from nika_nb.catalog.frames import LINE_BOUND
from nika_nb.engine.clock import VIRTUAL_START
from nika_nb.files import at_home, here
from nika_nb.trace.ends import standing
from nika_nb.trace.frame import link
from nika_nb.trace.reader import is_running
from nika_nb.trace.trace import State

TRACES = "traces"  # the folder in `.nika` that a resume looks through
REPRODUCTIONS = "reproductions"  # where the journals of reproductions lie, apart from those

_NAME = re.compile(r"(\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ)-[0-9a-f]{4,32}(-\d+)?\.ndjson")
_STAMP = "%Y-%m-%dT%H-%M-%SZ"
_VIRTUAL = datetime.fromtimestamp(VIRTUAL_START // 10**9, UTC).strftime(_STAMP)  # where each of them begins


@dataclass(frozen=True, slots=True)
class Entry:
    """A trace as a listing shows it, known from its first and last lines only.

    stamp: UTC as in the file's name. began: of its first frame, mtime: of the file, in unix nanoseconds.
    Of a virtual clock, which says nothing of when that was, stamp and began are of the writing.
    run: the durable run's id. size: bytes. kind: the kind of the first frame.
    """

    path: Path
    stamp: str
    workflow: str | None
    run: str | None
    state: State
    size: int
    began: int
    mtime: int
    kind: str

    @property
    def resumable(self) -> bool:
        """A run's journal whose writer has gone: what it recorded will not change any more."""
        return self.kind == "workflow_started" and self.state != "running"


@dataclass(frozen=True, slots=True)
class TraceFolder:
    """The traces of one project. root: the folder of its notebook or workflow file. shelf: in `.nika`."""

    root: Path
    shelf: str = TRACES

    @property
    def path(self) -> Path:
        return self.root / ".nika" / self.shelf

    def list(self) -> tuple[Entry, ...]:
        """Every trace, newest first; files that are no journals are left out."""
        return tuple(self._entries())

    def recent(self, most: int) -> tuple[Entry, ...]:
        """The newest of them; no other file is opened."""
        return tuple(islice(self._entries(), most))

    def left_empty(self) -> tuple[Entry, ...]:
        """What writers made and wrote nothing into: they were killed, or the machine stopped, just then."""
        return tuple(filter(None, map(_nothing, self._files())))

    def newest(self, workflow: str | None = None, *, resumable: bool = True) -> Path | None:
        """The newest trace of a workflow's name (None: of any) that can be resumed."""
        fit = (entry for entry in self.of_workflow(workflow) if entry.resumable or not resumable)
        return next((entry.path for entry in fit), None)

    def of_workflow(self, workflow: str | None) -> Iterator[Entry]:
        """The traces of a workflow's name (None: of any), newest first, opened as they are asked for."""
        return (entry for entry in self._entries() if workflow in (None, entry.workflow))

    def find(self, name: str | Path, base: Path | None = None) -> Path | None:
        """The file at a path from `base` (None: from here), or of that name in this folder."""
        return next((path for path in self.places(name, base) if os.path.isfile(path)), None)

    def places(self, name: str | Path, base: Path | None = None) -> tuple[Path, ...]:
        """Where a trace of such a name may lie."""
        given = at_home(name)
        from_here = given if given.is_absolute() else (base or here()) / given
        return from_here, self.path / given, self.path / f"{given}.ndjson"

    @property
    def shown(self) -> str:
        """The folder as people read it."""
        return str(shown(self.path))

    def _entries(self) -> Iterator[Entry]:
        by_stamp = sorted(((_dated(path), path) for path in self._files()), reverse=True)
        for _, dated in groupby(by_stamp, key=lambda pair: pair[0]):
            yield from newest_first(filter(None, (look(path) for _, path in dated)))

    def _files(self) -> Iterator[Path]:
        return self.path.glob("*.ndjson")


def shown(path: Path) -> Path:
    """As people read it: from where they are, where it lies below."""
    try:
        return path.relative_to(Path.cwd())
    except (ValueError, OSError):  # elsewhere; or the current folder is gone
        return path


def newest_first(entries: Iterable[Entry]) -> list[Entry]:
    """By stamp; within one second by when a run began; where all say the same, by when it was written."""
    return sorted(entries, key=lambda e: (e.stamp, e.began, e.mtime, e.path.name), reverse=True)


def _nothing(path: Path) -> Entry | None:
    """A file of a writer's name without a byte, and without a writer."""
    try:
        stat = path.lstat()
    except OSError:
        return None
    if stat.st_size or not S_ISREG(stat.st_mode) or not _NAME.fullmatch(path.name) or is_running(path)[0]:
        return None
    return Entry(path, stamp_of(path), None, None, "incomplete", 0, 0, stat.st_mtime_ns, "")


def look(path: Path) -> Entry | None:
    """What the ends of a file tell; None where it is no journal."""
    stand = standing(path)
    if stand is None:
        return None
    found = stand.ends
    workflow = found.first.get("workflow")
    return Entry(
        path=path,
        stamp=stamp_of(path),
        workflow=workflow if isinstance(workflow, str) else None,
        run=found.first.correlation,
        state=stand.state,
        size=found.stat.st_size,
        began=found.began,
        mtime=found.stat.st_mtime_ns,
        kind=found.first.kind,
    )


def with_head(folder: Path, head: str) -> Path | None:
    """The trace in a folder whose last line has this hash: of several with the same bytes any will do."""
    for path in sorted(folder.glob("*.ndjson")):
        with suppress(OSError), path.open("rb") as stream:
            size = stream.seek(0, 2)
            stream.seek(max(0, size - LINE_BOUND - 2))
            lines = stream.read().splitlines()
            if any(link(line) == head for line in lines[-2:]):  # the very last one may be torn
                return path
    return None


def _dated(path: Path) -> str:
    try:
        return stamp_of(path)
    except OSError:
        return ""


def stamp_of(path: Path) -> str:
    """The stamp in the file's name; of a foreign name or a virtual clock's, when it was last written."""
    match = _NAME.fullmatch(path.name)
    if match and match[1] != _VIRTUAL:
        return match[1]
    return datetime.fromtimestamp(path.stat().st_mtime, UTC).strftime(_STAMP)
