"""Whether the questions of a trace tell truly what waits for an answer: people decide by that."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace

from nika_nb.authority.effects import described
from nika_nb.doors import option
from nika_nb.engine.contract import Prompt, unit_of
from nika_nb.errors import hidden
from nika_nb.plan.plan import Plan
from nika_nb.runs.doubt import carried, exempt
from nika_nb.runs.draft import Draft
from nika_nb.runs.request import Request
from nika_nb.tools.base import NOTHING, Behind
from nika_nb.trace.trace import Trace
from nika_nb.trace.trust import Untrusted
from nika_nb.verbs.behind import behind

_TOLD = 5  # effects that a sentence names


def refuse_untrue(request: Request, trace: Trace, drafted: Draft) -> None:
    """Raises Untrusted where the text that would run has something else behind a question than is told.

    A trace may come from anybody: its questions are shown as it tells them, its text is what runs.
    """
    if request.unverified:
        return
    found = next(_untrue(trace, drafted.plan), None)
    if found is None:
        return
    prompt, effects = found
    more = f" and {len(effects) - _TOLD} more" if len(effects) > _TOLD else ""
    may = hidden(", ".join(effects[:_TOLD])) + more or "nothing"
    raise Untrusted(
        f"{trace.path.name} does not tell truly what waits for `{prompt.key}`: by its text an answer may set "
        f"off {may}",
        f"where you know the text, answer with `{option('resume-unverified')}`",
        exit_code=2,
    )


def _untrue(trace: Trace, plan: Plan) -> Iterator[tuple[Prompt, tuple[str, ...]]]:
    """The questions that tell something else, each with the effects that are really behind it."""
    doubtful = carried(trace)
    for prompt in trace.prompts:
        real = _real(prompt, plan, doubtful)
        told = Behind(prompt.gates, prompt.effects, prompt.conditions)
        if told not in (real, replace(real, conditions=())):  # older journals tell no conditions
            yield prompt, real.effects


def _real(prompt: Prompt, plan: Plan, doubtful: Collection[str]) -> Behind:
    """What waits for a question in the text; nothing where the text does not ask it."""
    task = plan.workflow.tasks.get(prompt.task)
    if prompt.key in doubtful and task is not None and not exempt(task):
        return Behind((prompt.task,), described((task.action,)))
    return _below(prompt.key, plan, NOTHING)


def _below(key: str, plan: Plan, beyond: Behind) -> Behind:
    """As `behind`, for a question of a called workflow as well: `call/ask`."""
    unit, _, inner = key.partition("/")
    name = unit_of(unit)[0]
    if name not in plan.tasks:
        return NOTHING
    here = behind(plan, name, beyond)
    callee = plan.callees.get(plan.tasks[name].task.called or "")
    return _below(inner, callee.plan, here) if inner and callee is not None else here
