"""Processes that a dead engine left at work: found by what its journal witnessed, and ended on request."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from nika_nb.engine.contract import Process, unit_key
from nika_nb.errors import NikaError
from nika_nb.runs.records import Summary
from nika_nb.runs.shelf import LONGEST_PAGE, Shelf
from nika_nb.trace.memory import JournalMemory
from nika_nb.trace.reader import read
from nika_nb.verbs.sweep import end, is_alive

LARGEST = 16 << 20  # bytes of a journal that is read by the way


@dataclass(frozen=True, slots=True)
class Orphan:
    """A process group of a task whose engine is gone. trace: the journal that witnessed its start."""

    trace: Path
    workflow: str
    unit: str
    process: Process


def orphans(traces: Iterable[Path]) -> Iterator[Orphan]:
    """What still runs of these journals; of those that have an end, or a living writer, nothing."""
    for path in traces:
        try:
            trace = read(path)
        except NikaError:
            continue
        if trace.state != "incomplete":
            continue
        for left in JournalMemory(trace).running_at_crash():
            process = Process(left.pgid or 0, left.started or "")
            if left.pgid is not None and is_alive(process):
                yield Orphan(path, trace.workflow or "", unit_key(left.task, left.item), process)


def sweep(folder: Path) -> list[str]:
    """Ends every orphan of a folder of traces; a line for each."""
    unfinished = Shelf(folder).page(0, 1).unfinished_total
    found = Shelf(folder).page(0, min(max(unfinished, 1), LONGEST_PAGE)).unfinished
    said: list[str] = []
    for orphan in orphans(newest_traces(folder, found)):
        if end(orphan.process):
            what = f"`{orphan.unit}` of {orphan.workflow}"
            said.append(f"{what} still ran (process group {orphan.process.pgid}) and was ended")
    return said


def swept(folder: Path) -> str:
    """What `sweep` says, also where there was nothing to end."""
    return "\n".join(sweep(folder)) or "no process of a dead run still runs"


def newest_traces(folder: Path, runs: Iterable[Summary]) -> list[Path]:
    """The file that each run wrote last."""
    return [folder / summary.traces[-1] for summary in runs]
