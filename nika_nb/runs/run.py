"""A run as people hold it: its state, its outputs, its trace, and what can be done next."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nika_nb.board import Board, mimebundle, still_text
from nika_nb.board.framed import fan_out
from nika_nb.engine.contract import Prompt as Prompt
from nika_nb.engine.events import Event as Event
from nika_nb.errors import NotPaused, UsageError
from nika_nb.runs.assembling import Prepared
from nika_nb.runs.at_work import AtWork
from nika_nb.runs.growing import Growing
from nika_nb.runs.interrupted import interrupted
from nika_nb.runs.lack import RunBlocked
from nika_nb.runs.prepare import prepare
from nika_nb.runs.provenance import doubted
from nika_nb.runs.recorded import continuation, place_of, recorded_request, shown_path
from nika_nb.runs.request import NOT_VOUCHED, Place, Request, Vouched
from nika_nb.runs.returned import TaskResult as TaskResult
from nika_nb.runs.returned import outputs_of, tasks_of
from nika_nb.runs.session import Session
from nika_nb.runs.shelf import Shelf
from nika_nb.runs.waiting import StillWaits
from nika_nb.trace.reader import read_run

if TYPE_CHECKING:
    from nika_nb.board.framed import DataFrame
    from nika_nb.board.replay import Replay


class Run(AtWork):
    """One durable run: the invocation at work, or the last one that stopped.

    `answer()` continues the same run in a new invocation; `resume()` begins another run that skips
    what this one settled.
    """

    @property
    def outputs(self) -> dict[str, Any]:
        """What the workflow returned. Else raises RunUnfinished, RunPaused or RunFailed, one sentence."""
        return outputs_of(self, self._session)

    @property
    def tasks(self) -> dict[str, TaskResult]:
        """Every task by id, in document order; secrets are blotted out."""
        return tasks_of(self, self._session)

    # -- what is done with it --------------------------------------------------------------

    def answer(
        self,
        answer: Any = None,
        *,
        wait: bool = True,
        shown: Mapping[str, str] | None = None,
        resume_compat: str | None = None,
        resume_unverified: bool = False,
        **by_task: Any,
    ) -> Run:
        """Answers open prompts and goes on, in this same Run.

        `run.answer(True)`, `run.answer({"ask": "yes"})` or `run.answer(ask="yes")`. A wrong answer
        raises UsageError and consumes nothing. resume_compat, resume_unverified: as of `nika_nb.run`.
        """
        vouched = Vouched(resume_compat, resume_unverified)
        return self._go_on(_given(answer, by_task), shown or {}, (), wait, vouched)

    def decline(
        self,
        *tasks: str,
        wait: bool = True,
        resume_compat: str | None = None,
        resume_unverified: bool = False,
    ) -> Run:
        """Goes on without answers: to these prompts, or to every open one.

        A confirmation settles as false; any other prompt fails with NIKA-CANCEL-001, so that its gates
        and its `on_error` decide what becomes of the run.
        """
        declined = tasks or tuple(prompt.key for prompt in self.prompts)
        return self._go_on({}, {}, declined, wait, Vouched(resume_compat, resume_unverified))

    def cancel(self) -> None:
        """Ends the run, every process it started included. Its cleanups still run.

        One that works in another process is asked to; `wait()` tells when it has ended. One that waits for
        an answer has ended when this returns, and can be answered no more. Raises ResumeRefused where
        somebody answers it just then, RunBlocked where its trace does not hold what its cleanups need.
        """
        self.stop()
        if self.state == "paused":
            self._go_on({}, {}, (), wait=True, called_off=True)

    def _go_on(
        self,
        answers: Mapping[str, Any],
        shown: Mapping[str, str],
        declined: tuple[str, ...],
        wait: bool,
        vouched: Vouched = NOT_VOUCHED,
        *,
        called_off: bool = False,
    ) -> Run:
        if self.state != "paused":
            raise self._no_pause()
        trace = self._kept()
        request = continuation(trace, self.request, answers, shown)
        request = replace(request, declined=declined, called_off=called_off)
        request = replace(request, compat=vouched.compat, unverified=vouched.unverified)
        before = self.request, self.board, self._session
        self._continue(prepare(request, interactive=called_off or self._asks()))
        try:
            if wait:
                self.finish()
            else:
                self.begin()
        except RunBlocked:  # nothing happened: it waits as before
            self.request, self.board, self._session = before
            raise
        return self

    def _no_pause(self) -> NotPaused:
        """What the run says that waits for no answer: of one that went on, when and by which door."""
        if self.trace is not None and self.id:
            try:
                interrupted(self.trace.parent, Shelf(self.trace.parent).find(self.id))
            except NotPaused as told:
                return told
            except UsageError:  # its trace lies alone
                pass
        return NotPaused(f"`{self.workflow}` is {self.state}: it waits for no answer")

    def _kept(self) -> Path:
        """The journal, once it tells all that happened. Raises UsageError where it could not be written."""
        journal = self._session.prepared.journal if self._session else None
        if journal is not None and not journal.complete():
            raise UsageError(
                f"`{self.workflow}` cannot go on: {journal.error}. Nothing was consumed. Make the folder "
                "writable, and room on the disk, then answer again"
            )
        self._mark_trace()
        if self.trace is None:
            raise NotPaused(f"`{self.workflow}` wrote no trace to go on from")
        return self.trace

    def _asks(self) -> bool:
        return interactive(self.request)

    def _continue(self, prepared: Prepared) -> None:
        with self._turn:
            self.request = prepared.request
            self.board = Board(run_id=prepared.run_id)
            self._session, self._growing = Session(prepared), None

    def resume(
        self,
        *,
        vars: Mapping[str, Any] | None = None,
        model: str | None = None,
        from_: str | Sequence[str] = (),
        ask_in_flight: bool = False,
        answer: Mapping[str, Any] | None = None,
        max_cost_usd: float | None = None,
        resume_compat: str | None = None,
        resume_unverified: bool = False,
        background: bool = False,
    ) -> Run:
        """Another run of the same text that skips what this one settled; returns as `nika_nb.run` does.

        vars: over the inputs that this one had. model, max_cost_usd: None keeps those of this one.
        from_: the tasks and items (`rows[3]`) that run live, with all that is behind them. background:
        return at once. Where nothing would run but what this one asks already, it is this one.
        """
        journal = self._session.prepared.journal if self._session else None
        if journal is not None:
            journal.complete()  # what still cannot be written runs again
        if self.trace is None:
            raise UsageError(f"`{self.workflow}` wrote no trace to resume from")
        request = replace(
            self.request,
            resume=self.trace,
            continues=False,
            spent_usd=0.0,
            shown={},
            variables={**self.request.variables, **(vars or {})},
            model=model or self.request.model,
            forced=(from_,) if isinstance(from_, str) else tuple(from_),
            ask_in_flight=ask_in_flight,
            answers=dict(answer or {}),
            max_cost_usd=self.request.max_cost_usd if max_cost_usd is None else max_cost_usd,
            compat=resume_compat,
            unverified=resume_unverified,
        )
        run = ready(request)
        if run._said:
            self._said = run._said
            return self
        if background:
            run.begin()
        else:
            run.finish()
        return run

    def recall(self, trace: Path) -> None:
        """Somebody else went on with this run: from here on it is what that trace tells."""
        told = attach(trace)
        with self._turn:
            self.board, self._session, self._recorded_at = told.board, None, trace
            self._growing = told._growing

    def replay(self, *, fine: bool = False) -> Replay:
        """The run to be stepped through, from its traces; see `nika_nb.replay`."""
        if self.trace is None:
            raise UsageError(f"`{self.workflow}` wrote no trace to replay")
        from nika_nb.runs.replaying import replay_of

        return replay_of(self.trace, fine=fine)

    def table(self, task: str, like: Any = None, *, unpack: bool = False) -> DataFrame:
        """One row per item of a `for_each` task, on the index of the DataFrame that fed it.

        Columns: output, state, cached, attempts, duration, cost_usd, saved_usd, … like: the DataFrame or
        index whose labels to take, for a run that does not know its own. unpack: the members of outputs
        that are objects become columns. See `TraceTables.table`.
        """
        return fan_out(self, task, like, unpack)

    # -- how it looks ----------------------------------------------------------------------

    def __repr__(self) -> str:
        self.catch_up()
        return still_text(self.board)

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        self.catch_up()
        return mimebundle(self.board)

    def _ipython_display_(self) -> None:
        if self.drawn:
            self.drawn = False
            return
        from IPython.display import display

        display(self._repr_mimebundle_(), raw=True)  # type: ignore[no-untyped-call]


def ready(request: Request) -> Run:
    """A run about to begin; the one that waits, where a resume would only ask again what that one asks.

    Raises CheckRefused, UsageError or ResumeRefused; then nothing happened.
    """
    try:
        return Run(request, Session(prepare(request, interactive=interactive(request))))
    except StillWaits as waits:
        return _waiting(waits, request)


def _waiting(waits: StillWaits, request: Request) -> Run:
    """The run that stands there already, to be answered through the door that asked for another one."""
    run = attach(waits.trace, request.place)
    own = {name: getattr(request, name) for name in ("door", "origin", "interactive", "gc")}
    run.request = replace(run.request, **own, variables={**run.request.variables, **request.variables})
    run._said = waits.notices
    return run


def start(request: Request) -> Run:
    """A run at work. Raises as `ready` does."""
    run = ready(request)
    run.begin()
    return run


def attach(trace_path: str | Path, place: Place | None = None) -> Run:
    """The run that a trace tells of, from the file alone; one that is at work is followed in it.

    Raises UsageError for a note.
    """
    path = Path(trace_path)
    trace = read_run(path)
    board = Board()
    for frame in trace.frames:
        board.apply(frame)
    if not trace.running:
        board.close()
        board.trouble = " · ".join(doubted(path))
    board.run_id = trace.run_id or ""
    board.trace_path, board.trace_events = shown_path(path), len(trace.frames)
    board.trace_head = "" if board.trouble else trace.head
    request = recorded_request(trace, place or place_of(trace) or Place.here())
    run = Run(request, None, board)
    run._recorded_at = path
    run._growing = Growing(trace) if trace.running else None
    return run


def interactive(request: Request) -> bool:
    """Whether a human can answer: the environment's word first, then the surface's, else no."""
    from nika_nb.settings import Settings

    said = Settings.read().interactive
    return said if said is not None else bool(request.interactive)


def _given(answer: Any, by_task: Mapping[str, Any]) -> dict[str, Any]:
    if isinstance(answer, Mapping):
        return dict(answer) | dict(by_task)
    if answer is None and by_task:
        return dict(by_task)
    return {"": answer} | dict(by_task)
