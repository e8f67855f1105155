"""A run as people hold it: its state, its outputs, its trace, and what can be done next."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nika_nb.board import Board, mimebundle, still_text
from nika_nb.board.clean import error_line
from nika_nb.engine.contract import Prompt as Prompt
from nika_nb.engine.events import Event as Event
from nika_nb.engine.outcome import Outcome
from nika_nb.errors import NotPaused, RunFailed, RunPaused, RunUnfinished, UsageError
from nika_nb.runs.assembling import Prepared
from nika_nb.runs.framed import fan_out
from nika_nb.runs.growing import Growing
from nika_nb.runs.lack import RunBlocked
from nika_nb.runs.prepare import prepare
from nika_nb.runs.provenance import doubted
from nika_nb.runs.recorded import continuation, place_of, recorded_request, shown_path
from nika_nb.runs.request import Place, Request
from nika_nb.runs.session import Session
from nika_nb.runs.waiting import StillWaits
from nika_nb.trace.reader import read, read_run
from nika_nb.trace.trace import Trace
from nika_nb.values import Named, loads

if TYPE_CHECKING:
    from nika_nb.board.replay import Replay
    from nika_nb.runs.framed import DataFrame

_PATIENCE = 50  # interrupts that are taken while a run is being ended


@dataclass(frozen=True, slots=True)
class TaskResult:
    """What became of one task.

    state: success failure skipped cancelled cached paused running pending. output: its value, None
    unless it succeeded. error: the typed error record of a failure. duration_ms: of the verb run.
    attempts: how often its verb was run in this invocation, 0 where a record stood for it.
    """

    id: str
    state: str
    output: Any = None
    error: dict[str, Any] | None = None
    duration_ms: int | None = None
    attempts: int = 0


class Run:
    """One durable run: the invocation at work, or the last one that stopped.

    `answer()` continues the same run in a new invocation; `resume()` begins another run that skips
    what this one settled.
    """

    def __init__(self, request: Request, session: Session | None = None, board: Board | None = None) -> None:
        self.request = request
        self.board = board if board is not None else Board(run_id=session.prepared.run_id if session else "")
        self._session = session
        self._recorded_at: Path | None = None
        self._growing: Growing | None = None  # the journal of an invocation that somebody else runs
        self._said: tuple[str, ...] = ()  # to whoever would have begun another run instead of this one
        self._turn = threading.RLock()
        self.drawn = False  # its panel stands right above: a cell's value is not drawn twice

    # -- what it is ------------------------------------------------------------------------

    @property
    def id(self) -> str | None:
        """The durable run's id: the same after every answer."""
        return self._session.prepared.run_id if self._session else self.board.run_id

    @property
    def invocation(self) -> str | None:
        """The id of the invocation at work, as the journal's lines carry it."""
        return self._session.prepared.invocation if self._session else None

    @property
    def workflow(self) -> str:
        return self.board.workflow or self.request.source.name

    @property
    def state(self) -> str:
        """running, completed, failed, cancelled, paused or incomplete."""
        self.catch_up()
        return self.board.state

    @property
    def trace(self) -> Path | None:
        """The journal of the newest invocation; None where none was written."""
        if self._session is not None and self._session.prepared.journal is not None:
            return self._session.prepared.journal.path
        return self._recorded_at

    @property
    def journal_error(self) -> str | None:
        """What went wrong with the journal; the run itself is unaffected."""
        journal = self._session.prepared.journal if self._session else None
        return journal.error if journal is not None else None

    @property
    def notices(self) -> list[str]:
        """What was said before the run started: where it resumes from, what is not trusted."""
        return [*(self._session.prepared.notices if self._session else ()), *self._said]

    @property
    def prompts(self) -> tuple[Prompt, ...]:
        """The questions that wait for an answer."""
        self.catch_up()
        return tuple(self.board.prompts) if self.board.state == "paused" else ()

    @property
    def outputs(self) -> dict[str, Any]:
        """What the workflow returned. Else raises RunUnfinished, RunPaused or RunFailed, one sentence."""
        state = self.state
        verdict = self._session.verdict if self._session else None
        if state == "completed":
            return self._returned(verdict.outputs) if verdict else self._written()
        if state == "paused":
            waiting = ", ".join(prompt.key for prompt in self.prompts)
            raise RunPaused(f"`{self.workflow}` waits for an answer to {waiting}: it has no outputs yet")
        if state == "running":
            raise RunUnfinished(f"`{self.workflow}` is still running: `run.wait()` waits for its outputs")
        raise RunFailed(f"`{self.workflow}` {self._failure()}: it has no outputs")

    def _returned(self, outputs: Mapping[str, Any] | None) -> dict[str, Any]:
        """The outputs, without the secrets that may not leave with them."""
        assert self._session is not None
        inside = self._session.prepared.masker.inside
        return Named({name: inside.mask(value) for name, value in (outputs or {}).items()}, "output")

    def _written(self) -> dict[str, Any]:
        found = self._recorded().outputs
        if found is None:
            raise RunFailed(f"the outputs of `{self.workflow}` are in no journal: a secret stands in them")
        return Named(found, "output")

    def _failure(self) -> str:
        if self.board.state != "failed":
            return "was cancelled" if self.board.state == "cancelled" else "never reached its end"
        first = next((row for row in self.board.rows.values() if row.state == "failed"), None)
        detail = error_line(first.detail if first else self.board.detail, 400)
        return f"failed at `{first.id}` ({detail})" if first else f"failed ({detail})"

    @property
    def tasks(self) -> dict[str, TaskResult]:
        """Every task by id, in document order; secrets are blotted out."""
        self.catch_up()
        outcomes = self._outcomes()
        found = {name: _result(row, outcomes.get(name)) for name, row in self.board.rows.items()}
        return Named({name: self._shown(result) for name, result in found.items()}, "task")

    def _shown(self, result: TaskResult) -> TaskResult:
        if self._session is None:
            return result
        output, error = self._session.prepared.masker.mask([result.output, result.error])
        return replace(result, output=output, error=error)

    def _outcomes(self) -> dict[str, Outcome | dict[str, Any]]:
        if self._session is not None and self._session.verdict is not None:
            return dict(self._session.verdict.tasks)
        if self.trace is None:
            return {}
        found: dict[str, Outcome | dict[str, Any]] = {}
        for frame, text in self._recorded().texts():
            outcome, task = frame.get("outcome"), frame.get("task")
            if isinstance(outcome, str) and isinstance(task, str) and frame.kind != "nb_item_completed":
                found[task] = _shape(outcome, text)
        return found

    def _recorded(self) -> Trace:
        if self.trace is None:
            raise UsageError(f"`{self.workflow}` wrote no trace")
        return read(self.trace)

    # -- what it does ----------------------------------------------------------------------

    def catch_up(self, seen: Callable[[Event], None] | None = None) -> Board:
        """The board with everything that happened so far; `seen` gets each new event. From any thread."""
        with self._turn:
            if self._session is not None:
                for event in self._session.drain():
                    self.board.apply(event)
                    if seen is not None:
                        seen(event)
                self._mark_trace()
            elif self._growing is not None:
                self._follow(self._growing, seen)
            return self.board

    def _follow(self, growing: Growing, seen: Callable[[Event], None] | None) -> None:
        """What somebody else's journal has told since; at its end the board is closed as the file says."""
        found = growing.drain()
        for frame in found:
            self.board.apply(frame)
            if seen is not None:
                seen(Event(frame.kind, frame.fields, frame.timestamp, frame.id))
        self.board.trace_events += len(found)
        if growing.over:
            self._growing = None
            self.board.trace_head = growing.head
            self.board.close()

    def _mark_trace(self) -> None:
        journal = self._session.prepared.journal if self._session else None
        if journal is None:
            return
        trouble = journal.error or ""
        if trouble != self.board.trouble:
            self.board.trouble = trouble
            self.board.version += 1
        if journal.path is not None:
            self.board.trace_path = shown_path(journal.path)
            self.board.trace_head = "" if journal.trouble else journal.head or ""
            self.board.trace_events = journal.written

    @property
    def running(self) -> bool:
        return self._growing is not None or (self._session is not None and not self._session.done.is_set())

    def pause_a_moment(self) -> None:
        """Waits until the invocation stops or a short while is over; an interrupt is felt at once."""
        if self._session is not None:
            self._session.done.wait(0.03)
        elif self._growing is not None:
            self._growing.wait()

    def begin(self) -> None:
        """Sets a run that is ready to work."""
        if self._session is not None:
            self._session.start()

    def finish(self) -> None:
        """Begins and blocks until the run stops. An interrupt ends the run at once and is raised again."""
        try:
            self.begin()
            self.wait()
        except KeyboardInterrupt:
            self.end_now()
            raise

    def end_now(self) -> None:
        """Cancels and waits until all has ended; every further interrupt cancels again, cleanups too."""
        for _ in range(_PATIENCE):
            try:
                self.stop()
                self.wait()
                return
            except KeyboardInterrupt:
                continue

    def wait(self, timeout: float | None = None) -> bool:
        """Blocks until the invocation stops, at most `timeout` seconds; whether it has stopped."""
        if self._session is None:
            return self._grown(timeout)
        stopped = self._session.wait(timeout)
        self.catch_up()
        if stopped and self._session.error is not None:
            raise self._session.error
        return stopped

    def _grown(self, timeout: float | None) -> bool:
        """The same for an invocation of somebody else's."""
        until = None if timeout is None else time.monotonic() + timeout
        while self.running:
            self.catch_up()
            if until is not None and time.monotonic() >= until:
                return not self.running
            self.pause_a_moment()
        return True

    def cancel(self) -> None:
        """Ends the run, every process it started included. Its cleanups still run.

        One that works in another process is asked to; `wait()` tells when it has ended. One that waits for
        an answer has ended when this returns, and can be answered no more. Raises ResumeRefused where
        somebody answers it just then, RunBlocked where its trace does not hold what its cleanups need.
        """
        self.stop()
        if self.state == "paused":
            self._go_on({}, {}, (), wait=True, called_off=True)

    def stop(self) -> None:
        """As `cancel`, but a run that waits for an answer goes on waiting."""
        if self._session is not None:
            self._session.cancel()
        elif self._growing is not None:
            self._growing.cancel()

    def answer(
        self, answer: Any = None, *, wait: bool = True, shown: Mapping[str, str] | None = None, **by_task: Any
    ) -> Run:
        """Answers open prompts and goes on, in this same Run.

        `run.answer(True)`, `run.answer({"ask": "yes"})` or `run.answer(ask="yes")`. A wrong answer
        raises UsageError and consumes nothing.
        """
        return self._go_on(_given(answer, by_task), shown or {}, (), wait)

    def decline(self, *tasks: str, wait: bool = True) -> Run:
        """Goes on without answers: to these prompts, or to every open one.

        A confirmation settles as false; any other prompt fails with NIKA-CANCEL-001, so that its gates
        and its `on_error` decide what becomes of the run.
        """
        return self._go_on({}, {}, tasks or tuple(prompt.key for prompt in self.prompts), wait)

    def _go_on(
        self,
        answers: Mapping[str, Any],
        shown: Mapping[str, str],
        declined: tuple[str, ...],
        wait: bool,
        *,
        called_off: bool = False,
    ) -> Run:
        if self.state != "paused":
            raise NotPaused(f"`{self.workflow}` is {self.state}: it waits for no answer")
        trace = self._kept()
        request = continuation(trace, self.request, answers, shown)
        request = replace(request, declined=declined, called_off=called_off)
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


def _shape(outcome: str, text: str | None) -> dict[str, Any]:
    """A recorded outcome with its value; empty where a strange file holds something else."""
    try:
        shape = loads(outcome)
        if text is not None:
            shape["payload"]["value"] = loads(text)
        return {"payload": dict(shape["payload"])}
    except (ValueError, TypeError, KeyError, RecursionError):
        return {"payload": {}}


_STATES = {"ok": "success", "failed": "failure", "retrying": "running"}


def _result(row: Any, outcome: Outcome | dict[str, Any] | None) -> TaskResult:
    output, error = _payload(outcome)
    state = _STATES.get(row.state, row.state)
    return TaskResult(row.id, state, output, error, row.duration_ms, row.attempts)


def _payload(outcome: Outcome | dict[str, Any] | None) -> tuple[Any, dict[str, Any] | None]:
    if outcome is None:
        return None, None
    if isinstance(outcome, Outcome):
        error = outcome.error.to_json() if outcome.error else None
        return outcome.value, None if outcome.status == "success" else error
    payload = outcome["payload"]
    return payload.get("value"), payload.get("error")
