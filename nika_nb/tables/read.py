"""Journals as DataFrames: of one trace, or of all in a folder. Each table is one reading of the files."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nika_nb.errors import NikaError, UsageError
from nika_nb.runs.feeding import collection, labels_of
from nika_nb.runs.run import Run
from nika_nb.runs.traced import Traced, each_of, trace_of, traces_in
from nika_nb.tables.build import Builder
from nika_nb.tables.columns import KEYS, TABLES
from nika_nb.tables.fanout import FanOut, frame_of
from nika_nb.tables.inputs import input_rows
from nika_nb.tables.rows import ROWS, Row, run_row
from nika_nb.trace.fields import object_of
from nika_nb.trace.overview import Overview, overview
from nika_nb.trace.paging import with_texts
from nika_nb.trace.reader import frames, opening, read_run
from nika_nb.trace.trace import State

if TYPE_CHECKING:
    import pandas as pd


class Tables:
    """Eight tables, each read when it is asked for; `nika_nb.tables.TABLES` says their columns.

    A reading goes as far as the file did when the tables were made, so that they fit together also
    while a run goes on; the next `read_trace` sees more.
    """

    @cached_property
    def runs(self) -> pd.DataFrame:
        """One row per trace: its state, its figures."""
        return self._read("runs")

    @cached_property
    def inputs(self) -> pd.DataFrame:
        """One row per input of a run, with its value."""
        return self._read("inputs")

    @cached_property
    def tasks(self) -> pd.DataFrame:
        """One row per task, in document order. What a called workflow does stands in its call."""
        return self._read("tasks")

    @cached_property
    def items(self) -> pd.DataFrame:
        """One row per item of a `for_each` that has begun, by task and index."""
        return self._read("items")

    @cached_property
    def attempts(self) -> pd.DataFrame:
        """One row per attempt of a task or an item, in order; what a record stood in for has none."""
        return self._read("attempts")

    @cached_property
    def permits(self) -> pd.DataFrame:
        """One row per decision at the boundary."""
        return self._read("permits")

    @cached_property
    def prompts(self) -> pd.DataFrame:
        """One row per question to a human, waiting or decided."""
        return self._read("prompts")

    @cached_property
    def events(self) -> pd.DataFrame:
        """One row per line of the journal, all of its fields as JSON text."""
        return self._read("events")

    def _read(self, table: str) -> pd.DataFrame:
        raise NotImplementedError


class TraceTables(Tables):
    """The tables of one trace.

    workflow, run_id, state, torn, damage: of the whole trace, as it was when it was read.
    """

    def __fspath__(self) -> str:
        """Its journal: whoever takes a trace takes this."""
        return str(self.path)

    def __init__(self, seen: Overview, run: Run | None = None) -> None:
        self.path: Path = seen.path
        self.workflow: str | None = seen.workflow
        self.run_id: str | None = seen.run_id
        self.state: State = seen.state
        self.torn: bool = seen.torn
        self.damage: str | None = f"line {seen.damage.line}: {seen.damage.why}" if seen.damage else None
        self._seen = _Seen(seen)
        self._run = run

    def table(self, task: str, like: Any = None, *, unpack: bool = False) -> pd.DataFrame:
        """One row per item of a `for_each` task: its output, how it went, what it cost and saved.

        Items that have not begun are there as well, as pending. The index is that of the DataFrame which
        was given as the input whose elements the items are; where that is not known, as of a run that was
        attached from its trace, 0, 1, 2 … like: the DataFrame, Series or index whose labels to take.
        unpack: the members of outputs that are objects become columns.

        Raises UsageError for a task that is no fan-out, and an index of another length.
        """
        name, given = collection(self.path, task)
        if like is None and self._run is not None:
            like = labels_of(self._run, name)
        found = FanOut.of(self._seen.frames(), task, self.state == "running", given)
        return frame_of(found, like, unpack)

    @cached_property
    def outputs(self) -> dict[str, Any] | None:
        """What the workflow returned; None where nothing is recorded."""
        for frame, text in with_texts(self._seen.frames()):
            if frame.kind == "workflow_completed" and text is not None:
                return object_of(text)
        return None

    def _read(self, table: str) -> pd.DataFrame:
        builder = Builder(TABLES[table])
        builder.extend(self._seen.rows(table))
        return builder.frame()

    def __repr__(self) -> str:
        torn = " · torn tail" if self.torn else ""
        return f"TraceTables({self.path.name} · {self.workflow} · {self.state}{torn})"


@dataclass(frozen=True, slots=True)
class Skipped:
    """A file that could not be read as a trace, and why."""

    name: str
    why: str


class FolderTables(Tables):
    """The tables of many traces, the oldest first. `trace`, `run_id` and `workflow` stand before all columns.

    skipped: the files that could not be read. len() is how many could.
    """

    def __init__(self, found: Iterable[_Seen], skipped: Iterable[Skipped]) -> None:
        self._found = list(found)
        self.skipped = list(skipped)

    def __len__(self) -> int:
        return len(self._found)

    def _read(self, table: str) -> pd.DataFrame:
        columns = TABLES[table] if table == "runs" else (*KEYS, *TABLES[table])
        builder = Builder(columns)
        for seen in self._found:
            # What a folder's retention took away since is no longer part of the answer.
            with suppress(UsageError):
                builder.extend(seen.rows(table), () if table == "runs" else seen.key)
        return builder.frame()

    def __repr__(self) -> str:
        out = (
            f" · {len(self.skipped)} skipped: " + ", ".join(f.name for f in self.skipped[:3])
            if self.skipped
            else ""
        )
        return f"FolderTables({len(self)} traces{out}{', …' if len(self.skipped) > 3 else ''})"


class _Seen:
    """A trace up to the line that it had when it was first read. Holds figures, never frames."""

    def __init__(self, seen: Overview) -> None:
        self.path = seen.path
        self.started = seen.started
        self._run = run_row(seen)
        self._last = seen.last
        self._running = seen.state == "running"

    @property
    def key(self) -> Row:
        return self._run[: len(KEYS)]

    def frames(self) -> Iterator[Any]:
        return takewhile(lambda frame: frame.line <= self._last, frames(self.path))

    def rows(self, table: str) -> Iterable[Row]:
        if table == "runs":
            return [self._run]
        if table == "inputs":
            return input_rows(opening(self.path))
        return ROWS[table](self.frames(), self._running)


def read_trace(trace: Traced) -> TraceTables:
    """The tables of one trace: its path, its name in this folder, a run's id, or the Run itself.

    Also while the run goes on, and of a journal that broke off: then of what is there. Raises
    UsageError where there is no such trace, TraceUnreadable for another file.
    """
    seen = overview(trace_of(trace))
    if seen.state == "blocked":
        read_run(seen.path)  # says what it is
    return TraceTables(seen, trace if isinstance(trace, Run) else None)


def read_traces(where: Traced | Iterable[Traced] | Mapping[Any, Traced] = ".") -> FolderTables:
    """The tables of every trace in a folder, or of those that are listed.

    where: a folder that holds a `.nika`, or the traces themselves; or paths, names and Runs, in a list or
    a dict. What cannot be read as a trace is left out, and told in `.skipped`; refused resumes have no
    tables. Raises UsageError for a folder that is not there.
    """
    found: list[_Seen] = []
    skipped: list[Skipped] = []
    for path in _paths(where):
        try:
            seen = overview(path)
        except (NikaError, OSError) as error:
            skipped.append(Skipped(path.name, str(error)))
            continue
        if seen.state != "blocked":
            found.append(_Seen(seen))
    found.sort(key=lambda seen: (seen.started, seen.path.name))
    return FolderTables(found, skipped)


def _paths(where: Traced | Iterable[Traced] | Mapping[Any, Traced]) -> list[Path]:
    if isinstance(where, (str, os.PathLike)) and os.path.isdir(where):
        return traces_in(Path(where))
    if isinstance(where, (str, os.PathLike, Run)):
        what = "a Run" if isinstance(where, Run) else os.fspath(where)
        raise UsageError(f"{what} is no folder: `read_trace` reads one trace, a list several")
    return list(dict.fromkeys(map(trace_of, each_of(where))))
