"""A snapshot of a workflow: everything that a run of it will be made of, with no file left to read."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from nika_nb.authority.secrets import hidden_before_a_run
from nika_nb.authority.skills import skills_of
from nika_nb.check.needs import needs_of
from nika_nb.doors import option, together
from nika_nb.errors import Source, UsageError
from nika_nb.language.model import Workflow
from nika_nb.runs.children import Children, family_of, skill_texts
from nika_nb.runs.draft import checked
from nika_nb.runs.inputs import how_given, misfits
from nika_nb.runs.request import Place, Request
from nika_nb.values import dumps_sorted, loads


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What a run of a deployment runs, whatever became of the files it was made from.

    source: what the text is called. children, skills: the texts of the workflows it calls, and of what
    its agents are sent with, by their names. inputs: the values that it is bound to. requires: what it
    needs from the machine that runs it, {programs, tools, models, secrets}; of a secret only where it is
    kept.
    """

    workflow: str
    source: str
    text: str
    children: dict[str, str] = field(default_factory=dict)
    inputs: dict[str, Any] = field(default_factory=dict)
    model: str | None = None
    max_cost_usd: float | None = None
    base: str = "."
    requires: dict[str, Any] = field(default_factory=dict)
    skills: dict[str, str] = field(default_factory=dict)

    @property
    def digest(self) -> str:
        """SHA-256 of everything in it, 64 hex characters."""
        shape = asdict(self)
        if not self.skills:  # as it was before there were any in a snapshot
            del shape["skills"]
        return hashlib.sha256(dumps_sorted(shape).encode("utf-8")).hexdigest()

    def request(self, root: Path, inputs: Mapping[str, Any]) -> Request:
        """A run of it. root: the folder that it was taken in. inputs: go over those it is bound to."""
        return Request(
            source=Source(self.text, self.source),
            place=Place(Path(os.path.normpath(root / self.base)), root),
            variables=self.inputs | dict(inputs),
            origins={name: "file" for name in self.inputs if name not in inputs},
            model=self.model,
            max_cost_usd=self.max_cost_usd,
            children=self.children | self.skills,
        )


def snapshot(request: Request) -> Snapshot:
    """Everything that a request's run would be made of. Raises CheckRefused or UsageError."""
    family = family_of(request)
    _, workflow = checked(request, family)
    children = Children(request, workflow, family)
    texts = [workflow, *(callee.plan.workflow for callee in children)]
    _judge_inputs(workflow, request.variables, request.place.base)
    _refuse_secrets(texts, request.variables, request.place.base)
    own = skills_of(workflow, str(request.place.root), family.open)
    return Snapshot(
        workflow=workflow.id,
        source=request.source.name,
        text=request.source.text,
        children={callee.name: callee.plan.workflow.source.text for callee in children},
        inputs=loads(dumps_sorted(dict(request.variables))),
        model=request.model,
        max_cost_usd=request.max_cost_usd,
        base=os.path.relpath(request.place.base, request.place.root),
        requires=_requirements(texts, request.model),
        skills=skill_texts(request.source.name, own, children),
    )


def left_out(request: Request) -> tuple[str, ...]:
    """What a request says and no snapshot keeps, for people: it is about one run."""
    fields = {"resume": request.resume, "from": request.forced, "answer": request.answers}
    words = " ".join(option(name) for name, value in fields.items() if value)
    said = f"a deployment starts afresh each time: `{words}` is no part of it"
    return (*request.notices, said) if words else request.notices


def _judge_inputs(workflow: Workflow, given: Mapping[str, Any], base: Path) -> None:
    """Raises UsageError for a value that no run could take. What is not given yet is given at the start."""
    declared = workflow.inputs.items()
    later = {name: found if name in given else replace(found, required=False) for name, found in declared}
    troubles = misfits(replace(workflow, inputs=later), given, base, how_given("input"))
    if troubles:
        raise UsageError("\n".join(["nothing was deployed:", *(f"  {trouble}" for trouble in troubles)]))


def _refuse_secrets(texts: Iterable[Workflow], given: Mapping[str, Any], base: Path) -> None:
    """Raises UsageError for a value that gives a secret away: a deployment is a file, and it is listed."""
    with hidden_before_a_run(texts, base) as masker:
        told = [name for name, value in given.items() if masker.reveals(value)]
    if told:
        names = ", ".join(f"`{name}`" for name in told)
        later = together(option("input", f"{name}=…") for name in told)
        raise UsageError(
            f"nothing was deployed: {names} would be kept as it is, and is a secret; let the workflow read "
            f"it as `secrets.…`, or give it with each start: {later}"
        )


def _requirements(workflows: Iterable[Workflow], model: str | None) -> dict[str, Any]:
    """What the machine has to have; what only the run knows is not in it."""
    programs, tools, models, kept = set[str](), set[str](), set[str](), dict[str, Any]()
    for workflow in workflows:
        for task in workflow.tasks.values():
            programs |= {need.program for need in needs_of(workflow, task) if need.program}
            tools |= {
                str(tool) for tool in (task.action.get("tool"), *(task.action.get("tools") or ())) if tool
            }
            if task.action.verb in ("infer", "agent"):
                models.add(str(task.action.get("model") or model or workflow.model or ""))
        for secret in workflow.secrets.values():
            kept[secret.name] = {"source": secret.source, "key": secret.key}
    found = {"programs": programs, "tools": tools, "models": models - {""}}
    fixed = {name: sorted(one for one in some if "${{" not in one) for name, some in found.items()}
    return fixed | {"secrets": kept}
