"""Whether the questions of a trace tell truly what waits for an answer: people decide by that."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from nika_nb.authority.secrets import hidden_before_a_run
from nika_nb.doors import option
from nika_nb.engine.contract import Prompt
from nika_nb.errors import hidden
from nika_nb.plan.plan import Plan
from nika_nb.runs.answers import plain_key, prompts_of
from nika_nb.runs.doubt import carried, exempt
from nika_nb.runs.draft import Draft
from nika_nb.runs.request import Request
from nika_nb.tools.base import Behind
from nika_nb.trace.trace import Trace
from nika_nb.trace.trust import Untrusted
from nika_nb.verbs.behind import Given, behind_question, itself

_TOLD = 5  # effects that a sentence names


def refuse_untrue(request: Request, trace: Trace, drafted: Draft) -> None:
    """Raises Untrusted where the text that would run, with its inputs, has something else behind a question
    than is told.

    A trace may come from anybody: its questions are shown as it tells them, its text is what runs.
    """
    if request.unverified:
        return
    found = next(_untrue(trace, drafted.plan, given_to(drafted, request.place.base)), None)
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


def given_to(drafted: Draft, base: Path) -> Given:
    """What the questions of a run will be told with, while there is none yet."""
    with hidden_before_a_run(drafted.workflows, base) as masker:
        return Given.of(drafted.inputs, masker)


def reopened(plan: Plan, then: Mapping[str, Any] | None, now: Given) -> frozenset[str]:
    """The questions by their plain keys whose answers would set off something else than they did.

    then: the inputs with which they were asked, as far as they are recorded.
    """
    if then == now.inputs:
        return frozenset()
    before = Given(then or {}, now.mask)
    return frozenset(
        key
        for key in prompts_of(plan)
        if behind_question(key, plan, before) != behind_question(key, plan, now)
    )


def _untrue(trace: Trace, plan: Plan, values: Given) -> Iterator[tuple[Prompt, tuple[str, ...]]]:
    """The questions that tell something else, each with the effects that are really behind it."""
    doubtful, waits = carried(trace), cache(lambda key: behind_question(key, plan, values))
    for prompt in trace.prompts:
        doubt = _is_doubt(prompt, plan, doubtful)
        real = itself(plan, prompt.task, values) if doubt else waits(plain_key(prompt.key))
        if not _tells(prompt, real):
            yield prompt, real.effects


def _tells(prompt: Prompt, real: Behind) -> bool:
    """Older journals tell effects as they are written, and no conditions."""
    return (
        prompt.gates == real.tasks
        and prompt.effects in (real.effects, real.written)
        and prompt.conditions in (real.conditions, ())
    )


def _is_doubt(prompt: Prompt, plan: Plan, doubtful: Collection[str]) -> bool:
    """Whether it asks if a task runs once more."""
    task = plan.workflow.tasks.get(prompt.task)
    return prompt.key in doubtful and task is not None and not exempt(task)
