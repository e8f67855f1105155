"""A request judged and planned: what will run, with which inputs, and everything that it calls."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from nika_nb.authority.skills import skills_of
from nika_nb.check import Report, check
from nika_nb.check.children import Family
from nika_nb.engine.memory import Memory
from nika_nb.errors import CheckRefused, Fault
from nika_nb.language.model import Workflow
from nika_nb.plan.plan import Callee, Plan, make_plan
from nika_nb.runs.children import Children, family_of
from nika_nb.runs.inputs import bind
from nika_nb.runs.lack import Lack, Lacking
from nika_nb.runs.preflight import missing
from nika_nb.runs.request import Request
from nika_nb.trace.memory import JournalMemory


@dataclass(frozen=True, slots=True)
class Draft:
    """What a request comes to before anything is resumed, looked up or started.

    inputs: empty while a resume has yet to look at its trace for them. lacks: of a resume, what is not part
    of this version, each with the task that would need it.
    """

    report: Report
    plan: Plan
    children: Children
    inputs: dict[str, Any]
    lacks: tuple[tuple[str, Lack], ...] = ()

    @property
    def workflow(self) -> Workflow:
        return self.plan.workflow

    @property
    def workflows(self) -> tuple[Workflow, ...]:
        """Its own and all that it calls."""
        return (self.workflow, *(callee.plan.workflow for callee in self.children))

    def lacking(self, memory: Memory) -> list[Lack]:
        """What this version lacks for the tasks that are not recorded."""
        known = memory.knows if isinstance(memory, JournalMemory) else lambda *_: False
        return [lack for task, lack in self.lacks if not known(task, self.plan.tasks[task].def_hash)]


def draft(request: Request) -> Draft:
    """Raises CheckRefused, UsageError or Lacking; nothing was run then, and no file made.

    What a resume lacks is for its memory to judge: a task that is recorded needs nothing. What a
    reproduction lacks shows in what becomes of its tasks.
    """
    family = family_of(request)
    report, workflow = checked(request, family)
    recalls = request.resume is not None and not request.continues
    deployed, base = request.deployment is not None, request.place.base
    inputs = {} if recalls else bind(workflow, request.variables, base, deployed=deployed)
    plan, children, lacks = _planned(request, workflow, family)
    if request.reproduces is not None:
        lacks = []
    if lacks and request.resume is None:
        raise Lacking(lack for _, lack in lacks)
    return Draft(report, plan, children, inputs, tuple(lacks))


def checked(request: Request, family: Family) -> tuple[Report, Workflow]:
    """The text of a request, judged with all that it calls. Raises CheckRefused."""
    place = request.place
    report = check(request.source, model=request.model, base=place.base, folder=place.root, family=family)
    if not report.ok or report.workflow is None:
        raise CheckRefused(report.diagnostics, request.source)
    return report, report.workflow


Lacks = list[tuple[str, Lack]]


def _planned(request: Request, workflow: Workflow, family: Family) -> tuple[Plan, Children, Lacks]:
    """The plan, the workflows that it calls, and what is not there. Raises Lacking where none can be made."""
    lacks = [(lack.task or "", lack) for lack in missing(workflow, request, family.open)]
    try:
        children = Children(request, workflow, family)
        skills = skills_of(workflow, str(request.place.root), family.open) if not lacks else {}
    except Fault as fault:
        raise Lacking([Lack(fault.code, str(fault))]) from None
    lacks += _below(request, workflow, children, family)
    return make_plan(workflow, request.model, children.callees, skills), children, lacks


def _below(
    request: Request, workflow: Workflow, children: Children, family: Family
) -> Iterator[tuple[str, Lack]]:
    """What the called workflows lack, by the task through which they are reached."""
    found = {callee.path: list(_of_callee(request, callee, family)) for callee in children}
    for task in workflow.tasks.values():
        if task.called in children.callees:
            for path in _reached(children.callees[task.called]):
                yield from ((task.id, lack) for lack in found[path])


def _of_callee(request: Request, callee: Callee, family: Family) -> Iterator[Lack]:
    below = replace(request, place=replace(request.place, root=Path(callee.path).parent))
    found = missing(callee.plan.workflow, below, family.open)
    yield from (lack.within(callee.name) for lack in found)


def _reached(callee: Callee) -> dict[str, None]:
    """The paths of a called workflow and of everything that it calls, each once."""
    found = {callee.path: None}
    for below in callee.plan.callees.values():
        found |= _reached(below)
    return found
