"""`nika:prompt`: a question to a human. It never waits: it is answered, or the run pauses."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal, get_args

from nika_nb.engine.contract import Answer, Asks, Prompt
from nika_nb.errors import Fault, UsageError, hidden
from nika_nb.tools.base import ARGUMENTS_CODE, Tool, Use, as_text, text_of
from nika_nb.values import digest, dumps, nearest, to_text, type_name

NAME = "nika:prompt"
UNANSWERED_CODE = "NIKA-BUILTIN-PROMPT-001"
SHAPE_CODE = "NIKA-BUILTIN-PROMPT-002"
APPROVAL_CODE = "NIKA-SEC-010"
DECLINED_CODE = "NIKA-CANCEL-001"
MOST_APPROVALS = 5  # per run, as the language says
LONGEST_CHOICE = 4096  # characters: so much of it stands in a pause frame however long that is
_HALF = re.compile("[\ud800-\udfff]")  # what no journal can keep
_TOLD, _NAMED = 200, 20  # characters of a choice or an answer, and choices, that a sentence quotes

Mode = Literal["confirm", "input", "choice"]
_MODES: tuple[Mode, ...] = get_args(Mode)
_YES = frozenset({"yes", "y", "true"})
_NO = frozenset({"no", "n", "false"})


class WrongAnswer(UsageError):
    """An answer of the wrong kind: refused, and nothing was consumed by it."""


def read_answer(prompt: Prompt, value: Any) -> Any:
    """The answer as the prompt returns it: a boolean, or text. Raises WrongAnswer.

    A confirmation takes true and false and the words for them; a choice one of its choices; an
    input any text.
    """
    if isinstance(value, str) and _HALF.search(value):
        raise WrongAnswer(f"`{prompt.key}` takes text, and half a character stands in this; it still waits")
    told = isinstance(value, (str, int)) or (isinstance(value, float) and math.isfinite(value))
    text = to_text(value).strip() if told else None
    if prompt.mode == "confirm":
        word = (text or "").lower()
        if word in _YES or word in _NO:
            return word in _YES
        raise WrongAnswer(f"`{prompt.key}` takes yes or no, not {_shown(value)}; it still waits")
    if text is None:
        raise WrongAnswer(f"`{prompt.key}` takes text, not {_shown(value)}; it still waits")
    if prompt.mode == "input":
        return value if isinstance(value, str) else text
    for candidate in (value, text):
        if candidate in prompt.choices:
            return candidate
    hint = nearest(text, prompt.choices) if len(text) <= _TOLD else None
    raise WrongAnswer(
        f"`{prompt.key}` takes one of its choices ({_listed(prompt.choices)}), not {_shown(value)}; "
        + (f"{hint} " if hint else "")
        + "it still waits"
    )


def _shown(value: Any) -> str:
    if not isinstance(value, (str, int, float)):
        return type_name(value)
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return repr(_short(hidden(value)) if isinstance(value, str) else value)


def _short(text: str) -> str:
    return text if len(text) <= _TOLD else f"{text[:_TOLD]}…"


def _listed(choices: tuple[str, ...]) -> str:
    """The choices as a sentence names them."""
    left = len(choices) - _NAMED
    more = f" · and {left} more" if left > 0 else ""
    return " · ".join(map(_short, choices[:_NAMED])) + more


async def _prompt(use: Use, arguments: Mapping[str, Any]) -> Any:
    """An answer that was given; else a human; else the default; else a pause."""
    prompt = _read(use, arguments)
    answer = use.asking.answers.get(prompt.key)
    if answer is not None and answer.shown_hash == (older := _as_written(use, prompt)).shown_hash:
        prompt = older
    if answer is not None and not (answer.kept and answer.shown_hash != prompt.shown_hash):
        return _meant(arguments, prompt, _answered(use, prompt, answer))
    if prompt.has_default and (use.in_loop or not use.asking.interactive):
        _decided(use, prompt, prompt.default, "default")
        return arguments["default"]
    if use.in_loop:
        why = "nobody answers inside an agent's loop: decide without, or let a task before the agent ask"
        raise Fault(UNANSWERED_CODE, f"`{prompt.message}`: {why}")
    _admit(use, prompt)
    raise Asks(prompt, unattended=not use.asking.interactive)


def _answered(use: Use, prompt: Prompt, answer: Answer) -> Any:
    _admit(use, prompt)
    if answer.shown_hash is not None and answer.shown_hash != prompt.shown_hash:
        _refuse(use, prompt, answer.source, "approval.content_mismatch")
        raise Fault(
            APPROVAL_CODE,
            f"`{prompt.key}` was answered for another text (approval.content_mismatch): the question, "
            "its choices or what waits for it changed since it was shown; look at it again and answer anew",
            details={"shown": answer.shown_hash, "now": prompt.shown_hash},
        )
    if answer.declined:
        return _declined(use, prompt, answer)
    try:
        value = read_answer(prompt, answer.value)
    except WrongAnswer as wrong:
        use.call.show("log", f"{wrong}\n")
        raise Asks(prompt) from None
    use.call.witness(None)
    _decided(use, prompt, value, answer.source)
    return value


def _declined(use: Use, prompt: Prompt, answer: Answer) -> bool:
    """A confirmation is refused; anything else has no value, which the task's `on_error` may provide for."""
    use.call.witness(None)
    _refuse(use, prompt, answer.source, "declined")
    if prompt.mode == "confirm":
        return False
    raise Fault(
        DECLINED_CODE,
        f"`{prompt.key}` was declined: nobody answers `{prompt.message}`",
        details={"prompt": prompt.key, "outcome": "declined"},
        transient=False,
    )


def _meant(arguments: Mapping[str, Any], prompt: Prompt, value: Any) -> Any:
    """The choice itself, where what was shown of it had a secret blotted out."""
    if prompt.mode != "choice":
        return value
    return _choices(arguments)[prompt.choices.index(value)]


def _admit(use: Use, prompt: Prompt) -> None:
    """At most five different confirmations per run: a human who is asked without end stops reading."""
    if prompt.mode != "confirm":
        return
    known = {prompt.shown_hash, _as_written(use, prompt).shown_hash} & use.asking.approvals
    if not known and len(use.asking.approvals) >= MOST_APPROVALS:
        _refuse(use, prompt, "engine", "approval.rate_limited")
        raise Fault(
            APPROVAL_CODE,
            f"`{prompt.key}` would be confirmation {MOST_APPROVALS + 1} of this run (approval.rate_limited), "
            f"and a run asks for {MOST_APPROVALS}; ask once for several things, or use `mode: choice`",
        )
    use.asking.approvals.add(prompt.shown_hash)


def _decided(use: Use, prompt: Prompt, value: Any, source: str) -> None:
    _attest(use, prompt, "deny" if value is False else "allow", source)


def _refuse(use: Use, prompt: Prompt, source: str, why: str) -> None:
    _attest(use, prompt, "deny", source, why)


def _attest(use: Use, prompt: Prompt, decision: str, source: str, why: str | None = None) -> None:
    fields = {"mode": prompt.mode, "message": prompt.message, "decision": decision, "source": source}
    fields |= {"shown_hash": prompt.shown_hash}
    listed = {"gates": prompt.gates, "effects": prompt.effects, "choices": prompt.choices}
    fields |= {
        name: dumps([use.asking.mask(word) for word in words]) for name, words in listed.items() if words
    }
    use.call.attach("approval_decided", fields | ({"why": why} if why else {}))


def _read(use: Use, arguments: Mapping[str, Any]) -> Prompt:
    """The question as it is shown, secrets blotted out, bound by its hash."""
    mode = _mode(arguments)
    message = use.asking.mask(as_text(arguments["message"], "`message:`"))
    choices = _choices(arguments) if mode == "choice" else ()
    behind = use.asking.behind(use.call.task)
    default = arguments.get("default")
    if default is not None:
        _check_default(mode, default, choices)
    choices = tuple(map(use.asking.mask, choices))
    default = use.asking.mask(default) if isinstance(default, str) else default
    return Prompt(
        task=use.call.task,
        mode=mode,
        message=message,
        choices=choices,
        default=default,
        has_default=default is not None,
        item=use.call.item,
        gates=behind.tasks,
        effects=behind.effects,
        shown_hash=shown_hash(mode, message, choices, behind.tasks, behind.effects),
        conditions=behind.conditions,
    )


def _as_written(use: Use, prompt: Prompt) -> Prompt:
    """The question as older journals ask it: what it sets off as its author wrote it, no value in it."""
    written = use.asking.behind(use.call.task).written
    shown = shown_hash(prompt.mode, prompt.message, prompt.choices, prompt.gates, written)
    return replace(prompt, effects=written, shown_hash=shown)


def shown_hash(
    mode: str, message: str, choices: tuple[str, ...], gates: tuple[str, ...], effects: tuple[str, ...]
) -> str:
    """What binds an answer to the content that was shown."""
    content = {
        "action": {"tool": NAME, "verb": "invoke"},
        "choices": list(choices),
        "effects": list(effects),
        "gated": list(gates),
        "message": message,
        "mode": mode,
    }
    return digest({"v": 1, "approval": content})


def _mode(arguments: Mapping[str, Any]) -> Mode:
    mode = text_of(arguments, "mode", NAME, "confirm")
    if mode not in _MODES:
        hint = nearest(mode, _MODES) or f"it is one of {', '.join(_MODES)}"
        raise Fault(ARGUMENTS_CODE, f"`{NAME}` has no `mode: {mode}`; {hint}")
    return mode


def _choices(arguments: Mapping[str, Any]) -> tuple[str, ...]:
    choices = arguments.get("choices")
    if not isinstance(choices, (list, tuple)) or not choices:
        raise Fault(SHAPE_CODE, "`mode: choice` needs `choices:`, a list with at least one entry")
    for choice in choices:
        if not isinstance(choice, (str, int, float)):
            raise Fault(SHAPE_CODE, f"a choice is a text, not {type_name(choice)}")
    found = tuple(to_text(choice) for choice in choices)
    longest = max(map(len, found))
    if longest > LONGEST_CHOICE:
        raise Fault(
            SHAPE_CODE,
            f"a choice has {longest:,} characters, and a person picks among at most {LONGEST_CHOICE:,}: show "
            "the long text in `message:` and let its name be chosen",
        )
    return found


def _check_default(mode: Mode, default: Any, choices: tuple[str, ...]) -> None:
    if mode == "confirm" and not isinstance(default, bool):
        raise Fault(SHAPE_CODE, f"a confirmation's `default:` is true or false, not {type_name(default)}")
    if mode != "confirm" and not isinstance(default, str):
        raise Fault(SHAPE_CODE, f"the `default:` of a prompt is text, not {type_name(default)}")
    if mode == "choice" and default not in choices:
        raise Fault(SHAPE_CODE, f"`default: {default}` is none of the choices ({_listed(choices)})")


TOOL = Tool(
    NAME,
    _prompt,
    required=("message",),
    optional=("mode", "choices", "default"),
    asks=True,
    says="Asks a human. Inside an agent nobody answers: the default is taken, or the call fails.",
    shapes={
        "message": {"type": "string"},
        "mode": {"enum": list(_MODES)},
        "choices": {"type": "array", "items": {"type": "string"}},
    },
)
