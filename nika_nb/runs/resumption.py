"""What a run resumes from: the trace it is about, how far it is trusted, the memory folded from it."""

from __future__ import annotations

import re
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from nika_nb.doors import option
from nika_nb.engine.contract import unit_key
from nika_nb.engine.memory import Memory, Miss, NoMemory
from nika_nb.errors import ResumeRefused, UsageError
from nika_nb.language.model import Workflow
from nika_nb.plan.graph import downstream
from nika_nb.plan.identity import Identity
from nika_nb.plan.meaning import semantic_hash
from nika_nb.plan.plan import Plan
from nika_nb.runs.answered import answering
from nika_nb.runs.answers import prompts_of
from nika_nb.runs.naming import named
from nika_nb.runs.put_back import out_of_its_cell
from nika_nb.runs.request import NEWEST, Request
from nika_nb.runs.shelf import Shelf
from nika_nb.trace.folder import Entry
from nika_nb.trace.lineage import remember
from nika_nb.trace.lock import ResumeLock, busy, holder
from nika_nb.trace.memory import JournalMemory
from nika_nb.trace.trace import Trace
from nika_nb.trace.trust import judge
from nika_nb.values import dumps, nearest

_ITEM = re.compile(r"(.+)\[(\d{1,9})\]")


@dataclass
class Resumption:
    """The memory, what the journal says about where it came from, and what people are told.

    trace is None where there is nothing to resume from. run_id: the run that goes on, None where
    a new one begins. held: releases the lock on the trace when the run is over. opening: releases what is
    held until the run's first line can be read.
    """

    memory: Memory = field(default_factory=NoMemory)
    trace: Trace | None = None
    fields: dict[str, Any] = field(default_factory=dict)
    notices: list[str] = field(default_factory=list)
    run_id: str | None = None
    held: ExitStack = field(default_factory=ExitStack)
    opening: ExitStack = field(default_factory=ExitStack)

    def close(self) -> None:
        """Lets everything go; may be called twice."""
        self.opening.close()
        self.held.close()


def resumption(request: Request, workflow: Workflow, plan: Plan) -> Resumption:
    """Raises UsageError or ResumeRefused; then nothing was run and nothing is held."""
    if request.resume is None:
        return Resumption()
    forced = _forced(request, workflow, plan)
    found = Resumption()
    path = _path(request, workflow, found)
    if path is None:
        return found
    trust = judge(path, unverified=request.unverified, compat=request.compat)
    found.notices += trust.notices
    if trust.trace is None:
        found.memory = _Empty()
        return found
    answers = _answers(request, trust.trace)
    found.held.enter_context(answering(path, request.place.folder) if answers else ResumeLock(path))
    try:
        _remember(found, trust.trace, trust.fields, forced, request, plan)
    except BaseException:
        found.held.close()
        raise
    return found


def _answers(request: Request, trace: Trace) -> bool:
    """Whether the run goes on: under --from a question is asked again, in a run of its own."""
    answering = bool(request.answers) and trace.state == "paused" and not request.forced
    return request.continues or answering


class _Empty(NoMemory):
    """A resume that found nothing usable: everything runs live, and every task says why."""

    resuming = True

    def recall(self, identity: Identity) -> Miss:
        return Miss("not-recorded", detail="no trace to resume from")


def _forced(request: Request, workflow: Workflow, plan: Plan) -> frozenset[str]:
    """The tasks and items named by --from, and everything downstream of them."""
    found: set[str] = set()
    for key in request.forced:
        name, item = _unit(key)
        if name not in workflow.tasks:
            known = " · ".join(workflow.tasks)
            hint = nearest(name, workflow.tasks)
            raise UsageError(
                f"{option('from', key)}: unknown task{', ' + hint if hint else ''} — the workflow declares: "
                f"{known}"
            )
        if item is not None and workflow.tasks[name].for_each is None:
            what = f"`{name}` has no items, it is no `for_each`"
            raise UsageError(f"{option('from', key)}: {what}: {option('from', name)}")
        found |= {name if item is None else unit_key(name, item)} | downstream(plan.edges, name)
    return frozenset(found)


def _unit(key: str) -> tuple[str, int | None]:
    """`rows[3]` is an item of `rows`; what is of no such form is a name as it stands."""
    found = _ITEM.fullmatch(key)
    return (found[1], int(found[2])) if found else (key, None)


def _refuse_strange_items(request: Request, memory: JournalMemory) -> None:
    """Raises UsageError for an item that the trace knows nothing of, though it knows the others."""
    for key in request.forced:
        name, item = _unit(key)
        known = memory.items_of(name)
        if item is not None and known and item not in known:
            raise UsageError(
                f"{option('from', key)}: {memory.trace.path.name} tells of {len(known):,} items of `{name}`, "
                f"the last one is {name}[{max(known)}]"
            )


def _path(request: Request, workflow: Workflow, found: Resumption) -> Path | None:
    folder = request.place.folder
    if request.resume is not NEWEST:
        return _named(request, found).resolve()
    shelf = Shelf(folder.path)
    _refuse_at_work(shelf.at_work(workflow.id))
    newest = shelf.newest(workflow.id)
    if newest is None:
        found.memory = _Empty()
        found.notices.append(f"no trace of `{workflow.id}` in .nika/traces yet: everything runs live")
        return None
    found.notices.append(f"resuming from {newest.name}")
    return newest


def _named(request: Request, found: Resumption) -> Path:
    """The trace that is named, put back where its notebook carries it. Raises UsageError where it is gone."""
    try:
        return named(str(request.resume), request.place.folder, request.place.base)
    except UsageError:
        back = out_of_its_cell(request)
        if back is None:
            raise
    found.notices.append(f"{request.resume} was gone, and was put back out of its cell's saved output")
    return back


def _refuse_at_work(newest: Entry | None) -> None:
    """Raises ResumeRefused where the newest trace is being written: what it has done would happen twice."""
    if newest is not None:
        told = busy(newest.path, holder(newest.path)[1])
        raise ResumeRefused(f"{told}, or name the trace that is meant: `{option('resume', '…')}`")


def _continued(trace: Trace) -> dict[str, Any]:
    """What the next invocation of a run keeps of it, should the first ones be tidied away."""
    before = trace.prologue.get("sequence")
    began = trace.prologue.get("run_created")
    return {
        "sequence": (before if isinstance(before, int) else 1) + 1,
        "run_created": began if isinstance(began, int) else trace.frames[0].timestamp,
    }


def _remember(
    found: Resumption,
    trace: Trace,
    fields: dict[str, Any],
    forced: frozenset[str],
    request: Request,
    plan: Plan,
) -> None:
    if "resume_unverified" in fields:
        # Nobody vouches for a decision in a broken chain: it is asked again.
        forced |= {key.partition("/")[0] for key in prompts_of(plan)}
    memory, notices = remember(trace, forced, carry_failures=request.continues)
    _refuse_strange_items(request, memory)
    found.memory = memory
    found.notices += notices
    found.trace = trace
    notice = memory.notice()
    if notice and not request.continues:
        found.notices.append(notice)
    found.run_id = trace.run_id if _answers(request, trace) else None
    found.fields = {
        **(_continued(trace) if found.run_id else {}),
        "resumed_trace": None if trace.reproducible else trace.path.name,
        "resumed_head": trace.head,
        "parent_run": trace.run_id if found.run_id is None else None,
        "forced": dumps(sorted(forced)) if forced else None,
        **fields,
    }
    found.notices += _edited(trace, request, plan)


def _edited(trace: Trace, request: Request, plan: Plan) -> list[str]:
    """What is said of a text that is not the recorded one."""
    if trace.source is None or trace.source == request.source.text or request.continues:
        return []
    if trace.prologue.get("semantic_hash") == semantic_hash(plan.workflow):
        return [f"only comments or layout changed since {trace.path.name}: the text means the same"]
    return [f"the text differs from the one recorded in {trace.path.name}: today's text runs"]
