"""A request → a prepared run; every refusal happens here, before the first frame."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from nika_nb.authority.secrets import hidden_before_a_run
from nika_nb.doors import option
from nika_nb.engine.contract import Answer
from nika_nb.errors import CheckRefused, UsageError
from nika_nb.plan.plan import Plan
from nika_nb.runs.answered import refuse_earlier
from nika_nb.runs.answers import Answers, decided, for_edit, for_open, kept, plain_key, task_of
from nika_nb.runs.assembling import Prepared, assembled, relied_on
from nika_nb.runs.blocked import blocked
from nika_nb.runs.children import pinned_texts, recorded
from nika_nb.runs.draft import Draft, draft
from nika_nb.runs.given import with_inputs
from nika_nb.runs.kin import refuse_twice, told_of_kin, turn_of_kin
from nika_nb.runs.lack import Lacking, RunBlocked
from nika_nb.runs.needs import journals
from nika_nb.runs.preflight import lacking
from nika_nb.runs.request import Request
from nika_nb.runs.resumption import Resumption
from nika_nb.runs.rivals import taken_up
from nika_nb.runs.truly import refuse_untrue
from nika_nb.runs.waiting import refuse_to_ask_again
from nika_nb.settings import Settings
from nika_nb.trace.memory import JournalMemory
from nika_nb.trace.trace import Trace
from nika_nb.trace.trust import Untrusted
from nika_nb.values import dumps

_TOLD = 5  # of the things that are missing, by name


def prepare(request: Request, *, interactive: bool, settings: Settings | None = None) -> Prepared:
    """Raises CheckRefused, UsageError or ResumeRefused; then nothing was run and no file was made.

    Where a paused run cannot go on here, raises RunBlocked: nothing was consumed, and a note beside the
    trace keeps what is in the way. Raises StillWaits where nothing would run but what its trace asks already.
    """
    settings = settings or Settings.read()
    try:
        return _begun(request, interactive, settings)
    except (CheckRefused, Lacking, Untrusted) as refused:
        if not request.continues:
            raise
        raise blocked(request, refused, keep=settings.trace_file) from None


def unwritten(prepared: Prepared, why: str) -> Lacking | RunBlocked:
    """The refusal of a run whose journal took no first line. Nothing was run and nothing was consumed."""
    lack = journals.unwritable(prepared.request.place.folder, why)
    if prepared.resumption.run_id is None:
        return Lacking([lack])
    return RunBlocked(prepared.run_id, [lack], None)


def _begun(request: Request, interactive: bool, settings: Settings) -> Prepared:
    drafted = draft(request)
    resumed = taken_up(request, drafted)
    try:
        with hidden_before_a_run(drafted.workflows, request.place.base):
            return _with_answers(request, drafted, resumed, interactive, settings)
    except BaseException:
        resumed.close()
        raise


def _with_answers(
    request: Request, drafted: Draft, resumed: Resumption, interactive: bool, settings: Settings
) -> Prepared:
    request, drafted = with_inputs(request, drafted, resumed)
    if not request.called_off:  # a cleanup that cannot run fails by itself
        refuse_missing(drafted, resumed)
    _refuse_lacking(request, drafted.plan, resumed, settings)
    resumed.notices += missing_told(request, drafted, resumed)
    answers = answers_of(request, drafted, resumed)
    _refuse_twice(request, resumed, answers)
    refuse_to_ask_again(request, drafted, resumed, answers, interactive)
    return assembled(request, drafted, resumed, answers, interactive, settings)


def refuse_missing(drafted: Draft, resumed: Resumption) -> None:
    """Raises Lacking for what this version lacks, unless every task that would need it is recorded."""
    lacks = drafted.lacking(resumed.memory)
    if lacks:
        raise Lacking(lacks)


def _refuse_lacking(request: Request, plan: Plan, resumed: Resumption, settings: Settings) -> None:
    """Raises Lacking where a run that has to be relied on lacks something that it will need."""
    if not relied_on(request, resumed):
        return
    lacks = lacking(plan, request.place.base, resumed.memory) if not request.called_off else []
    lacks += journals.tried(request.place.folder, settings) if not lacks else []
    if lacks:
        raise Lacking(lacks)


def missing_told(request: Request, drafted: Draft, resumed: Resumption) -> list[str]:
    """What a run that nobody relies on will miss: a line for each of the first things."""
    if relied_on(request, resumed) or request.called_off or request.reproduces is not None:
        return []
    lacks = lacking(drafted.plan, request.place.base, resumed.memory)
    more = len(lacks) - _TOLD
    told = [f"missing: {lack.sentence}" for lack in lacks[:_TOLD]]
    return [*told, *([f"missing: {more} more"] if more > 0 else [])]


def _refuse_twice(request: Request, resumed: Resumption, answers: Answers) -> None:
    """Raises AlreadyAnswered for a question that another run asked as well and got an answer to."""
    if resumed.trace is None or resumed.run_id is None:
        return
    folder, path = request.place.folder, resumed.trace.path
    keys = [key for key, answer in answers.now.items() if not answer.declined]
    if keys:
        resumed.opening.enter_context(turn_of_kin(path, folder))
    refuse_twice(path, folder, keys)
    resumed.notices += told_of_kin(path, folder)


def answers_of(request: Request, drafted: Draft, resumed: Resumption) -> Answers:
    """The answers of a run by prompt. Raises UsageError or ResumeRefused for one that is not taken."""
    plan, children = drafted.plan, drafted.children
    trace, memory = resumed.trace, resumed.memory
    before, reopened = {}, frozenset[str]()
    if trace is not None and isinstance(memory, JournalMemory):
        before, reopened = kept(trace, memory.forced, memory.reopened), memory.reopened
    if not request.answers and not request.declined:
        return Answers(before=before)
    if request.continues and trace is not None:
        refuse_untrue(request, trace, drafted)
        asked = {prompt.key for prompt in trace.prompts}
        refuse_earlier(trace.path, (*request.answers, *request.declined), asked)
        given = for_open(trace.prompts, request.answers, request.shown, "resumed", request.declined)
        return Answers(given, trace.prompts)
    texts = pinned_texts(request.source.name, plan, children)
    same = trace is not None and trace.source == request.source.text and recorded(texts, trace)
    if trace is not None and trace.state == "paused" and same:
        _refuse_for_others(trace, reopened)
        refuse_untrue(request, trace, drafted)
        return Answers(for_open(trace.prompts, request.answers, request.shown, "resumed"), trace.prompts)
    given = for_edit(plan, request.answers, request.shown)
    if isinstance(memory, JournalMemory):
        _refuse_decided(given, plan, memory, before if memory.trace.ran(request.source.text) else {})
    return Answers(given, before=before)


def _refuse_for_others(trace: Trace, reopened: Collection[str]) -> None:
    """Raises UsageError where a question was asked for other inputs than would be used now."""
    for prompt in trace.prompts:
        if plain_key(prompt.key) in reopened:
            raise UsageError(
                f"nothing was run: with these inputs an answer to `{prompt.key}` would set off something "
                f"else than {trace.path.name} tells; resume without an answer, and it is asked anew"
            )


def _refuse_decided(
    given: Mapping[str, Answer], plan: Plan, memory: JournalMemory, before: Mapping[str, Any]
) -> None:
    """A decided gate stays decided, unless the question was edited or --from reopens it."""
    for key in given:
        found = before[key].get("value") if key in before else decided(key, plan, memory)
        if found is not None or key in before:
            raise UsageError(
                f"`{key}` was already answered ({dumps(found)}) in "
                f"{memory.trace.path.name}: an answer is not taken back. To ask again, resume with "
                f"{option('from', task_of(key))}"
            )
