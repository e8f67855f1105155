"""Answers to prompts: named, judged before anything is consumed, bound to what was shown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from nika_nb.engine.contract import Answer, Prompt
from nika_nb.errors import NotPaused, UsageError
from nika_nb.language.model import Workflow
from nika_nb.tools.prompt import read_answer
from nika_nb.values import nearest

_KEY = re.compile(r"^([a-z][a-z0-9_]*)(?:\[(\d+)\])?$")


def parse_answer(text: str) -> tuple[str, str]:
    """`task=value`, `task[3]=value`, or a bare value (its key is empty)."""
    key, sign, value = text.partition("=")
    if sign and _KEY.fullmatch(key.strip()):
        return key.strip(), value
    return "", text


def for_open(
    prompts: Iterable[Prompt], given: Mapping[str, Any], shown: Mapping[str, str], source: str
) -> dict[str, Answer]:
    """The answers to open prompts, by prompt key.

    Raises UsageError for a key that names no open prompt, a bare answer with several prompts
    open, or a value of the wrong kind; then nothing was consumed.
    """
    open_prompts = {prompt.key: prompt for prompt in prompts}
    if not open_prompts:
        raise NotPaused("nothing waits for an answer here")
    found: dict[str, Answer] = {}
    for key, value in given.items():
        prompt = _prompt(open_prompts, key)
        answer = read_answer(prompt, value)
        found[prompt.key] = Answer(answer, source, shown.get(prompt.key))
    return found


def judged(prompt: Prompt, value: Any) -> Any:
    """The answer as the prompt takes it. Raises UsageError for one of the wrong kind."""
    return read_answer(prompt, value)


def _prompt(open_prompts: Mapping[str, Prompt], key: str) -> Prompt:
    if key in open_prompts:
        return open_prompts[key]
    listing = ", ".join(open_prompts)
    if key == "" and len(open_prompts) == 1:
        return next(iter(open_prompts.values()))
    if key == "":
        raise UsageError(
            f"{len(open_prompts)} prompts are open ({listing}): say which one is meant, as in "
            f"{next(iter(open_prompts))}=…"
        )
    hint = nearest(key, open_prompts)
    raise UsageError(f"no open prompt is called `{key}` (open: {listing})" + (f", {hint}" if hint else ""))


def for_edit(workflow: Workflow, given: Mapping[str, Any], shown: Mapping[str, str]) -> dict[str, Answer]:
    """The answers given together with a run or a resume of today's text, by prompt key.

    Their kind is judged when the prompt runs; here only that the key names a prompt task.
    """
    prompts = [task.id for task in workflow.tasks.values() if task.action.get("tool") == "nika:prompt"]
    found: dict[str, Answer] = {}
    for key, value in given.items():
        name = key or (prompts[0] if len(prompts) == 1 else "")
        match = _KEY.fullmatch(name)
        if match is None or match.group(1) not in prompts:
            listing = ", ".join(prompts) or "none"
            raise UsageError(
                f"--answer {key or value}: not a prompt of this workflow (its prompts: {listing})"
            )
        found[name] = Answer(value, "resumed" if shown else "answer", shown.get(name))
    return found
