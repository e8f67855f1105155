"""A request judged and planned: what will run, with which inputs, and everything that it calls."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from nika_nb.authority.skills import skills_of
from nika_nb.check import Report, check
from nika_nb.check.children import Family
from nika_nb.errors import CheckRefused, Fault
from nika_nb.language.model import Workflow
from nika_nb.plan.plan import Plan, make_plan
from nika_nb.runs.children import Children, family_of
from nika_nb.runs.inputs import bind
from nika_nb.runs.lack import Lack, Lacking
from nika_nb.runs.preflight import missing
from nika_nb.runs.request import Request


@dataclass(frozen=True, slots=True)
class Draft:
    """What a request comes to before anything is resumed, looked up or started."""

    report: Report
    plan: Plan
    children: Children
    inputs: dict[str, Any]

    @property
    def workflow(self) -> Workflow:
        return self.plan.workflow


def draft(request: Request) -> Draft:
    """Raises CheckRefused, UsageError or Lacking; nothing was run then, and no file made."""
    family = family_of(request)
    report, workflow = checked(request, family)
    inputs = bind(workflow, request.variables)
    plan, children = _planned(request, workflow, family)
    return Draft(report, plan, children, inputs)


def checked(request: Request, family: Family) -> tuple[Report, Workflow]:
    """The text of a request, judged with all that it calls. Raises CheckRefused."""
    place = request.place
    report = check(request.source, model=request.model, base=place.base, folder=place.root, family=family)
    if not report.ok or report.workflow is None:
        raise CheckRefused(report.diagnostics, request.source)
    return report, report.workflow


def _planned(request: Request, workflow: Workflow, family: Family) -> tuple[Plan, Children]:
    """The plan, and the workflows that it calls. Raises Lacking where something is not there."""
    lacks = missing(workflow, request)
    try:
        children = Children(request, workflow, family)
        skills = skills_of(workflow, str(request.place.root)) if not lacks else {}
    except Fault as fault:
        raise Lacking([Lack(fault.code, str(fault))]) from None
    for callee in children:
        below = replace(request, place=replace(request.place, root=Path(callee.path).parent))
        lacks += [lack.within(callee.name) for lack in missing(callee.plan.workflow, below)]
    if lacks:
        raise Lacking(lacks)
    return make_plan(workflow, request.model, children.callees, skills), children
