"""What became of a run behind one of its pauses: who answered it, when, and how it stands now."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from nika_nb.runs.answered import continuation, folders, since, when
from nika_nb.runs.heads import Head, head_of
from nika_nb.runs.shelf import Shelf
from nika_nb.trace.folder import TraceFolder
from nika_nb.trace.reader import is_running
from nika_nb.trace.trace import State


@dataclass(frozen=True, slots=True)
class Onward:
    """line: the invocations behind the pause, the first one first. state: of the last one."""

    line: tuple[Head, ...]
    folder: Path
    state: State

    @property
    def latest(self) -> Path:
        return self.folder / self.line[-1].name

    @property
    def since(self) -> str:
        """`has completed since`, `is at work in process 17`, …"""
        return since(self.line[-1], self.state)

    def told(self, key: str) -> tuple[str, str] | None:
        """`answered` or `declined`, then when and through which door; None where a prompt waits."""
        found = next((head for head in self.line if key in head.answered), None)
        return None if found is None else (found.decided(key), when(found))


def went_on(path: Path, elsewhere: TraceFolder) -> Onward | None:
    """None while nobody has answered what a trace asks, and for a file that is no trace of a run.

    elsewhere: where a continuation may lie besides the trace's own folder.
    """
    asked = head_of(path)
    if asked is None:
        return None
    for folder in folders(path, elsewhere):
        line = tuple(_behind(asked, Shelf(folder).heads(asked.run)))
        if line:
            return Onward(line, folder, line[-1].state(folder))
    return None


def stamp(path: Path, elsewhere: TraceFolder, latest: Path | None) -> tuple[int, ...]:
    """Figures that change when `went_on` may have something new to tell; cheap enough for every second.

    latest: an invocation behind the pause that was at work when it was looked at.
    """
    written = (_written(path.parent), _written(elsewhere.path))
    return written if latest is None else (*written, _written(latest), is_running(latest)[0])


def _written(path: Path) -> int:
    """When a file or a folder was last written to, in unix nanoseconds; 0 where there is none."""
    try:
        return os.stat(path).st_mtime_ns
    except OSError:
        return 0


def _behind(asked: Head, heads: list[Head]) -> Iterator[Head]:
    left = list(heads)
    while (found := continuation(asked, left)) is not None:
        yield found
        left.remove(found)
        asked = found
