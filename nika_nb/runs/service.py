"""The durable runs of one project, the same for every door: started, looked at, gone on with, ended."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from nika_nb.errors import CheckRefused, NikaError, UsageError
from nika_nb.files import here
from nika_nb.runs.arguments import mapping
from nika_nb.runs.calling_off import end_elsewhere
from nika_nb.runs.deployments import Broken, Deployment, Deployments
from nika_nb.runs.following import Follow
from nika_nb.runs.inspecting import Inspection, Unrunnable, inspected, piece
from nika_nb.runs.interrupted import declined_keys, interrupted, nothing_to_cancel
from nika_nb.runs.kin import answered_elsewhere, told_in
from nika_nb.runs.lack import Lack, Lacking, RunBlocked, lacks_of
from nika_nb.runs.readiness import lacks_now
from nika_nb.runs.records import Checkpoint, Readiness, Record, Summary
from nika_nb.runs.request import NOT_VOUCHED, Door, Origin, Request, Vouched, document
from nika_nb.runs.run import Run, attach
from nika_nb.runs.run import start as start_run
from nika_nb.runs.run_list import RunList as RunList
from nika_nb.runs.run_list import Unfinished as Unfinished
from nika_nb.runs.session import working
from nika_nb.runs.shelf import Shelf, judge_range
from nika_nb.runs.snapshots import snapshot
from nika_nb.trace.ends import standing
from nika_nb.trace.folder import TraceFolder

Answered = Literal["submitted", "declined"]
Range = tuple[int, int] | None  # of a trace: where it starts, how many frames at most


class Runs:
    """The durable runs of one project.

    root: the folder whose `.nika` holds them; None for the current one. door, origin: where the
    caller stands, for the journals.
    """

    def __init__(
        self, root: str | Path | None = None, door: Door = "Python", origin: Origin = "python"
    ) -> None:
        self.root = here() if root is None else Path(root).resolve()
        self.folder = TraceFolder(self.root)
        self.deployments = Deployments(self.root)
        self._door = door
        self._origin = origin

    # -- to begin --------------------------------------------------------------------------

    def launch(self, request: Request) -> Run | Unrunnable:
        """A run at work, once everything that it needs is there."""
        request = replace(request, durable=True, door=self._door, origin=self._origin)
        try:
            return start_run(request)
        except (CheckRefused, Lacking) as refused:
            return Unrunnable(lacks_of(refused))

    def start(
        self, request: Request, *, wait: bool = True, trace_range: Range = None
    ) -> Inspection | Unrunnable:
        """Starts a run; returns it once it has stopped, or at once where nobody waits."""
        judge(trace_range)
        launched = self.launch(request)
        if isinstance(launched, Unrunnable):
            return launched
        return self.attend(launched, wait=wait, trace_range=trace_range)

    def deploy(self, name: str, request: Request) -> Deployment:
        """Raises CheckRefused or UsageError; then nothing was written."""
        return self.deployments.add(name, snapshot(request))

    def deployed(
        self, name: str, inputs: Mapping[str, Any] | None = None, version: int | None = None
    ) -> Request | Unrunnable:
        """The request that runs a deployment. Raises UsageError where there is none."""
        try:
            found = self.deployments.get(name, version)
        except Broken as broken:
            return Unrunnable((broken.lack,))
        return replace(found.snapshot.request(self.root, inputs or {}), deployment=found.deployed)

    def run_deployment(
        self,
        name: str,
        inputs: Mapping[str, Any] | None = None,
        *,
        version: int | None = None,
        interactive: bool | None = None,
        gc: bool = True,
        wait: bool = True,
        trace_range: Range = None,
    ) -> Inspection | Unrunnable:
        """A run of a deployment: its newest version, or the one that is named."""
        judge(trace_range)
        request = self.deployed(name, inputs, version)
        if isinstance(request, Unrunnable):
            return request
        request = replace(request, interactive=interactive, gc=gc)
        return self.start(request, wait=wait, trace_range=trace_range)

    def attend(self, run: Run, *, wait: bool = True, trace_range: Range = None) -> Inspection:
        """The run as it is once it has stopped. An interrupt ends it."""
        if wait:
            run.finish()
        return self._looked_at(run, trace_range)

    def _looked_at(self, run: Run, trace_range: Range) -> Inspection:
        run_id = run.id or ""
        while run.running and run.trace is None:
            run.pause_a_moment()
        if run.trace is None:
            raise NikaError(run.journal_error or f"{run_id} has no journal")
        found = self.read_run_trace(run_id, *trace_range) if trace_range else self.inspect_run(run_id)
        return replace(found, notices=tuple(filter(None, (*run.notices, run.journal_error))))

    # -- to look at ------------------------------------------------------------------------

    def list_runs(self, offset: int = 0, limit: int = 50, status: str | None = None) -> RunList:
        """Compact summaries of the runs that have stopped, and apart from them the others.

        status: only those that are interrupted, completed or failed.
        """
        pages = Shelf(self.folder.path).page(offset, limit, status)
        unfinished = tuple(Unfinished(summary, self._at(summary)) for summary in pages.unfinished)
        runs = told_in(pages.runs, self.folder.path)
        return RunList(runs, offset, limit, pages.total, unfinished, pages.unfinished_total)

    def _at(self, summary: Summary) -> Literal["running", "incomplete"]:
        """As it was when the page was made: what has ended since was running."""
        found = standing(self.folder.path / summary.traces[-1])
        return "incomplete" if found is None or found.state == "incomplete" else "running"

    def inspect_run(self, run_id: str) -> Inspection:
        """What a run is, asks and returned; never its trace. Raises UsageError for an unknown one."""
        return self._inspected(self._find(run_id))

    def _inspected(self, record: Record) -> Inspection:
        """With the readiness of a run that waits as it is now, whatever the last resume found."""
        found = inspected(record, self.folder.path)
        if found.status != "interrupted":
            return found
        path = self.folder.path / record.latest.name
        if (told := answered_elsewhere([path], self.folder.path).get(path)) is not None:
            found = replace(found, summary=replace(found.summary, answered_by=told.by.run))
            return _found_lacking(found, told.lacks)
        return _found_lacking(found, lacks_now(path))

    def read_run_trace(self, run_id: str, start: int, limit: int) -> Inspection:
        """The run with a bounded piece of its trace. The range is judged before anything is opened."""
        judge_range(start, limit)
        record = self._find(run_id)
        found = piece(record, self.folder.path, start, limit)
        return replace(self._inspected(record), trace=found)

    def checkpoints(self, run_id: str) -> tuple[Checkpoint, ...]:
        """Where it has stopped so far, from the first stop on."""
        return self._find(run_id).checkpoints

    def follow(self, run_id: str, *, through_pauses: bool = True) -> Follow:
        """Its frames, those to come included."""
        return Follow(self.folder.path, run_id, through_pauses=through_pauses)

    def _find(self, run_id: str) -> Record:
        return Shelf(self.folder.path).find(run_id)

    # -- to go on, or not ------------------------------------------------------------------

    def resume_run(
        self,
        run_id: str,
        answers: Any = None,
        outcome: Answered = "submitted",
        *,
        shown: Mapping[str, str] | None = None,
        interactive: bool | None = None,
        vouched: Vouched = NOT_VOUCHED,
        gc: bool = True,
        wait: bool = True,
        trace_range: Range = None,
    ) -> Inspection:
        """Answers, or declines, what an interrupted run asks, and goes on with it.

        Something in the way: it is blocked, and the answers were not consumed. Raises UsageError for a
        run that is not interrupted and for a wrong answer, ResumeRefused where another one was first.
        """
        judge(trace_range)
        try:
            run = self.go_on(
                run_id, answers, outcome, shown=shown, interactive=interactive, vouched=vouched, gc=gc
            )
        except RunBlocked as blocked:
            return self.blocked(run_id, blocked)
        return self.attend(run, wait=wait, trace_range=trace_range)

    def go_on(
        self,
        run_id: str,
        answers: Any = None,
        outcome: Answered = "submitted",
        *,
        shown: Mapping[str, str] | None = None,
        interactive: bool | None = None,
        vouched: Vouched = NOT_VOUCHED,
        gc: bool = True,
    ) -> Run:
        """As `resume_run`, but at work. Raises RunBlocked where something is in the way."""
        record = interrupted(self.folder.path, self._find(run_id))
        run = self._attached(record, interactive, gc)
        if outcome == "declined":
            return run.decline(*declined_keys(answers), wait=False, **vouched.options)
        if outcome != "submitted":
            raise UsageError(f"outcome is `submitted` or `declined`, not {outcome!r}")
        if answers is None or answers == {}:
            raise UsageError(f"{run_id} waits for an answer: give one, or decline")
        return run.answer(answers, wait=False, shown=shown, **vouched.options)

    def _attached(self, record: Record, interactive: bool | None = None, gc: bool = True) -> Run:
        """The run as it stopped, to be gone on with through this door."""
        run = attach(self.folder.path / record.latest.name)
        own: dict[str, Any] = {"door": self._door, "origin": self._origin, "interactive": interactive}
        run.request = replace(run.request, gc=gc, **own)
        return run

    def blocked(self, run_id: str, blocked: RunBlocked) -> Inspection:
        """Blocked by what was just found in the way, also where no note of it could be written."""
        return _found_lacking(inspected(self._find(run_id), self.folder.path), blocked.lacks)

    def cancel(self, run_id: str) -> Inspection:
        """Ends a run that is at work, in whatever process of this machine, or that waits for an answer.

        Its cleanups still run. Raises UsageError for one that is over, or that cannot be asked to end,
        ResumeRefused where it is answered just then, RunBlocked where it lacks what its cleanups need.
        """
        own = working(run_id)
        for session in own:
            session.cancel()
        for session in own:
            session.wait()
        elsewhere = self._elsewhere(run_id)
        for path, pid in elsewhere:
            end_elsewhere(run_id, path, pid)
        record = self._find(run_id)
        if record.summary.status == "interrupted":
            self._attached(record).cancel()
        elif not own and not elsewhere:
            raise UsageError(nothing_to_cancel(record))
        return self.inspect_run(run_id)

    def _elsewhere(self, run_id: str) -> list[tuple[Path, int | None]]:
        """The journals of a run that other processes are at work on, and which these are."""
        heads = Shelf(self.folder.path).heads(run_id)
        paths = [self.folder.path / head.name for head in heads if head.end is None]
        stands = ((path, standing(path)) for path in paths)
        return [(path, found.pid) for path, found in stands if found is not None and found.running]


def _found_lacking(found: Inspection, lacks: tuple[Lack, ...]) -> Inspection:
    """An interrupted run, blocked by what it lacks; ready where that is nothing."""
    readiness: Readiness = "blocked" if lacks else "ready"
    summary = replace(found.summary, resume_readiness=readiness, diagnostic_count=len(lacks))
    return replace(found, summary=summary, diagnostics=lacks)


def judge(trace_range: Range) -> None:
    """Raises UsageError for a range that is none, before anything happens."""
    if trace_range is not None:
        judge_range(*trace_range)


def request_of(
    text_or_path: str | Path,
    root: str | Path | None = None,
    *,
    vars: Mapping[str, Any] | None = None,
    model: str | None = None,
    max_cost_usd: float | None = None,
    interactive: bool | None = None,
    gc: bool = True,
) -> Request:
    """The request for a text, a file or `book.ipynb::name`. root: where its journal lies; None for the
    file's folder.

    Raises CheckRefused or UsageError for a file that cannot be read.
    """
    return document(text_or_path).request(
        None if root is None else Path(root),
        variables=mapping(vars, "vars", "vars={'topic': 'tea'}"),
        model=model,
        max_cost_usd=max_cost_usd,
        interactive=interactive,
        gc=gc,
    )
