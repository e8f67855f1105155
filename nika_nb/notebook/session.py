"""What the magics of one shell share: its folder, its front-end, its names, and how a run is shown."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from nika_nb.errors import RunFailed, UsageError
from nika_nb.notebook.desk import Desk
from nika_nb.notebook.surface import Surface
from nika_nb.notebook.watch import Watch
from nika_nb.runs.ids import is_run_id
from nika_nb.runs.request import Place
from nika_nb.runs.run import Run


class Session:
    """One shell with the extension loaded. Where its traces lie is fixed from then on."""

    def __init__(self, shell: Any) -> None:
        self.shell = shell
        self.names: dict[str, Any] = shell.user_ns
        self.surface = Surface(shell)
        self.folder = Path.cwd()
        self.desk = Desk(self.folder)

    @property
    def place(self) -> Place:
        return Place(self.folder, self.folder)

    def watch(self, run: Run, begin: Callable[[], Any], *, quiet: bool = False) -> Run:
        """Begins a run and shows it until it stops; one that failed raises one short error."""
        Watch(run, self.surface, quiet=quiet).block(begin)
        _raise_failure(run)
        return _drawn(run)

    def draw(self, run: Run) -> Run:
        """Shows a run from what is known of it; a paused one with its forms."""
        Watch(run, self.surface).draw()
        return _drawn(run)

    def trace(self, name: str | None, *, paused: bool = False, prefer_paused: bool = False) -> Path:
        """The trace that is meant: the one named, else the newest, of those that wait first."""
        folder = self.place.folder
        if name is not None:
            below = self.folder if (self.folder / name).is_file() else None
            return self.desk.trace(name) if is_run_id(name) else folder.resolve(name, below)
        waiting = self.desk.waiting() if paused or prefer_paused else []
        if waiting:
            return waiting[0]
        entries = folder.list()
        if paused or not entries:
            what = "no paused run" if paused else "no trace"
            raise UsageError(f"there is {what} in {os.path.join('.nika', 'traces')}")
        return entries[0].path

    def names_trace(self, word: str) -> bool:
        """Whether a word names a trace or a run rather than an answer."""
        stems = {entry.path.stem for entry in self.place.folder.list()}
        return word.endswith(".ndjson") or is_run_id(word) or word in stems


def _drawn(run: Run) -> Run:
    """The run as a cell's value: its panel stands right above, so it is not drawn again."""
    run.drawn = True
    return run


def _raise_failure(run: Run) -> None:
    """A failed workflow stops Run All with a short error; the panel has the details."""
    if run.state == "failed":
        try:
            _ = run.outputs
        except RunFailed as failure:
            raise failure from None
