"""What waits for a task: which tasks, what they may do, and when they will run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, field, replace
from typing import Any

from nika_nb.authority.effects import described
from nika_nb.authority.masking import Masker
from nika_nb.authority.told import Mask, told
from nika_nb.engine.contract import unit_of
from nika_nb.language.binding import bound
from nika_nb.language.folding import Fixed, bindings, constants, fold
from nika_nb.language.model import Task, Workflow
from nika_nb.language.template import Fields, Plain
from nika_nb.plan.graph import downstream
from nika_nb.plan.plan import Callee, Plan
from nika_nb.tools.base import NOTHING, Behind
from nika_nb.values import to_text


@dataclass(frozen=True, slots=True)
class Given:
    """What is known of the values of a workflow before any of its tasks has run.

    inputs: by name. mask: blots out secrets in what is told.
    """

    inputs: Mapping[str, Any] = field(default_factory=dict)
    mask: Mask = str

    @classmethod
    def of(cls, inputs: Mapping[str, Any], masker: Masker) -> Given:
        """Without the inputs that would give a secret away: of those nobody is told."""
        kept = {name: value for name, value in inputs.items() if not masker.reveals(value)}
        return cls(kept, masker.mask_text)

    def within(self, workflow: Workflow, task: Task) -> Fixed:
        """What is known of it in the body of a task."""
        known = constants(workflow) | {"inputs": self.inputs}
        return known | {"with": bindings(task, known)}

    def below(self, workflow: Workflow, task: Task, callee: Callee) -> Given:
        """The same of a workflow that a task calls: the inputs that it is given of what is known here."""
        args = task.action.value("args")
        match fold(args, self.within(workflow, task)) if args is not None else None:
            case None | Plain(raw=None):
                given, known = {}, dict[str, Any]()
            case Plain(raw=dict() as known):
                given = known
            case Fields(fields=given):
                known = {name: value.raw for name, value in given.items() if isinstance(value, Plain)}
            case _:
                return replace(self, inputs={})
        values, _ = bound(callee.plan.workflow, known, lambda name, value: "")
        open_ = given.keys() - known.keys()
        return replace(self, inputs={name: value for name, value in values.items() if name not in open_})


def behind(plan: Plan, task: str, given: Given, beyond: Behind = NOTHING) -> Behind:
    """What waits for a task, here and in the workflows that call this one. beyond: what waits there."""
    tasks, waiting = plan.workflow.tasks, downstream(plan.edges, task)
    names = tuple(name for name in tasks if name in waiting)
    conditions = (given.mask(condition(tasks[name], {task, *waiting})) for name in names)
    return Behind(
        tasks=(*names, *beyond.tasks),
        effects=tuple(dict.fromkeys((*_told(plan, names, given), *beyond.effects))),
        conditions=(*conditions, *beyond.conditions),
        written=tuple(dict.fromkeys((*described(plan.actions(names)), *beyond.written))),
    )


def behind_question(key: str, plan: Plan, given: Given, beyond: Behind = NOTHING) -> Behind:
    """The same for a question by its key, of a called workflow as well (`call/ask`); of none, nothing."""
    unit, _, inner = key.partition("/")
    name = unit_of(unit)[0]
    if name not in plan.tasks:
        return NOTHING
    task = plan.tasks[name].task
    here, callee = behind(plan, name, given, beyond), plan.callees.get(task.called or "")
    if not inner or callee is None:
        return here
    return behind_question(inner, callee.plan, given.below(plan.workflow, task, callee), here)


def itself(plan: Plan, task: str, given: Given) -> Behind:
    """What a task may do by itself, as what waits for whoever is asked whether it runs."""
    action = plan.tasks[task].task.action
    lines = told(action, given.within(plan.workflow, plan.tasks[task].task), given.mask)
    return Behind((task,), tuple(dict.fromkeys(lines)), written=described((action,)))


def _told(plan: Plan, names: Iterable[str], given: Given) -> Iterator[str]:
    """What these tasks may do; behind each what the workflow does that it calls."""
    for name in names:
        task = plan.tasks[name].task
        yield from told(task.action, given.within(plan.workflow, task), given.mask)
        callee = plan.callees.get(task.called or "")
        if callee is not None:
            yield from _told(callee.plan, callee.plan.tasks, given.below(plan.workflow, task, callee))


def condition(task: Task, producers: Set[str]) -> str:
    """When a task behind these producers will run, as its author wrote it; empty where it always will."""
    said = [
        f"after {edge.producer}: {edge.predicate}"
        for edge in task.after
        if edge.producer in producers and edge.predicate != "success"
    ]
    if isinstance(task.when, bool):
        said += [] if task.when else ["never"]
    elif task.when is not None:
        raw = to_text(task.when.raw).strip()
        said.append(f"when {raw.removeprefix('${{').removesuffix('}}').strip()}")
    return " · ".join(said)
