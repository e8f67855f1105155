"""The traces of one project as runs: listed a page at a time, or found by a run's id."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from nika_nb.doors import command
from nika_nb.errors import UsageError
from nika_nb.files import no_folder
from nika_nb.runs.heads import Head, head_of
from nika_nb.runs.ids import is_run_id
from nika_nb.runs.index import Index, Unusable
from nika_nb.runs.index_tables import Due
from nika_nb.runs.records import STATUSES, Record, Summary, fold, grouped
from nika_nb.trace.folder import Entry, TraceFolder, look, newest_first
from nika_nb.trace.kinship import Elsewhere, nowhere
from nika_nb.trace.retention import Collection, Limits, collect
from nika_nb.values import nearest

LONGEST_PAGE = 1000
_LAST = 2**53  # what is more is counted by nobody


@dataclass(frozen=True, slots=True)
class Pages:
    """What a listing shows: stopped runs, and apart from them those without an end; the newest first.

    total, unfinished_total: how many there are of each.
    """

    runs: tuple[Summary, ...]
    total: int
    unfinished: tuple[Summary, ...]
    unfinished_total: int


class Shelf:
    """Reads the traces of a folder. Changes nothing but its own cache, and does without it."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def folder(self) -> TraceFolder:
        """The same, as a project's."""
        return TraceFolder(self.path.parent.parent, self.path.name)

    def judge(self) -> None:
        """Raises UsageError where the traces cannot be looked up, though some may be there."""
        if (why := no_folder(self.path)) is not None:
            raise UsageError(f"no traces can be looked up: {why}")

    def page(self, offset: int, limit: int, status: str | None = None) -> Pages:
        """Runs `offset` to `offset + limit`, of one status or of all. Raises UsageError for other ranges."""
        judge_range(offset, limit, ("offset", "limit"))
        self.judge()
        if status not in (None, *STATUSES):
            raise UsageError(f"a run's status is one of {', '.join(STATUSES)}, not {status!r}")
        if limit > LONGEST_PAGE:
            raise UsageError(f"a page has at most {LONGEST_PAGE} runs, not {limit}")
        try:
            (runs, total), (unfinished, unfinished_total) = Index(self.path).page(offset, limit, status)
        except Unusable:
            return _page(self._records(), offset, limit, status)
        return Pages(runs, total, unfinished, unfinished_total)

    def find(self, run_id: str) -> Record:
        """The record of a run. Raises UsageError for what is no run id, and for a run that is not here."""
        if not is_run_id(run_id):
            raise UsageError(f"{run_id!r} is not a run id: it looks like nightly-archive-1f0c2b7a")
        self.judge()
        record = fold(self.heads(run_id))
        if record is None:
            hint = nearest(run_id, self.runs()) or f"`{command('runs')}` shows what is"
            raise UsageError(f"there is no run {run_id} in {self.path}; {hint}")
        return record

    def runs(self) -> list[str]:
        """The ids of the newest runs, for a hint."""
        return list(dict.fromkeys(entry.run for entry in self._newest() if entry.run))

    def names(self) -> list[str]:
        """All that the newest traces are called by, for a hint."""
        return [*(entry.path.name for entry in self._newest()), *self.runs()]

    def _newest(self) -> Iterable[Entry]:
        return islice(self.entries(), LONGEST_PAGE)

    def heads(self, run_id: str) -> list[Head]:
        """Every trace of a run, as the folder holds them now."""
        try:
            return Index(self.path).of(run_id)
        except Unusable:
            return [head for head in self._all() if head.run == run_id]

    def heads_of(self, runs: Iterable[str]) -> dict[str, list[Head]]:
        """Every trace of several runs; no run is looked for by itself where there is no cache."""
        wanted = set(runs)
        if not wanted:
            return {}
        try:
            return grouped(Index(self.path).of(*wanted))
        except Unusable:
            return grouped(head for head in self._all() if head.run in wanted)

    def entries(self) -> Sequence[Entry]:
        """Every trace, newest first; files that are no journals are left out."""
        try:
            return Index(self.path).entries()
        except Unusable:
            return self.folder.list()

    def newest(self, workflow: str) -> Path | None:
        """The newest trace of a workflow's name that can be resumed.

        What resumed another one is newer than that, whatever the stamps say: clocks go back. Raises
        UsageError where none can be looked up.
        """
        self.judge()
        found = next((entry.path for entry in self.of_workflow(workflow) if entry.resumable), None)
        seen: set[Path] = set()
        while found is not None and found not in seen:
            seen.add(found)
            here = head_of(found)
            later = [look(self.path / head.name) for head in (self.resumers(here) if here else ())]
            fit = [entry for entry in later if entry and entry.resumable and entry.workflow == workflow]
            found = newest_first(fit)[0].path if fit else found
        return found

    def at_work(self, workflow: str) -> Entry | None:
        """The newest trace of a run of a workflow's name, where that run is at work."""
        newest = next(
            (entry for entry in self.of_workflow(workflow) if entry.kind == "workflow_started"), None
        )
        return newest if newest is not None and newest.state == "running" else None

    def of_workflow(self, workflow: str) -> Iterable[Entry]:
        """The traces of a workflow's name, newest first."""
        try:
            return Index(self.path).of_workflow(workflow)
        except Unusable:
            return self.folder.of_workflow(workflow)

    def resumers(self, head: Head) -> list[Head]:
        """The traces that say that they resumed this one, of whatever run."""
        return self.resumers_of([head])[head.name]

    def resumers_of(self, heads: Iterable[Head]) -> dict[str, list[Head]]:
        """The same for several, by name; the folder is looked through once."""
        asked = tuple(heads)
        try:
            found = Index(self.path).resumers([head.name for head in asked], [head.head for head in asked])
        except Unusable:
            found = [head for head in self._all() if head.resumed_trace or head.resumed_head] if asked else []
        by: dict[str | None, dict[str, Head]] = {}
        for one in found:
            for what in (one.resumed_trace, one.resumed_head):
                by.setdefault(what, {})[one.name] = one
        near = {head.name: by.get(head.name, {}) | by.get(head.head, {}) for head in asked}
        return {head.name: [one for one in near[head.name].values() if one.resumes(head)] for head in asked}

    def tidied(self, limits: Limits, elsewhere: Elsewhere = nowhere) -> Collection:
        """Old traces make room. Raises nothing; where the cache knows that none has to go, none is opened."""
        now = time.time_ns()
        try:
            entries = Index(self.path).entries(Due(limits.keep, limits.oldest(now), limits.budget))
        except Unusable:
            return collect(self.folder, limits, now=now, elsewhere=elsewhere)
        if not entries:
            return Collection()
        return collect(self.folder, limits, now=now, entries=entries, elsewhere=elsewhere)

    def _records(self) -> list[Record]:
        found = (fold(heads) for heads in grouped(self._all()).values())
        return [record for record in found if record is not None]

    def _all(self) -> Iterable[Head]:
        for path in self.path.glob("*.ndjson"):
            head = head_of(path)
            if head is not None:
                yield head


def judge_range(start: int, limit: int, names: tuple[str, str] = ("start", "limit")) -> None:
    """Raises UsageError unless start ≥ 0 and limit > 0; nothing has been opened then.

    names: what the caller calls the two.
    """
    for value, what in zip((start, limit), names, strict=True):
        if isinstance(value, bool) or not isinstance(value, int):
            raise UsageError(f"{what} is a whole number, not {value!r}")
    if max(start, limit) > _LAST:
        raise UsageError(f"{' and '.join(names)} are at most {_LAST}: there are not so many")
    if start < 0:
        raise UsageError(f"{names[0]} counts from 0, so it is not {start}")
    if limit <= 0:
        raise UsageError(f"{names[1]} is how many are wanted, so it is more than 0, not {limit}")


def _order(summary: Summary) -> tuple[int, str]:
    """The newest first."""
    return -summary.created, summary.run_id


def _page(records: Iterable[Record], offset: int, limit: int, status: str | None) -> Pages:
    summaries = sorted((record.summary for record in records), key=_order)
    stopped = [found for found in summaries if found.status is not None and status in (None, found.status)]
    open_ = [found for found in summaries if found.status is None]
    return Pages(tuple(stopped[offset : offset + limit]), len(stopped), tuple(open_[:limit]), len(open_))
