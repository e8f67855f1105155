"""Everything that one run is made of, put together from what was decided about it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from nika_nb.authority.secrets import Masker, SecretStore
from nika_nb.check import Report
from nika_nb.engine.budget import Budget
from nika_nb.engine.clock import SystemClock, VirtualClock
from nika_nb.engine.contract import Process, Verbs
from nika_nb.engine.events import Sink
from nika_nb.engine.setup import Setup
from nika_nb.engine.turns import Turns
from nika_nb.language.jq import JqWorker
from nika_nb.language.model import Workflow
from nika_nb.plan.identity import secret_marker
from nika_nb.plan.plan import Plan
from nika_nb.runs.answers import Answers
from nika_nb.runs.approvals import used_up
from nika_nb.runs.children import Children, pinned_texts
from nika_nb.runs.claims import claimed
from nika_nb.runs.doubt import AskFirst, carried, in_doubt
from nika_nb.runs.draft import Draft
from nika_nb.runs.ids import new_invocation_id, new_run_id, seed_of
from nika_nb.runs.inputs import unfilled
from nika_nb.runs.making_room import made_room, went
from nika_nb.runs.manifest import manifest, source_name, source_pages
from nika_nb.runs.namesakes import told_of_namesake
from nika_nb.runs.needs.journals import sealing_key
from nika_nb.runs.needs.models import made_up, uncapped
from nika_nb.runs.request import Request
from nika_nb.runs.resumption import Resumption
from nika_nb.settings import Settings
from nika_nb.trace.memory import JournalMemory
from nika_nb.trace.retention import Collection
from nika_nb.trace.seal import Sealing
from nika_nb.trace.writer import Journal
from nika_nb.values import dumps
from nika_nb.verbs.behind import Given
from nika_nb.verbs.calling import Around
from nika_nb.verbs.leaving import Leaving
from nika_nb.verbs.runner import LocalVerbs
from nika_nb.verbs.sweep import end

_TOLD = 3  # of the tasks and items that were running at a crash, by name


@dataclass
class Prepared:
    """A run about to start. `setup(sink)` makes the engine's setup; `close()` lets everything go.

    invocation: the id of this start, as its journal's lines carry it. tidied: the old traces that made room.
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
    tidied: Collection = field(default_factory=Collection)

    @property
    def relied_on(self) -> bool:
        return relied_on(self.request, self.resumption)

    def close(self) -> None:
        for closer in self.closers:
            closer()
        self.resumption.close()


def relied_on(request: Request, resumed: Resumption) -> bool:
    """Whether the run may not begin unless its journal does: it is durable, or consumes an answer."""
    return request.durable or resumed.run_id is not None


def assembled(
    request: Request,
    drafted: Draft,
    resumed: Resumption,
    answers: Answers,
    interactive: bool,
    settings: Settings,
) -> Prepared:
    """Raises UsageError where the journal is to be sealed and cannot be. Ends what a crash left running."""
    parts = _Parts(request, drafted, resumed, answers, interactive, settings)
    swept, room = _sweep(resumed), made_room(request, settings)
    return Prepared(
        request=request,
        workflow=drafted.workflow,
        plan=drafted.plan,
        report=drafted.report,
        resumption=resumed,
        run_id=parts.run_id,
        invocation=parts.invocation,
        verbs=parts.verbs,
        masker=parts.masker,
        journal=parts.journal,
        setup=parts.setup,
        notices=[*settings.troubles, *parts.notices(), *swept, *went(room)],
        tidied=room,
        closers=[owner.close for owner in (parts.verbs, parts.jq, parts.journal) if owner is not None],
    )


class _Parts:
    """The parts of one run, each made of those before it."""

    def __init__(
        self,
        request: Request,
        drafted: Draft,
        resumed: Resumption,
        answers: Answers,
        interactive: bool,
        settings: Settings,
    ) -> None:
        self._request, self._drafted, self._resumed = request, drafted, resumed
        self._answers, self._settings = answers, settings
        self._key = sealing_key(settings)
        self.masker = Masker()
        self._seed = seed_of(drafted.workflow.run, resumed.trace.head if resumed.trace else None)
        self.run_id = resumed.run_id or new_run_id(drafted.workflow.id, self._seed)
        self.invocation = new_invocation_id(self._seed)
        self._known = self._claimed()
        self._doubtful = _in_doubt(request, drafted.workflow, resumed)
        self._approvals = used_up(resumed.trace) if resumed.trace is not None and resumed.run_id else []
        self.jq = JqWorker(computed=self.masker.learn)
        self._around = self._made_around()
        self._given = cache(lambda: Given.of(drafted.inputs, self.masker))
        self.verbs = self._made_verbs(interactive)
        self._store = self._armed()
        self.journal = self._made_journal()
        self._first = self._made_first()

    def setup(self, sink: Sink) -> Setup:
        if self._key is not None and self.journal is not None:
            sink = Sealing(sink, self._key, self.journal, self._first["workflow_sha256"])
        around, drafted = self._around, self._drafted
        return Setup(
            plan=drafted.plan,
            inputs=drafted.inputs,
            secrets=self._store,
            markers=self._store.markers(secret_marker),
            verbs=self._asking_first(),
            extractor=self.jq,
            memory=around.memory,
            clock=around.clock,
            mask=self.masker,
            sink=sink,
            base=str(self._request.place.base),
            manifest=self._first,
            preamble=_texts(self._request, drafted.plan, drafted.children, self.masker),
            width=around.width,
            turns=around.turns,
            serial=self._seed is not None,
            seed=self._seed,
            budget=around.budget,
            called_off=around.called_off,
        )

    def notices(self) -> list[str]:
        """What is said before the run starts."""
        request, workflow = self._request, self._drafted.workflow
        about = [*uncapped(workflow, request), *made_up(workflow, request), *self._answers.empty()]
        if not request.continues:
            about += unfilled(workflow, self._drafted.inputs)
        return [*request.notices, *self._resumed.notices, *self._known, *about]

    def _claimed(self) -> list[str]:
        """What is known of a run whose id its seed gives; from here on nobody else is at work on it."""
        if self._seed is None or not self._settings.trace_file:
            return []
        fresh = self._resumed.run_id is None
        known = told_of_namesake(self._request, self.run_id) if fresh else []
        self._resumed.held.enter_context(claimed(self._request, self.run_id))
        return known

    def _made_around(self) -> Around:
        run, request, most = self._drafted.workflow.run, self._request, self._settings.max_parallel
        deterministic = self._seed is not None
        return Around(
            clock=VirtualClock() if deterministic or run.clock == "virtual" else SystemClock(),
            masker=self.masker,
            memory=self._resumed.memory,
            turns=Turns(most),
            budget=Budget(request.max_cost_usd, request.spent_usd),
            width=1 if deterministic else most,
            seed=self._seed,
            above=(self._drafted.children.top,),
            called_off=request.called_off,
        )

    def _made_verbs(self, interactive: bool) -> LocalVerbs:
        workflow = self._drafted.workflow
        return LocalVerbs(
            workflow=workflow,
            plan=self._drafted.plan,
            base=str(self._request.place.base),
            model=self._request.model or workflow.model,
            interactive=interactive,
            answers=self._answers.all,
            jq=self.jq,
            around=self._around,
            given=self._given,
            approvals=set(self._approvals),
        )

    def _asking_first(self) -> Verbs:
        """The verbs, with a question in front of each of what is in doubt."""
        verbs = Leaving(self.verbs, self._drafted.workflow) if self._request.called_off else self.verbs
        if not self._doubtful:
            return verbs
        return AskFirst(verbs, self._doubtful, self._answers.now, self._drafted.plan, self._given())

    def _armed(self) -> SecretStore:
        """The workflow's secrets; from here on they and those of called workflows are masked."""
        base, children = self._request.place.base, self._drafted.children
        store = SecretStore(self._drafted.workflow.secrets, base, self.masker)
        store.arm()
        for callee in children:
            SecretStore(callee.plan.workflow.secrets, base, self.masker).arm()
        return store

    def _made_journal(self) -> Journal | None:
        if not self._settings.trace_file:
            return None
        folder, durability = self._request.place.folder.path, self._settings.durability
        return Journal(folder, run=self.invocation, correlation=self.run_id, durability=durability)

    def _made_first(self) -> dict[str, Any]:
        """The fields of the first frame."""
        declined, doubtful, approvals = self._request.declined, self._doubtful, self._approvals
        said = self._resumed.fields | self._answers.fields(self.masker, doubtful)
        said |= {"declined": dumps(list(declined))} if declined else {}
        said |= {"called_off": True} if self._request.called_off else {}
        said |= {"in_doubt": dumps(sorted(doubtful))} if doubtful else {}
        said |= {"approvals": dumps(approvals)} if approvals else {}
        said |= {"seal_key": self._key.public.id} if self._key is not None else {}
        drafted = self._drafted
        return manifest(self._request, drafted.workflow, drafted.inputs, said, self.masker)


def _texts(
    request: Request, plan: Plan, children: Children, masker: Masker
) -> list[tuple[str, dict[str, Any]]]:
    """The exact text that runs, and the texts of everything that it is made of; secrets stand in none."""
    texts = [(source_name(request, plan.workflow), request.source.text)]
    texts += pinned_texts(request.source.name, plan, children).items()
    return [page for name, text in texts for page in source_pages(name, text, masker)]


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
    said, lost = list[str](), list[str]()
    for left in resumed.memory.running_at_crash():
        if left.pgid is not None and end(Process(left.pgid, left.started or "")):
            said.append(f"`{left.key}` was still running (process group {left.pgid}) and was ended")
        else:
            lost.append(f"`{left.key}`")
    return [*said, *_lost(lost)]


def _lost(names: list[str]) -> list[str]:
    """A sentence each; of more than a few one that names the first of them."""
    if len(names) <= _TOLD:
        return [f"{name} was running when the last run broke off" for name in names]
    first, more = ", ".join(names[:_TOLD]), len(names) - _TOLD
    return [f"{first} and {more} more were running when the last run broke off"]
