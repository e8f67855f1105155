"""What a request would do, looked up without running anything: its fate per task, its costs, its reach."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from nika_nb.board.forecast import Forecast
from nika_nb.errors import Source
from nika_nb.language.load import load
from nika_nb.language.model import Permits
from nika_nb.runs.ahead import foretold
from nika_nb.runs.answers import Answers
from nika_nb.runs.arguments import cap, mapping, resumed
from nika_nb.runs.doubt import in_doubt
from nika_nb.runs.draft import Draft, draft
from nika_nb.runs.given import with_inputs
from nika_nb.runs.inputs import unfilled
from nika_nb.runs.needs.models import uncapped
from nika_nb.runs.prepare import answers_of, missing_told, refuse_missing
from nika_nb.runs.request import Request, document
from nika_nb.runs.resumption import Resumption
from nika_nb.runs.rivals import taken_up
from nika_nb.runs.run import Run, interactive
from nika_nb.runs.waiting import StillWaits, refuse_to_ask_again
from nika_nb.runs.widening import widened
from nika_nb.trace.memory import JournalMemory


def plan_resume(
    workflow: str | Path,
    trace: str | Path | Run | Literal[True] | None = True,
    *,
    vars: Mapping[str, Any] | None = None,
    model: str | None = None,
    from_: str | Sequence[str] = (),
    ask_in_flight: bool = False,
    answer: Mapping[str, Any] | None = None,
    max_cost_usd: float | None = None,
    resume_compat: str | None = None,
    resume_unverified: bool = False,
) -> Forecast:
    """What `run(workflow, resume=trace, …)` would do with every task. Runs nothing, writes nothing.

    trace: True for the newest of this workflow, a path, a name in .nika/traces, a run's id, a Run, or None
    for a run that starts afresh.
    Raises CheckRefused, UsageError or ResumeRefused, as the run would.
    """
    return forecast(
        document(workflow).request(
            variables=mapping(vars, "vars", "vars={'topic': 'tea'}"),
            model=model,
            resume=False if trace is None else resumed(trace, "trace"),
            forced=(from_,) if isinstance(from_, str) else tuple(from_),
            ask_in_flight=ask_in_flight,
            answers=mapping(answer, "answer", "answer={'ask': 'yes'}"),
            max_cost_usd=cap(max_cost_usd),
            compat=resume_compat,
            unverified=resume_unverified,
        )
    )


def forecast(request: Request) -> Forecast:
    """Raises CheckRefused, UsageError or ResumeRefused, as a run of the request would."""
    drafted = draft(request)
    taken = taken_up(request, drafted)
    with taken.held:
        request, drafted = with_inputs(request, drafted, taken)
        refuse_missing(drafted, taken)
        taken.notices += missing_told(request, drafted, taken)
        answers = answers_of(request, drafted, taken)
        notices = _notices(request, drafted, taken, answers)
        doubtful = _doubtful(request, drafted, taken)
        tasks = foretold(request, drafted.plan, drafted.inputs, taken.memory, answers.all, doubtful)
    return Forecast(
        workflow=drafted.workflow.id,
        trace=taken.trace.path.name if taken.trace is not None else None,
        tasks=tuple(tasks),
        notices=(
            *notices,
            *unfilled(drafted.workflow, drafted.inputs),
            *uncapped(drafted.workflow, request),
        ),
        widened=tuple(_widened(drafted, taken, request)),
        cap_usd=request.max_cost_usd,
    )


def _notices(request: Request, drafted: Draft, resumed: Resumption, answers: Answers) -> Iterable[str]:
    """What would be said before the run, also where none would begin. Raises AlreadyAnswered."""
    try:
        refuse_to_ask_again(request, drafted, resumed, answers, interactive(request))
    except StillWaits as waits:
        return waits.notices
    return resumed.notices


def _doubtful(request: Request, drafted: Draft, resumed: Resumption) -> frozenset[str]:
    """The tasks of which a unit is asked about before it runs again."""
    if not request.ask_in_flight or not isinstance(resumed.memory, JournalMemory):
        return frozenset()
    return frozenset(key.partition("[")[0] for key in in_doubt(resumed.memory, drafted.workflow))


def _widened(drafted: Draft, resumed: Resumption, request: Request) -> Iterator[str]:
    """What today's texts may do beyond what the recorded ones might; called workflows by their names."""
    if resumed.trace is None:
        return
    base, texts = str(request.place.base), resumed.trace.sources()
    if resumed.trace.source is not None:
        yield from widened(_permits(resumed.trace.source), drafted.workflow.permits, base)
    for callee in drafted.children:
        if callee.name in texts:
            found = widened(_permits(texts[callee.name]), callee.plan.workflow.permits, base)
            yield from (f"{callee.name}: {entry}" for entry in found)


def _permits(text: str) -> Permits | None:
    workflow = load(Source(text)).workflow
    return workflow.permits if workflow is not None else None
