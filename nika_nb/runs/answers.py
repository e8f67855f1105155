"""Answers to prompts: named, judged before anything is consumed, bound to what was shown."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from nika_nb.authority.masking import Masker
from nika_nb.doors import option
from nika_nb.engine.contract import Answer, Prompt
from nika_nb.errors import NotPaused, UsageError
from nika_nb.plan.plan import Plan
from nika_nb.tools.prompt import NAME, read_answer
from nika_nb.trace.memory import JournalMemory
from nika_nb.trace.trace import Trace
from nika_nb.values import Json, dumps, loads, nearest

_UNIT = r"[a-z][a-z0-9_]*(?:\[\d+\])?"
_ITEM = re.compile(r"\[(\d+)\]")
_KEY = re.compile(rf"{_UNIT}(?:/{_UNIT})*")


@dataclass(frozen=True, slots=True)
class Answers:
    """What a run begins with of answers to its prompts.

    now: those given with it, by prompt key; asked: the questions that they are to, where these stand in
    a trace. before: what a journal that broke off had begun with, as its first line keeps it.
    """

    now: Mapping[str, Answer] = field(default_factory=dict)
    asked: tuple[Prompt, ...] = ()
    before: Mapping[str, Any] = field(default_factory=dict)

    @property
    def all(self) -> dict[str, Answer]:
        """For the run that begins: what had been answered is not asked again."""
        again = {
            key: Answer(shape.get("value"), "resumed", shape["shown_hash"], "declined" in shape, kept=True)
            for key, shape in self.before.items()
        }
        return again | dict(self.now)

    def empty(self) -> list[str]:
        """A sentence for each answer that is an empty text: `ask=` says so, and may be a slip of the hand."""
        return [f"`{key}` is answered with an empty text" for key, one in self.now.items() if one.value == ""]

    def fields(self, masker: Masker, doubtful: Collection[str]) -> dict[str, str]:
        """What the first line keeps: an answer stands from the moment on at which it is consumed.

        Each is bound to the content that was shown. One that holds a secret is not kept, and none about
        what is in doubt: that may be in doubt again.
        """
        found = dict(self.before)
        for prompt in self.asked:
            answer = self.now.get(prompt.key)
            if answer is not None and prompt.key not in doubtful and not masker.reveals(answer.value):
                said = {"declined": True} if answer.declined else {"value": answer.value}
                found[prompt.key] = said | {"shown_hash": prompt.shown_hash}
        answered = {"answered": dumps(list(self.now))} if self.now else {}
        return answered | ({"answers": dumps(found)} if found else {})


def kept(trace: Trace, forced: Collection[str], reopened: Collection[str] = ()) -> dict[str, Any]:
    """The answers that a journal which broke off had begun with, those of forced tasks and items left out.

    reopened: the questions by their plain keys whose answers do not hold any more.
    """
    text = trace.prologue.get("answers")
    found = loads(text) if trace.state == "incomplete" and isinstance(text, str) else None
    return {
        key: shape
        for key, shape in (found.items() if isinstance(found, dict) else ())
        if isinstance(shape, dict) and isinstance(shape.get("shown_hash"), str)
        if not {key.partition("/")[0], task_of(key)} & set(forced) and plain_key(key) not in reopened
    }


def plain_key(key: str) -> str:
    """The key of a prompt, whichever item it is about: `call/ask` of `call[3]/ask`."""
    return _ITEM.sub("", key)


def task_of(key: str) -> str:
    """The task of this workflow that a prompt's key leads to."""
    return _ITEM.sub("", key.partition("/")[0])


def parse_answer(text: str) -> tuple[str, str]:
    """`task=value`, `task[3]=value`, `call/task=value`, or a bare value (its key is empty)."""
    key, sign, value = text.partition("=")
    if sign and _KEY.fullmatch(key.strip()):
        return key.strip(), value
    return "", text


def distinct(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """Answers by prompt key. Raises UsageError where one prompt gets two: which is meant, nobody can tell."""
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise _twice(key)
        found[key] = value
    return found


def _twice(key: str) -> UsageError:
    named = f"`{key}` is given two answers" if key else "there are two answers without a name"
    return UsageError(f"{named}; one with blanks is put in quotes: {key or 'task'}='Ann Lee'")


def for_open(
    prompts: Iterable[Prompt],
    given: Mapping[str, Any],
    shown: Mapping[str, str],
    source: str,
    declined: Iterable[str] = (),
) -> dict[str, Answer]:
    """The answers to open prompts, by prompt key; declined: the keys of those that are not answered.

    Raises UsageError for a key that names no open prompt, a bare answer with several prompts
    open, or a value of the wrong kind; then nothing was consumed.
    """
    open_prompts = {prompt.key: prompt for prompt in prompts}
    if not open_prompts:
        raise NotPaused("nothing waits for an answer here")
    found: dict[str, Answer] = {}
    for key, value in given.items():
        prompt = _prompt(open_prompts, key)
        if prompt.key in found:
            raise _twice(prompt.key)
        answer = read_answer(prompt, value)
        found[prompt.key] = Answer(answer, source, shown.get(prompt.key))
    for key in declined:
        prompt = _prompt(open_prompts, key)
        if prompt.key in found:
            raise UsageError(f"`{prompt.key}` is both answered and declined")
        found[prompt.key] = Answer(None, source, shown.get(prompt.key), declined=True)
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


def prompts_of(plan: Plan) -> list[str]:
    """Every prompt task, those of called workflows as `call/task`."""
    found: list[str] = []
    for task in plan.workflow.tasks.values():
        callee = plan.callees.get(task.called or "")
        if task.action.get("tool") == NAME:
            found.append(task.id)
        elif callee is not None:
            found += [f"{task.id}/{inner}" for inner in prompts_of(callee.plan)]
    return found


def for_edit(plan: Plan, given: Mapping[str, Any], shown: Mapping[str, str]) -> dict[str, Answer]:
    """The answers given together with a run or a resume of today's text, by prompt key.

    Their kind is judged when the prompt runs; here only that the key names a prompt task.
    """
    prompts = prompts_of(plan)
    found: dict[str, Answer] = {}
    for key, value in given.items():
        name = key or (prompts[0] if len(prompts) == 1 else "")
        if _KEY.fullmatch(name) is None or plain_key(name) not in prompts:
            raise _no_prompt(key, prompts)
        found[name] = Answer(value, "resumed" if shown else "answer", shown.get(name))
    return found


def _no_prompt(key: str, prompts: list[str]) -> UsageError:
    listing = ", ".join(prompts) or "none"
    if not key and prompts:
        how = option("answer", f"{prompts[0]}=…")
        return UsageError(f"say which prompt the answer is to ({listing}), as in {how}")
    if not key:
        return UsageError("an answer is given, but this workflow has no prompt")
    hint = nearest(key, prompts)
    what = f"`{key}` is not a prompt of this workflow (its prompts: {listing})"
    return UsageError(what + (f", {hint}" if hint else ""))


def decided(key: str, plan: Plan, memory: JournalMemory) -> Json:
    """What an earlier run answered to a prompt that is written today as it was then; None where nothing."""
    unit, _, inner = key.partition("/")
    name, counted = _ITEM.sub("", unit), _ITEM.search(unit)
    item = int(counted[1]) if counted else None
    if memory.forces(name, item):
        return None
    if not inner:
        return memory.decided(name, plan.tasks[name].def_hash)
    below = memory.child(name, item)
    callee = plan.callees.get(plan.tasks[name].task.called or "")
    if callee is None or not isinstance(below, JournalMemory):
        return None
    return decided(inner, callee.plan, below)
