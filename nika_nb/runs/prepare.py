"""A request → everything a session needs; every refusal happens here, before the first frame."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from nika_nb.authority.secrets import Masker, SecretStore
from nika_nb.check import Report
from nika_nb.engine.budget import Budget
from nika_nb.engine.clock import SystemClock, VirtualClock
from nika_nb.engine.contract import Answer, Process, Verbs
from nika_nb.engine.engine import Setup
from nika_nb.engine.events import Sink
from nika_nb.engine.turns import Turns
from nika_nb.errors import CheckRefused, UsageError
from nika_nb.language.jq import JqWorker
from nika_nb.language.model import Workflow
from nika_nb.plan.identity import secret_marker
from nika_nb.plan.plan import Plan
from nika_nb.runs.answered import refuse_earlier
from nika_nb.runs.answers import Answers, decided, for_edit, for_open, kept, task_of
from nika_nb.runs.approvals import used_up
from nika_nb.runs.blocked import blocked
from nika_nb.runs.children import Children, pinned_texts, recorded
from nika_nb.runs.doubt import AskFirst, carried, in_doubt
from nika_nb.runs.draft import Draft, draft
from nika_nb.runs.ids import new_invocation_id, new_run_id, seed_of
from nika_nb.runs.lack import Lack, Lacking, RunBlocked
from nika_nb.runs.manifest import manifest, source_name, source_pages
from nika_nb.runs.namesakes import told_of_namesake
from nika_nb.runs.needs import journals
from nika_nb.runs.needs.models import made_up, uncapped
from nika_nb.runs.preflight import lacking, settled
from nika_nb.runs.request import Request
from nika_nb.runs.resumption import Resumption, resumption
from nika_nb.runs.shelf import Shelf
from nika_nb.settings import Settings
from nika_nb.trace.keys import SigningKey, signing_key
from nika_nb.trace.memory import JournalMemory
from nika_nb.trace.retention import Limits
from nika_nb.trace.seal import Sealing
from nika_nb.trace.writer import Journal
from nika_nb.values import dumps
from nika_nb.verbs.calling import Around
from nika_nb.verbs.runner import LocalVerbs
from nika_nb.verbs.sweep import end


@dataclass
class Prepared:
    """A run about to start. `setup(sink)` makes the engine's setup; `close()` lets everything go.

    invocation: the id of this start, as its journal's lines carry it.
    """

    request: Request
    workflow: Workflow
    plan: Plan
    report: Report
    resumption: Resumption
    run_id: str
    invocation: str
    verbs: Verbs
    masker: Masker
    journal: Journal | None
    setup: Callable[[Sink], Setup]
    notices: list[str] = field(default_factory=list)
    closers: list[Callable[[], Any]] = field(default_factory=list)

    @property
    def relied_on(self) -> bool:
        """Whether it may not begin unless its journal does: it is durable, or consumes an answer."""
        return _relied_on(self.request, self.resumption)

    def close(self) -> None:
        for closer in self.closers:
            closer()
        self.resumption.held.close()


def prepare(request: Request, *, interactive: bool, settings: Settings | None = None) -> Prepared:
    """Raises CheckRefused, UsageError or ResumeRefused; then nothing was run and no file was made.

    Where something is missing that a paused run needs to go on, raises RunBlocked: nothing was
    consumed, and a note beside the trace keeps what was missing.
    """
    settings = settings or Settings.read()
    try:
        return _begun(request, interactive, settings)
    except (CheckRefused, Lacking) as refused:
        if not request.continues:
            raise
        raise blocked(request, _lacks(refused), keep=settings.trace_file) from None


def unwritten(prepared: Prepared, why: str) -> Lacking | RunBlocked:
    """The refusal of a run whose journal took no first line. Nothing was run and nothing was consumed."""
    lack = journals.unwritable(prepared.request.place.folder, why)
    if prepared.resumption.run_id is None:
        return Lacking([lack])
    return RunBlocked(prepared.run_id, [lack], None)


def _relied_on(request: Request, resumed: Resumption) -> bool:
    return request.durable or resumed.run_id is not None


def _lacks(refused: CheckRefused | Lacking) -> tuple[Lack, ...]:
    if isinstance(refused, Lacking):
        return refused.lacks
    return tuple(Lack.of(found) for found in refused.diagnostics if found.severity == "error")


def _begun(request: Request, interactive: bool, settings: Settings) -> Prepared:
    drafted = draft(request)
    resumed = resumption(request, drafted.workflow, drafted.plan)
    try:
        refuse_missing(drafted, resumed)
        _refuse_lacking(request, drafted.plan, resumed, settings)
        answers = answers_of(request, drafted, resumed)
        return _prepared(request, drafted, resumed, answers, interactive, settings)
    except BaseException:
        resumed.held.close()
        raise


def refuse_missing(drafted: Draft, resumed: Resumption) -> None:
    """Raises Lacking for what this version lacks, unless every task that would need it is recorded."""
    lacks = drafted.lacking(resumed.memory)
    if lacks:
        raise Lacking(lacks)


def _refuse_lacking(request: Request, plan: Plan, resumed: Resumption, settings: Settings) -> None:
    """Raises Lacking where a run that has to be relied on lacks something that it will need."""
    if not _relied_on(request, resumed):
        return
    done = settled(resumed.trace) if resumed.trace is not None else frozenset[str]()
    lacks = lacking(plan, request.place.base, done)
    lacks += journals.tried(request.place.folder, settings.trace_file) if not lacks else []
    if lacks:
        raise Lacking(lacks)


def answers_of(request: Request, drafted: Draft, resumed: Resumption) -> Answers:
    """The answers of a run by prompt. Raises UsageError or ResumeRefused for one that is not taken."""
    plan, children = drafted.plan, drafted.children
    trace, memory = resumed.trace, resumed.memory
    before = kept(trace, memory.forced) if trace is not None and isinstance(memory, JournalMemory) else {}
    if not request.answers and not request.declined:
        return Answers(before=before)
    if request.continues and trace is not None:
        asked = {prompt.key for prompt in trace.prompts}
        refuse_earlier(trace.path, (*request.answers, *request.declined), asked)
        given = for_open(trace.prompts, request.answers, request.shown, "resumed", request.declined)
        return Answers(given, trace.prompts)
    texts = pinned_texts(request.source.name, plan, children)
    same = trace is not None and trace.source == request.source.text and recorded(texts, trace)
    if trace is not None and trace.state == "paused" and same:
        return Answers(for_open(trace.prompts, request.answers, request.shown, "resumed"), trace.prompts)
    given = for_edit(plan, request.answers, request.shown)
    if isinstance(memory, JournalMemory):
        _refuse_decided(given, plan, memory, before if memory.trace.ran(request.source.text) else {})
    return Answers(given, before=before)


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
                f"--from {task_of(key)}"
            )


def _prepared(
    request: Request,
    drafted: Draft,
    resumed: Resumption,
    answers: Answers,
    interactive: bool,
    settings: Settings,
) -> Prepared:
    plan, children, inputs = drafted.plan, drafted.children, drafted.inputs
    workflow = plan.workflow
    key = _sealing_key(settings)
    masker = Masker()
    store = SecretStore(workflow.secrets, request.place.base, masker)
    seed = seed_of(workflow.run, resumed.trace.head if resumed.trace else None)
    deterministic = seed is not None
    run_id = resumed.run_id or new_run_id(workflow.id, seed)
    known = told_of_namesake(request, run_id) if deterministic and resumed.run_id is None else []
    invocation = new_invocation_id(seed)
    worker = JqWorker()
    around = Around(
        clock=VirtualClock() if deterministic or workflow.run.clock == "virtual" else SystemClock(),
        masker=masker,
        memory=resumed.memory,
        turns=Turns(settings.max_parallel),
        budget=Budget(request.max_cost_usd, request.spent_usd),
        width=1 if deterministic else settings.max_parallel,
        seed=seed,
        above=(children.top,),
    )
    doubtful = _in_doubt(request, workflow, resumed)
    approvals = used_up(resumed.trace) if resumed.trace is not None and resumed.run_id else []
    verbs = LocalVerbs(
        workflow=workflow,
        plan=plan,
        base=str(request.place.base),
        model=request.model or workflow.model,
        interactive=interactive,
        answers=answers.all,
        jq=worker,
        around=around,
        approvals=set(approvals),
    )
    store.arm()
    for callee in children:
        SecretStore(callee.plan.workflow.secrets, request.place.base, masker).arm()
    journal = None
    if settings.trace_file:
        journal = Journal(
            request.place.folder.path,
            run=invocation,
            correlation=run_id,
            durability=settings.durability,
        )
    answered = answers.fields(masker, doubtful)
    answered |= {"declined": dumps(list(request.declined))} if request.declined else {}
    answered |= {"in_doubt": dumps(sorted(doubtful))} if doubtful else {}
    answered |= {"approvals": dumps(approvals)} if approvals else {}
    promised = {"seal_key": key.public.id} if key is not None else {}
    first = manifest(request, workflow, inputs, resumed.fields | answered | promised, masker)

    def setup(sink: Sink) -> Setup:
        if key is not None and journal is not None:
            sink = Sealing(sink, key, journal, first["workflow_sha256"])
        return Setup(
            plan=plan,
            inputs=inputs,
            secrets=store,
            markers=store.markers(secret_marker),
            verbs=AskFirst(verbs, doubtful, answers.now, workflow) if doubtful else verbs,
            extractor=worker,
            memory=around.memory,
            clock=around.clock,
            mask=masker,
            sink=sink,
            base=str(request.place.base),
            manifest=first,
            preamble=_texts(request, plan, children, masker),
            width=around.width,
            turns=around.turns,
            serial=deterministic,
            seed=seed,
            budget=around.budget,
        )

    notices = [*request.notices, *resumed.notices, *known]
    notices += [*uncapped(workflow, request), *made_up(workflow, request), *_sweep(resumed)]
    notices += _tidied(request, settings)
    closers: list[Callable[[], Any]] = [verbs.close, worker.close]
    if journal is not None:
        closers.append(journal.close)
    return Prepared(
        request=request,
        workflow=workflow,
        plan=plan,
        report=drafted.report,
        resumption=resumed,
        run_id=run_id,
        invocation=invocation,
        verbs=verbs,
        masker=masker,
        journal=journal,
        setup=setup,
        notices=notices,
        closers=closers,
    )


def _texts(
    request: Request, plan: Plan, children: Children, masker: Masker
) -> list[tuple[str, dict[str, Any]]]:
    """The exact text that runs, and the texts of everything that it is made of; secrets stand in none."""
    texts = [(source_name(request, plan.workflow), request.source.text)]
    texts += pinned_texts(request.source.name, plan, children).items()
    return [page for name, text in texts for page in source_pages(name, text, masker)]


def _sealing_key(settings: Settings) -> SigningKey | None:
    """Raises UsageError where a seal is wanted and cannot be made."""
    if settings.sign_key is None or not settings.trace_file:
        return None
    return signing_key(Path(settings.sign_key).expanduser())


def _tidied(request: Request, settings: Settings) -> list[str]:
    """Makes room for the trace that is about to be written; a line where something went."""
    if not request.gc or not settings.trace_file:
        return []
    found = Shelf(request.place.folder.path).tidied(Limits.of(settings))
    return [found.sentence] if found.removed or found.trouble else []


def _in_doubt(request: Request, workflow: Workflow, resumed: Resumption) -> frozenset[str]:
    """What is not to be run again without asking, by the keys of the questions about it."""
    if request.continues and resumed.trace is not None:
        return carried(resumed.trace)
    if request.ask_in_flight and isinstance(resumed.memory, JournalMemory):
        return in_doubt(resumed.memory, workflow)
    return frozenset()


def _sweep(resumed: Resumption) -> list[str]:
    """Ends what the crashed run left running, before anything is started a second time."""
    if not isinstance(resumed.memory, JournalMemory):
        return []
    said: list[str] = []
    for left in resumed.memory.running_at_crash():
        if left.pgid is not None and end(Process(left.pgid, left.started or "")):
            said.append(f"`{left.key}` was still running (process group {left.pgid}) and was ended")
        else:
            said.append(f"`{left.key}` was running when the last run broke off")
    return said
