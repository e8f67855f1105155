"""What runs have spent, what resumes saved, what went into attempts that gave nothing; each dollar once."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from nika_nb.errors import NikaError
from nika_nb.runs.accounts import Amount, Entry, Ledger, TaskEntry
from nika_nb.runs.provenance import doubted
from nika_nb.runs.traced import Traced, each_of, trace_of, traces_in
from nika_nb.trace.figures import Figures
from nika_nb.trace.kinship import resumed_from
from nika_nb.trace.overview import Overview, overview
from nika_nb.trace.unit import Unit


def ledger(*runs: Traced | Iterable[Traced] | Mapping[Any, Traced]) -> Ledger:
    """What runs have spent, saved and wasted. Each dollar is counted once, however often it is asked about.

    runs: a Run, a trace, or a run's id stands for that invocation and all that it goes back to: the
    earlier ones of its run, and what they resumed. A folder stands for all of its traces, a list or a dict
    for each that is in it; nothing given for those of this folder. Raises UsageError for what is not there.
    """
    found: dict[str, _Page] = {}
    doubts: list[str] = []
    skipped: list[tuple[str, str]] = []
    given = [one for several in runs or (".",) for one in each_of(several)]
    for path in dict.fromkeys(path for one in given for path in _paths(one)):
        try:
            seen = overview(path)
        except (NikaError, OSError) as error:
            skipped.append((path.name, str(error)))
            continue
        doubts += doubted(path)
        key = seen.invocation or path.name
        if seen.state != "blocked" and (key not in found or found[key].events < seen.events):
            found[key] = _Page.of(seen)  # of two copies of a journal the one that knows more
    pages = sorted(found.values(), key=lambda page: (page.entry.started, page.entry.trace))
    return replace(_folded(pages, skipped), doubts=tuple(doubts))


@dataclass(frozen=True, slots=True)
class _Page:
    """What is kept of one trace: its entry, and (task, whether it ran, spent, wasted, saved) of each task."""

    events: int
    entry: Entry
    tasks: tuple[tuple[str, bool, Amount, Amount, Amount], ...]

    @classmethod
    def of(cls, seen: Overview) -> _Page:
        told = [unit for unit in seen.tasks.values() if unit.cached or unit.started is not None]
        tasks = ((unit.task, not unit.cached, *_amounts_of(unit)) for unit in told)
        return cls(seen.events, _entry(seen), tuple(tasks))


def _amounts_of(of: Unit | Overview) -> tuple[Amount, Amount, Amount]:
    return Amount.of(of.spent), Amount.of(of.wasted), Amount.of(of.saved)


def _paths(given: Traced) -> Iterator[Path]:
    if isinstance(given, (str, os.PathLike)) and os.path.isdir(given):
        yield from traces_in(Path(given))
        return
    path: Path | None = trace_of(given)
    seen: set[Path] = set()
    while path is not None and path not in seen and path.exists():
        seen.add(path)
        yield path
        path = resumed_from(path)


def _folded(pages: Iterable[_Page], skipped: Iterable[tuple[str, str]]) -> Ledger:
    total = _Total()
    tasks: dict[tuple[str, str], _Total] = {}
    entries: list[Entry] = []
    for page in pages:
        entry = page.entry
        entries.append(entry)
        total.add(True, entry.spent, entry.wasted, entry.saved)
        for name, ran, *amounts in page.tasks:
            tasks.setdefault((entry.workflow, name), _Total()).add(ran, *amounts)
    told = [
        TaskEntry(workflow, name, task.runs, task.hits, *task.amounts())
        for (workflow, name), task in tasks.items()
    ]
    return Ledger(tuple(entries), tuple(told), *total.amounts(), skipped=tuple(skipped))


class _Total:
    """A sum of (spent, wasted, saved), and of how many."""

    def __init__(self) -> None:
        self.runs = self.hits = 0
        self._figures = Figures(), Figures(), Figures()

    def add(self, ran: bool, *amounts: Amount) -> None:
        self.runs += ran
        self.hits += not ran
        for total, more in zip(self._figures, amounts, strict=True):
            total.add(Figures(more.usd, more.tokens, more.ms))

    def amounts(self) -> tuple[Amount, Amount, Amount]:
        spent, wasted, saved = map(Amount.of, self._figures)
        return spent, wasted, saved


def _entry(seen: Overview) -> Entry:
    assert seen.state != "blocked"
    spent, wasted, saved = _amounts_of(seen)
    return Entry(
        trace=seen.path.name,
        run_id=seen.run_id,
        workflow=seen.workflow or "",
        state=seen.state,
        started=seen.started,
        resumed=seen.resumed,
        spent=spent,
        wasted=wasted,
        saved=saved,
        unpriced=seen.unpriced,
        cut_off=seen.cut_off,
    )
