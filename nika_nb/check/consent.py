"""A refused question stops what it asks about: the answer closes every route from a gate to an effect."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

from nika_nb.authority.effects import effects
from nika_nb.authority.globs import admits
from nika_nb.catalog.builtins import BUILTINS, PROMPT
from nika_nb.check.folding import fixed
from nika_nb.check.kleene import UNKNOWN, truth
from nika_nb.check.subject import Subject
from nika_nb.errors import Diagnostic
from nika_nb.language.cel import Expr
from nika_nb.language.cel.syntax import as_reference
from nika_nb.language.folding import Fixed
from nika_nb.language.model import Task
from nika_nb.language.template import only_island

Passage = Literal["open", "closed", "unknown"]

_OUTWARD = frozenset({"exec", "shell", "net", "write"})
_WAYS_OUT = tuple(
    name
    for name, builtin in BUILTINS.items()
    if any(target.effect in ("net", "fs.write") for target in builtin.targets)
)


def judge(subject: Subject) -> Iterator[Diagnostic]:
    """NIKA-SEC-014 where a refusal provably lets an effect through; a hint where that cannot be decided."""
    for gate in subject.tasks:
        if is_gate(gate):
            yield from _judge_gate(subject, gate)


def is_gate(task: Task) -> bool:
    """Whether a task asks yes or no: `nika:prompt` in confirm mode, which is also its default."""
    if task.action.verb != "invoke" or task.action.get("tool") != PROMPT:
        return False
    args = task.action.get("args")
    return not isinstance(args, dict) or args.get("mode") in (None, "confirm")


def is_outward(task: Task) -> bool:
    """Whether a task can change or tell the world: a process, the network, a file, an MCP tool."""
    action = task.action
    if action.verb == "agent":
        tools = [str(tool) for tool in action.get("tools") or ()]
        calls_servers = any(tool.startswith("mcp:") for tool in tools)
        return calls_servers or any(admits(tools, way, "/:") for way in _WAYS_OUT)
    if action.verb == "invoke" and str(action.get("tool")).startswith("mcp:"):
        return True
    return action.verb in ("exec", "invoke") and any(effect.kind in _OUTWARD for effect in effects(action))


@dataclass(frozen=True, slots=True)
class _Step:
    """One task on a route from a gate; `certain`: every `when:` on the way is proven open."""

    task: Task
    certain: bool
    route: tuple[str, ...]


def _judge_gate(subject: Subject, gate: Task) -> Iterator[Diagnostic]:
    best: dict[str, bool] = {gate.id: True}
    waiting = [_Step(gate, True, (gate.id,))]
    sinks: dict[str, _Step] = {}
    while waiting:
        step = waiting.pop()
        for task in _next(subject, gate, step.task):
            passage = _passage(subject, task, gate)
            certain = step.certain and passage == "open"
            if passage == "closed" or best.get(task.id, False) or (task.id in best and not certain):
                continue
            best[task.id] = certain
            reached = _Step(task, certain, (*step.route, task.id))
            if is_outward(task):
                sinks[task.id] = reached
            if not is_gate(task):  # a closer gate owns what lies behind it
                waiting.append(reached)
    for name in subject.workflow.tasks:
        if name in sinks:
            yield _found(gate, sinks[name])


def _next(subject: Subject, gate: Task, task: Task) -> Iterator[Task]:
    """What comes after this one, over edges that a refusal (a success) of the gate does not cut."""
    for edge in subject.following[task.id]:
        if task is not gate or edge.kind == "finally" or "success" in edge.admits:
            yield subject.workflow.tasks[edge.consumer]


def _passage(subject: Subject, task: Task, gate: Task) -> Passage:
    """What a task's `when:` does once the gate was answered with no."""
    if task.when is False:
        return "closed"
    if task.id in subject.broken or gate.for_each is not None:
        return "unknown"
    if task.when is None or task.when is True:
        return "open"
    island = only_island(task.when)
    if island is None:
        return "unknown"
    known = fixed(subject.workflow, task)
    verdict = truth(island.expr, partial(_refused, task=task, gate=gate, known=known))
    if verdict is True:
        return "open"
    return "closed" if verdict is False else "unknown"


def _refused(expr: Expr, task: Task, gate: Task, known: Fixed) -> Any:
    """The value of a path after a refusal: the answer is false, and the gate has succeeded."""
    path = as_reference(expr)
    if path is None or len(path.steps) != 1:
        return UNKNOWN
    name = str(path.steps[0])
    if path.root == "with":
        island = only_island(task.with_.get(name))
        bound = as_reference(island.expr) if island is not None else None
        if bound is not None and bound.root == "tasks" and bound.steps[:1] == (gate.id,):
            field = bound.steps[1] if len(bound.steps) == 2 else ""
            return {"output": False, "status": "success"}.get(str(field), UNKNOWN)
    return known.get(path.root, {}).get(name, UNKNOWN)


def _found(gate: Task, step: _Step) -> Diagnostic:
    task = step.task
    route = " → ".join(step.route)
    binding = next((name for name, value in task.with_.items() if value.raw == _answer(gate)), None)
    bound = "" if binding else f'`with: {{ go: "{_answer(gate)}" }}` and '
    hint = f"gate it on the answer: {bound}`when: ${{{{ with.{binding or 'go'} == true }}}}`"
    related = ((f"`{gate.id}` asks here", gate.key_span),)
    if not step.certain:
        sentence = f"whether a no to `{gate.id}` stops `{task.id}` cannot be told from the text ({route})"
        return Diagnostic("NIKA-SEC-014", sentence, task.key_span, hint, "hint", task.id, related)
    why = f"a refused question succeeds with false ({route})"
    sentence = f"a no to `{gate.id}` does not stop `{task.id}`: {why}"
    return Diagnostic("NIKA-SEC-014", sentence, task.key_span, hint, task=task.id, related=related)


def _answer(gate: Task) -> str:
    return f"${{{{ tasks.{gate.id}.output }}}}"
