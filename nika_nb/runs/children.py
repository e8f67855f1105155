"""The workflows and skills that a run is made of: read once, judged with it, planned, kept in its journal."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from nika_nb.authority.skills import skills_of
from nika_nb.check.children import DEEPEST, Child, Family
from nika_nb.language.model import Workflow
from nika_nb.language.skills import Skill
from nika_nb.plan.meaning import closure_digest
from nika_nb.plan.plan import Callee, Plan, make_plan
from nika_nb.runs.request import Request
from nika_nb.trace.trace import Trace


def family_of(request: Request) -> Family:
    """Reads called workflows and skills: from their files, or from the texts that the request pins."""
    if request.children is None:
        return Family()
    texts = request.children.items()
    return Family({_place(request.place.root, name): text for name, text in texts})


def _place(root: Path, name: str) -> str:
    return os.path.realpath(os.path.join(root, os.path.expanduser(name)))


class Children:
    """Everything that a workflow calls, directly or further down, each once and in the order of reading.

    callees: what the workflow itself calls, by target as written. Raises Fault as skills do.
    """

    def __init__(self, request: Request, workflow: Workflow, family: Family) -> None:
        self._request = request
        self._family = family
        self._root = str(request.place.root)
        self._made: dict[str, Callee] = {}
        self.top = _place(request.place.root, request.source.name)
        self.callees = self._calls(workflow, self._root, (self.top,))

    def __iter__(self) -> Iterator[Callee]:
        return iter(self._made.values())

    def _calls(self, workflow: Workflow, folder: str, above: tuple[str, ...]) -> dict[str, Callee]:
        """What one workflow calls. A way back and a chain without end are left out: nothing launches them."""
        found: dict[str, Callee] = {}
        for task in workflow.tasks.values():
            child = self._family.called(task, folder)
            if child is None or child.workflow is None or child.path in above or len(above) > DEEPEST:
                continue
            assert task.called is not None
            found[task.called] = self._callee(child, child.workflow, task.called, above)
        return found

    def _callee(self, child: Child, workflow: Workflow, target: str, above: tuple[str, ...]) -> Callee:
        if child.path not in self._made:
            folder = os.path.dirname(child.path)
            below = self._calls(workflow, folder, (*above, child.path))
            skills = skills_of(workflow, folder, self._family.open)
            plan = make_plan(workflow, self._request.model, below, skills)
            digests = {name: callee.digest for name, callee in below.items()}
            name = self._name(child, target, direct=len(above) == 1)
            digest = closure_digest(workflow, digests, skills)
            self._made[child.path] = Callee(child.path, name, plan, digest)
        return self._made[child.path]

    def _name(self, child: Child, target: str, *, direct: bool) -> str:
        """As written by the workflow itself; further down, the way from its folder."""
        name = target if direct else os.path.relpath(child.path, os.path.realpath(self._root))
        return f"./{name}" if name == self._request.source.name else name


def skill_texts(source: str, own: Mapping[str, Skill], children: Iterable[Callee]) -> dict[str, str]:
    """What the agents of a run are sent with, by the names that a journal and a snapshot give it.

    source: what the run's own text is called. own: the skills of its own agents, by path as written.
    """
    below = ((os.path.dirname(callee.name), callee.plan.skills) for callee in children)
    return {
        _named(folder, path, source): skill.text
        for folder, skills in (("", own), *below)
        for path, skill in skills.items()
    }


def _named(folder: str, path: str, source: str) -> str:
    """The way to a skill from the folder of the run's own text."""
    name = path if path.startswith("~") else os.path.join(folder, path)
    return f"./{name}" if name == source else name


def pinned_texts(source: str, plan: Plan, children: Iterable[Callee]) -> dict[str, str]:
    """Everything besides its own text that a run is made of, by name: called workflows, then skills."""
    callees = list(children)
    workflows = {callee.name: callee.plan.workflow.source.text for callee in callees}
    return workflows | skill_texts(source, plan.skills, callees)


def recorded(texts: Mapping[str, str], trace: Trace) -> bool:
    """Whether a trace holds exactly these texts."""
    return texts.items() <= trace.sources().items()
