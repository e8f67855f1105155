"""What goes between the engine and the verbs: calls and replies, questions and answers."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from nika_nb.engine.halt import Halt


@dataclass(frozen=True, slots=True)
class Usage:
    """What one call of a model cost: tokens as the provider counted them, USD where a price is known.

    None where the provider did not say, or nothing is known: never a made-up zero. unpriced: why
    there is no cost: `mock_provider`, `local_provider`, `unknown_model`.
    """

    input_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: float | None = None
    unpriced: str | None = None
    model: str | None = None

    @property
    def tokens(self) -> int | None:
        if self.input_tokens is None and self.output_tokens is None:
            return None
        return (self.input_tokens or 0) + (self.output_tokens or 0)


@dataclass(frozen=True, slots=True)
class Reply:
    """What a verb run produced: a JSON value or bytes."""

    output: Any
    warning: str | None = None


@dataclass(frozen=True, slots=True)
class Permit:
    """One decision at the boundary, granted or refused: a `permit_checked` frame."""

    plane: str
    gate: str
    allowed: bool
    why: str


@dataclass(frozen=True, slots=True)
class Lifted:
    """A law that the author had opened for a unit that ran: a `lift` frame.

    way: from the binding that it lets in to what that reaches. value: the digest of what the binding
    was, None where a secret stands in it or the law lets in no binding.
    """

    law: str
    because: str
    origin: str | None = None
    way: tuple[str, ...] = ()
    value: str | None = None


@dataclass(frozen=True, slots=True)
class Process:
    """A process group that a verb started: enough to find it again, and never a stranger."""

    pgid: int
    started: str  # the leader's start time as the system tells it


@dataclass(frozen=True, slots=True)
class Call:
    """One attempt of one verb, with everything it needs and nothing else.

    body: the action's body rendered, secrets included (never to be written or shown).
    base: the folder that relative paths start from.
    witness: to be called once, as soon as the work has begun; with the process where there is one.
    permit: to be called for every decision at the boundary.
    show: live text from the work (`stdout`, `stderr`), for people who watch.
    attach: a frame (kind, fields) that is journaled when this unit settles. tell: one that is
    journaled at once, with the names of this attempt added to its fields.
    spend: to be called for every call of a model as it comes back, so that what a failed or ended
    attempt has cost is counted as well. called: to be called with what is recorded of a workflow that
    was called, as JSON text, however that ended.
    now, sleep: the run's clock, in unix nanoseconds, and seconds to let pass on it.
    chance: the run's randomness, from its seed where it declares one.
    lifts: the laws that the author opened for this task.
    affords: to be asked before every further call of a model, whether the run's cap lets it begin.
    saw: to be called with the place of every file that the work is about to read.
    halt: what a workflow that is called heeds besides its own; None for one that runs though the run ends.
    """

    task: str
    item: int | None
    attempt: int
    verb: str
    body: dict[str, Any]
    base: str
    witness: Callable[[Process | None], None]
    permit: Callable[[Permit], None]
    show: Callable[[str, str], None]
    attach: Callable[[str, dict[str, Any]], None]
    tell: Callable[[str, dict[str, Any]], None]
    spend: Callable[[Usage], None]
    called: Callable[[str], None]
    now: Callable[[], int]
    sleep: Callable[[float], Awaitable[None]]
    chance: random.Random
    lifts: frozenset[str] = frozenset()
    affords: Callable[[], bool] = lambda: True
    saw: Callable[[str], None] = lambda place: None
    halt: Halt | None = None


class OverBudget(Exception):
    """The run has crossed its cap between two calls of a model: the second one is not begun."""


class Verbs(Protocol):
    """Runs the four verbs."""

    async def run(self, call: Call) -> Reply:
        """The reply. Raises Fault for a typed failure, `Asks` where a human has to answer, OverBudget.

        Cancellation must end everything the call started before it propagates.
        """
        ...


@dataclass(frozen=True, slots=True)
class Prompt:
    """A question to a human, as shown. `item` is the index inside a `for_each`.

    shown_hash binds an answer to exactly this content. inner: the question's key inside the workflow
    that the task calls, where it is one of that.
    """

    task: str
    mode: Literal["confirm", "input", "choice"]
    message: str
    choices: tuple[str, ...] = ()
    default: Any = None
    has_default: bool = False
    item: int | None = None
    gates: tuple[str, ...] = ()  # the tasks that wait for the answer
    effects: tuple[str, ...] = ()  # what those tasks may do
    shown_hash: str = ""
    inner: str = ""
    conditions: tuple[str, ...] = ()  # for each of the gates, when its task will run; empty where always

    @property
    def key(self) -> str:
        """How an answer names this prompt: `ask`, `ask[3]` for an item, `call/ask` in a called workflow."""
        name = unit_key(self.task, self.item)
        return f"{name}/{self.inner}" if self.inner else name

    def to_json(self) -> dict[str, Any]:
        """The prompt as the pause frame lists it."""
        shape: dict[str, Any] = {
            "task": self.task,
            "item": self.item,
            "mode": self.mode,
            "message": self.message,
            "choices": list(self.choices),
            "gates": list(self.gates),
            "effects": list(self.effects),
            "shown_hash": self.shown_hash,
        }
        shape |= {"inner": self.inner} if self.inner else {}
        shape |= {"conditions": list(self.conditions)} if any(self.conditions) else {}
        return shape | ({"default": self.default} if self.has_default else {})


def unit_key(task: str, item: int | None) -> str:
    """What people call a task or an item of it: `ask`, `ask[3]`."""
    return task if item is None else f"{task}[{item}]"


def unit_of(key: str) -> tuple[str, int | None]:
    """The task and the item that are called so."""
    task, _, item = key.removesuffix("]").partition("[")
    return task, int(item) if item.isdecimal() else None


CallOff = Callable[[], Awaitable[Any]]


class StaysOpen(Exception):
    """The unit cannot settle in this run: it waits for what is open behind a question.

    begun: it was set to work, and has something to clean up. call_off: what ends it should its run end
    without it: of a called workflow that has paused, its cleanups are due then.
    """

    prompts: tuple[Prompt, ...] = ()
    begun = True
    call_off: CallOff | None = None


class Left(StaysOpen):
    """The run is being called off: what has not been set to work is not set to work any more."""

    begun = False


class Asks(StaysOpen):
    """A prompt that waits for a human: the task stays open and the run will pause.

    prompts: it and the others of a called workflow. unattended: nobody can answer now, which the
    task's `on_error` may have provided for.
    """

    def __init__(
        self, prompt: Prompt, *others: Prompt, unattended: bool = False, call_off: CallOff | None = None
    ) -> None:
        self.prompt = prompt
        self.prompts = (prompt, *others)
        self.unattended = unattended
        self.call_off = call_off
        super().__init__(prompt.message)


class Extractor(Protocol):
    """Evaluates the jq program of an `extract:` binding."""

    async def values(self, program: str, value: Any) -> list[Any]:
        """Every value the program emits. Raises Fault NIKA-VAR-004."""
        ...


@dataclass(frozen=True, slots=True)
class Answer:
    """A human's answer to one prompt, from whichever door.

    shown_hash: the content that the human saw, where the door knows it. declined: the human would
    not answer; there is no value then. kept: from a journal that broke off; it holds for that content,
    and where something else is asked it is none.
    """

    value: Any
    source: str = "answer"
    shown_hash: str | None = None
    declined: bool = False
    kept: bool = False
