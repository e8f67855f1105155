"""What a workflow means, as digests: layout, comments and descriptions do not move them."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from types import MappingProxyType

from nika_nb.language.model import Workflow
from nika_nb.language.skills import Skill
from nika_nb.plan.identity import definition
from nika_nb.values import Json, canonical, digest

NO_SKILLS: Mapping[str, Skill] = MappingProxyType({})


def semantic_hash(workflow: Workflow) -> str:
    """64 hex characters: what this text means, whatever the workflows that it calls are."""
    tasks = {name: _written(workflow, name) for name in workflow.tasks}
    meaning = envelope(workflow) | {"tasks": tasks}
    return hashlib.sha256(b"nika-nb-semantic\x001\x00" + canonical(meaning)).hexdigest()


def envelope(workflow: Workflow) -> dict[str, Json]:
    """What a text says outside its tasks, as data."""
    return {
        "workflow": workflow.id,
        "model": workflow.model,
        "inputs": {i.name: [i.type.raw, i.required, i.default] for i in workflow.inputs.values()},
        "const": {c.name: c.value for c in workflow.consts.values()},
        "secrets": {s.name: [s.source, s.key] for s in workflow.secrets.values()},
        "permits": workflow.permits.raw if workflow.permits else None,
        "run": [workflow.run.entropy, workflow.run.clock, workflow.run.seed],
        "outputs": {o.name: [o.value.raw, o.type.raw if o.type else None] for o in workflow.outputs.values()},
    }


def _written(workflow: Workflow, task: str) -> dict[str, object]:
    payload = definition(workflow.tasks[task], workflow)
    payload.pop("child_closure", None)
    payload.pop("skills_content", None)
    return payload


def closure_digest(
    workflow: Workflow, calls: Mapping[str, str], skills: Mapping[str, Skill] = NO_SKILLS
) -> str:
    """What a called workflow means, together with everything that it calls in turn.

    calls: the digests of those, by target as written. skills: what its agents are sent with.
    """
    texts = {"skills": {path: skill.text for path, skill in skills.items()}} if skills else {}
    return digest({"v": 1, "semantic": semantic_hash(workflow), "calls": dict(calls), **texts})
