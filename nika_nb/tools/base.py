"""What a builtin is: a name, the arguments it knows, and a coroutine that does the work."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from nika_nb.authority import paths
from nika_nb.authority.permits import DENIED_CODE, Mode, Verdict, judge_target
from nika_nb.authority.regate import judge_argument
from nika_nb.engine.contract import Answer, Call, Permit
from nika_nb.errors import Fault
from nika_nb.language.jq import JqWorker
from nika_nb.language.model import Permits, Task
from nika_nb.values import BYTES_CODE, holds_bytes, nearest, to_text, type_name

ARGUMENTS_CODE = "NIKA-BUILTIN-001"


@dataclass(frozen=True, slots=True)
class Behind:
    """What waits for a task.

    tasks: in document order. effects: what they may do, each once, with what is known written out.
    conditions: for each of the tasks when it will run, empty where it always will. written: the effects as
    their author wrote them, which is how older journals tell them.
    """

    tasks: tuple[str, ...] = ()
    effects: tuple[str, ...] = ()
    conditions: tuple[str, ...] = ()
    written: tuple[str, ...] = ()


NOTHING = Behind()


@dataclass(frozen=True, slots=True)
class Asking:
    """How questions are put to people in this run.

    interactive: a human can answer. answers: what was answered, by prompt key (`ask`, `ask[3]`).
    behind: what waits for a task. mask: blots out secrets in what is shown. approvals: the content
    hashes that this run has asked a confirmation for.
    """

    interactive: bool = False
    answers: Mapping[str, Answer] = field(default_factory=dict)
    behind: Callable[[str], Behind] = lambda task: NOTHING
    mask: Callable[[Any], Any] = lambda value: value
    approvals: set[str] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class Use:
    """One use of a tool: the call, the boundary it works under, how it may ask, and the run's jq.

    in_loop: an agent uses it. task: as written, where its author uses the tool, to know which arguments
    something untrusted decided.
    """

    call: Call
    permits: Permits | None
    asking: Asking = field(default_factory=Asking)
    jq: JqWorker = field(default_factory=JqWorker)
    in_loop: bool = False
    task: Task | None = None

    def place(self, mode: Mode, path: str) -> str:
        """Where the path leads on disk: judged, and what the tool must open.

        Raises Fault NIKA-BUILTIN-001 for no path at all, NIKA-SEC-004 when refused.
        """
        if not path:
            raise Fault(ARGUMENTS_CODE, "a path is empty: write the file or folder that is meant")
        place = path if "\0" in path else paths.effective(path, self.call.base)
        verdict = judge_target(self.permits, mode, path, self.call.base, place)
        self.regate("path", verdict)
        self.obey(verdict)
        if mode == "read":
            self.call.saw(place)
        return place

    def regate(self, argument: str, verdict: Verdict) -> None:
        """Witness, before the verdict itself, that something untrusted decided the argument."""
        again = judge_argument(self.task, argument, verdict) if self.task is not None else None
        if again is not None:
            self.call.permit(Permit(again.plane, again.gate, again.allowed, again.why))

    def obey(self, verdict: Verdict, code: str = DENIED_CODE) -> None:
        """Witness a decision at the boundary. Raises Fault with the code when it is a refusal."""
        self.call.permit(Permit(verdict.plane, verdict.gate, verdict.allowed, verdict.why))
        if not verdict.allowed:
            details = {"plane": verdict.plane, "gate": verdict.gate, "why": verdict.why}
            raise Fault(code, verdict.sentence, details=details)


Run = Callable[[Use, Mapping[str, Any]], Awaitable[Any]]


@dataclass(frozen=True, slots=True)
class Tool:
    """A builtin. `required` and `optional` are all the arguments it knows.

    asks: the tool waits for a human, so nothing has begun before the answer is there. says: what it
    does, for a model that may call it; shapes: the JSON Schema of an argument, any value where none is.
    """

    name: str
    run: Run
    required: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    asks: bool = False
    says: str = ""
    shapes: Mapping[str, Any] = field(default_factory=dict)

    @property
    def parameters(self) -> dict[str, Any]:
        """The JSON Schema of its arguments."""
        properties = {name: self.shapes.get(name, {}) for name in (*self.required, *self.optional)}
        return {
            "type": "object",
            "properties": properties,
            "required": list(self.required),
            "additionalProperties": False,
        }

    def check(self, arguments: Mapping[str, Any]) -> None:
        """Raises Fault NIKA-BUILTIN-001 for an argument that is missing or unknown."""
        known = (*self.required, *self.optional)
        for name in arguments:
            if name not in known:
                hint = nearest(name, known) or f"it takes {', '.join(known) or 'none'}"
                raise Fault(ARGUMENTS_CODE, f"`{self.name}` has no argument `{name}`; {hint}")
        for name in self.required:
            if name not in arguments:
                raise Fault(ARGUMENTS_CODE, f"`{self.name}` needs the argument `{name}` under `args:`")


Result = TypeVar("Result")


async def in_thread(work: Callable[[], Result]) -> Result:
    """Blocking work beside the loop. A cancellation waits until the work is done, then goes on."""
    running = asyncio.ensure_future(asyncio.to_thread(work))
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        while not running.done():
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.wait({running})
        running.exception()
        raise


def as_text(value: Any, where: str) -> str:
    """A value in a place that holds text. Raises Fault NIKA-VAR-007 for bytes."""
    if holds_bytes(value):
        raise Fault(BYTES_CODE, f"bytes cannot stand in {where}: it holds text")
    return to_text(value)


def text_of(arguments: Mapping[str, Any], name: str, tool: str, default: str | None = None) -> str:
    """A string argument. Raises Fault NIKA-BUILTIN-001 for anything else."""
    value = arguments.get(name, default)
    if not isinstance(value, str):
        raise Fault(ARGUMENTS_CODE, f"`{tool}` needs `{name}:` as a string, not {type_name(value)}")
    return value


def flag_of(arguments: Mapping[str, Any], name: str, tool: str, default: bool) -> bool:
    """A boolean argument. Raises Fault NIKA-BUILTIN-001 for anything else."""
    value = arguments.get(name, default)
    if not isinstance(value, bool):
        raise Fault(ARGUMENTS_CODE, f"`{tool}` needs `{name}:` as true or false, not {type_name(value)}")
    return value
