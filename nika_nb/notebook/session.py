"""What the magics of one shell share: its folder, its front-end, its names, and how a run is shown."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from nika_nb.errors import RunFailed, RunPaused, UsageError
from nika_nb.notebook.desk import Desk
from nika_nb.notebook.shown import Spots
from nika_nb.notebook.surface import Surface
from nika_nb.notebook.watch import Watch
from nika_nb.runs.ids import is_run_id
from nika_nb.runs.request import Place
from nika_nb.runs.run import Run, interactive
from nika_nb.runs.traced import trace_of
from nika_nb.settings import SETTINGS, Settings
from nika_nb.values import nearest


class Session:
    """One shell with the extension loaded. Where its traces lie is fixed from then on."""

    def __init__(self, shell: Any) -> None:
        self.shell = shell
        self.names: dict[str, Any] = shell.user_ns
        self.surface = Surface(shell)
        self.surface.prepare()
        self.folder = self.surface.folder
        self.desk = Desk(self.folder)
        self.environment = {one.variable: os.environ.get(one.variable) for one in SETTINGS}

    @property
    def place(self) -> Place:
        return Place(self.folder, self.folder)

    def value(self, name: str) -> Any:
        """A variable of the notebook. Raises UsageError where there is none."""
        if name not in self.names:
            own = (known for known in self.names if known not in self.shell.user_ns_hidden)
            hint = nearest(name, (known for known in own if not known.startswith("_")))
            raise UsageError(f"`{name}` is not defined in this notebook" + (f", {hint}" if hint else ""))
        return self.names[name]

    def dollar(self, name: str) -> Any:
        """What `$name` stands for. Raises UsageError."""
        try:
            return self.value(name)
        except UsageError as error:
            raise UsageError(f"${name}: {error}; a dollar sign itself is written $$") from None

    def watch(self, run: Run, begin: Callable[[], Any], *, quiet: bool = False) -> Run:
        """Begins a run and shows it until it stops; one that failed raises one short error."""
        Watch(run, self.surface, quiet=quiet).block(begin)
        _raise_failure(run)
        if run.state == "paused" and Settings.read().on_pause == "raise":
            raise RunPaused(_waits(run))
        return _drawn(run)

    def leave(self, run: Run, *, quiet: bool = False) -> Run:
        """Begins a run and returns; it is shown where it was begun. Nobody there to see it: as `watch`."""
        if not interactive(run.request):
            print("nobody watches a run behind a cell here: the cell waits for it")
            return self.watch(run, run.begin, quiet=quiet)
        spots = Spots()
        watch = Watch(run, self.surface, quiet=quiet, spots=spots)
        watch.announce()
        if self.surface.has_widgets:
            spots.reserve()
        else:
            print(f"{run.workflow} runs in the background: `run.wait()`, `run.cancel()`")
        watch.background(run.begin)
        return _drawn(run)

    def draw(self, run: Run) -> Run:
        """Shows a run from what is known of it; a paused one with its forms, one at work as it goes on."""
        watch = Watch(run, self.surface)
        if run.running:
            watch.accompany()
        else:
            watch.draw()
        return _drawn(run)

    def trace(self, name: str | None, *, paused: bool = False, prefer_paused: bool = False) -> Path:
        """The trace that is meant: the one named, else the newest, of those that wait first."""
        if name is not None:
            return trace_of(name, self.folder)
        waiting = self.desk.waiting() if paused or prefer_paused else []
        if waiting:
            return waiting[0]
        entries = self.place.folder.list()
        if paused or not entries:
            what = "no paused run" if paused else "no trace"
            raise UsageError(f"there is {what} in {os.path.join('.nika', 'traces')}")
        return entries[0].path

    def held(self, trace: Path) -> Run:
        """The run that stopped there: the one in a variable of this notebook, for it goes on with it."""
        for value in list(self.names.values()):
            if (
                isinstance(value, Run)
                and value.trace is not None
                and value.trace.resolve() == trace.resolve()
            ):
                value.request = replace(value.request, door="%nika")
                return value
        return self.desk.attached(trace)

    def names_trace(self, word: str) -> bool:
        """Whether a word names a trace or a run rather than an answer."""
        stems = {entry.path.stem for entry in self.place.folder.list()}
        return word.endswith(".ndjson") or is_run_id(word) or word in stems


def _drawn(run: Run) -> Run:
    """The run as a cell's value: its panel stands right above, so it is not drawn again."""
    run.drawn = True
    return run


def _waits(run: Run) -> str:
    """Why *Run All* stops here, and how to go on."""
    asked = ", ".join(f"`{prompt.key}`" for prompt in run.prompts)
    how = f"%nika answer {run.trace.name} …" if run.trace else "%nika inbox"
    return f"`{run.workflow}` waits for an answer to {asked}: {how} (NIKA_NB_ON_PAUSE=raise stops here)"


def _raise_failure(run: Run) -> None:
    """A failed workflow stops Run All with a short error; the panel has the details."""
    if run.state == "failed":
        try:
            _ = run.outputs
        except RunFailed as failure:
            raise failure from None
