"""What a task is, as two hashes and the digests of their parts: the ground of every resume.

The recipe is the reference's, byte for byte: JCS over payloads whose numbers are folded into
marked strings, hashed by blake3. Keys that the reference forgets enter only when present.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from nika_nb.language.model import Task, Workflow
from nika_nb.language.template import Value
from nika_nb.values import MARK, Json, digest

KEY_VERSION = 1
NOTHING: Mapping[str, str] = MappingProxyType({})
ITEM_MARK = f"{MARK}nika:item{MARK}"


@dataclass(frozen=True, slots=True)
class Identity:
    """A task (or one item of its fan-out) as resume sees it.

    definition_parts and input_parts name the digest of every field and every binding, so that a
    miss can say which one differs.
    """

    task: str
    def_hash: str
    input_hash: str
    definition_parts: dict[str, str] = field(default_factory=dict)
    input_parts: dict[str, str] = field(default_factory=dict)


def secret_marker(name: str, source: str, key: str) -> str:
    """What stands for a secret's value in an identity: its declared reference, never the value."""
    return f"{MARK}nika:secret:{name}:{source}:{key}{MARK}"


def definition(
    task: Task,
    workflow: Workflow,
    model: str | None = None,
    calls: Mapping[str, str] = NOTHING,
    skills: Mapping[str, str] = NOTHING,
) -> dict[str, Json]:
    """The definition payload: what the author wrote that decides what the task does.

    `model` is the run's `--model`; it or the envelope's stands in for a task without its own.
    `calls` are the digests of the workflows that can be called, by target as written; `skills` the
    texts of the skill files that agents name, by path as written.
    """
    payload: dict[str, Json] = {
        "after": [[edge.producer, edge.predicate] for edge in task.after],
        "when": _when(task.when),
        "for_each": _for_each(task),
        "max_parallel": task.for_each.max_parallel if task.for_each else None,
        "fail_fast": task.for_each.fail_fast if task.for_each else None,
        "retry": _retry(task),
        "on_error": _on_error(task),
        "timeout_ms": task.timeout_ms,
        "with": {name: value.raw for name, value in task.with_.items()},
        "output": dict(task.extract),
        "on_finally": [],
        "action": {task.action.verb: task.action.body.raw},
    }
    payload |= _when_present(task, workflow, model)
    return payload | _calling(task, model, calls) | _skilled(task, skills)


def _calling(task: Task, model: str | None, calls: Mapping[str, str]) -> dict[str, Json]:
    """The closure of a call: None where the called workflow is not known. Only `--model` reaches into it."""
    target = task.called
    if target is None:
        return {}
    closure: dict[str, Json] = {"child_closure": {target: calls.get(target)}}
    return closure | ({"default_model": model} if model else {})


def _skilled(task: Task, skills: Mapping[str, str]) -> dict[str, Json]:
    """The texts that an agent is sent with: None where a file was not read."""
    paths = task.action.get("skills") if task.action.verb == "agent" else None
    return {"skills_content": {str(path): skills.get(str(path)) for path in paths}} if paths else {}


def _when_present(task: Task, workflow: Workflow, model: str | None) -> dict[str, Json]:
    extra: dict[str, Json] = {}
    default = model or workflow.model
    if task.action.verb in ("infer", "agent") and task.action.get("model") is None and default:
        extra["default_model"] = default
    if task.returns is not None:
        extra["returns"] = task.returns.raw
    if task.lift:
        extra["lift"] = [[lift.law, lift.origin, lift.because] for lift in task.lift]
    if task.group is not None:
        extra["group"] = task.group
    return extra


def _when(when: Value | bool | None) -> Json:
    if when is None:
        return None
    if isinstance(when, bool):
        return {"literal": when}
    return {"expr": when.raw}


def _for_each(task: Task) -> Json:
    if task.for_each is None:
        return None
    raw = task.for_each.items.raw
    return {"list": raw} if isinstance(raw, list) else {"expr": raw}


def _retry(task: Task) -> Json:
    retry = task.retry
    if retry is None:
        return None
    return {
        "max_attempts": retry.max_attempts,
        "backoff_ms": retry.backoff_ms,
        "backoff_strategy": retry.backoff_strategy,
        "backoff_max_ms": retry.backoff_max_ms,
        "jitter": retry.jitter,
        "on_codes": list(retry.on_codes) if retry.on_codes is not None else None,
    }


def _on_error(task: Task) -> Json:
    policy = task.on_error
    if policy is None:
        return None
    action: Json = "skip" if policy.skip else {"recover": policy.recover.raw if policy.recover else None}
    return {"action": action, "on_codes": list(policy.on_codes or [])}


def definition_hash(task: str, verb: str, payload: Json) -> str:
    return digest({"v": KEY_VERSION, "task": task, "verb": verb, "definition": payload})


def input_hash(action: Json, bindings: Json, items: Json) -> str:
    """The hash of what the references resolved to: the rendered action, bindings and collection."""
    return digest({"v": KEY_VERSION, "inputs": {"action": action, "with": bindings, "items": items}})


def item_input_hash(action: Json, bindings: dict[str, str]) -> str:
    """The hash of one item: its rendered action, and the digests of the bindings it reads."""
    return digest({"v": KEY_VERSION, "item": {"action": action, "with": bindings}})


# What the author calls the fields that the payload names in the reference's words.
_WRITTEN = {
    "for_each": "for_each.items",
    "max_parallel": "for_each.max_parallel",
    "fail_fast": "for_each.fail_fast",
    "timeout_ms": "timeout",
    "output": "extract",
    "default_model": "model",
}


def definition_fields(verb: str, payload: dict[str, Any]) -> dict[str, Json]:
    """The fields of a definition by the author's names; bindings and the action's own one by one."""
    fields: dict[str, Json] = {}
    for key, value in payload.items():
        name = _WRITTEN.get(key, key)
        if key in ("with", "output"):
            fields |= {f"{name}.{binding}": text for binding, text in value.items()}
        elif key == "skills_content":
            fields |= {f"{verb}.skills {path}": text for path, text in value.items()}
        elif key == "child_closure":
            fields |= {f"workflow {target}": closure for target, closure in value.items()}
        elif key not in ("action", "on_finally"):
            fields[name] = value
    body = payload["action"][verb]
    return fields | {f"{verb}.{key}": value for key, value in body.items()}


def definition_parts(verb: str, payload: dict[str, Any]) -> dict[str, str]:
    """A digest per field."""
    return {name: part(value) for name, value in definition_fields(verb, payload).items()}


def part(value: Json) -> str:
    """The short digest of one part: enough to tell that it differs, not meant to prove anything."""
    return digest(value)[:16]


def item_definition(payload: dict[str, Json]) -> dict[str, Json]:
    """What one item of a fan-out is defined by: how the others are run does not touch it."""
    return payload | {"for_each": "item", "max_parallel": None, "fail_fast": None}
