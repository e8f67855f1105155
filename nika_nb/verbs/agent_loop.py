"""The loop of an agent as a plain generator: it says what to do next, and is told what came of it.

A turn is one reply of the model and the tools it calls. Budgets are judged between turns, so the
tools of the last turn still run.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, field, replace
from typing import Any

from nika_nb.catalog.builtins import DONE
from nika_nb.errors import Fault
from nika_nb.providers.base import ChatReply, ChatRequest, Message, ToolCall
from nika_nb.values import dumps_sorted
from nika_nb.verbs.structured import REPAIRS, Fit, Misfit, repair_text, said_nothing, unfit

DEFAULT_TURNS = 10

_REPEATS = 3  # rounds of the same calls with the same results before it is called a stall
_LONGEST_PERIOD = 3  # turns of one such round


@dataclass(frozen=True, slots=True)
class Bound:
    """A budget, and who set it: `by-the-caller` or `by-the-contract`, with the rule that did."""

    limit: int
    polarity: str
    source: str


@dataclass(frozen=True, slots=True)
class Job:
    """What an agent is asked. opening: the first request, tools and all. fit: the shape of its result."""

    opening: ChatRequest
    max_turns: Bound
    max_tokens: Bound | None = None
    fit: Fit | None = None


@dataclass(frozen=True, slots=True)
class Ask:
    """Next: ask the model. Is told the ChatReply."""

    request: ChatRequest


@dataclass(frozen=True, slots=True)
class UseTool:
    """Next: run a tool, judged. Is told the Result."""

    call: ToolCall
    turn: int


@dataclass(frozen=True, slots=True)
class Note:
    """Next: keep a fact for the journal. Is told nothing."""

    kind: str
    fields: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Result:
    """What came of a tool call, as the model is told it."""

    text: str
    failed: bool = False


Step = Ask | UseTool | Note
Came = ChatReply | Result | None
Steps = Generator[Step, Came, "_End | None"]


@dataclass(frozen=True, slots=True)
class _End:
    """The loop is over, with this output."""

    output: Any


@dataclass
class _State:
    """The conversation so far. tokens: of all turns. rounds: what each turn called, and what came of it."""

    messages: list[Message]
    turn: int = 0
    tokens: int = 0
    said: str = ""
    misfits: int = 0
    silent: int = 0
    rounds: list[tuple[str, ...]] = field(default_factory=list)


def converse(job: Job) -> Generator[Step, Came, Any]:
    """An agent from its prompt to its output.

    Raises Fault NIKA-AGENT-001/-002 for a used-up budget, with the last message kept in its details,
    NIKA-INFER-002 for a result that no repair made fit, -004 for a model that says nothing.
    """
    state = _State(list(job.opening.messages))
    while True:
        _judge_budgets(job, state)
        state.turn += 1
        reply = yield Ask(replace(job.opening, messages=tuple(state.messages)))
        assert isinstance(reply, ChatReply)
        yield _take(job, state, reply)
        end = yield from _use_tools(job, state, reply) if reply.calls else _finish(job, state, reply)
        if end is not None:
            return end.output


def _judge_budgets(job: Job, state: _State) -> None:
    if state.turn >= job.max_turns.limit:
        plural = "turn" if job.max_turns.limit == 1 else "turns"
        raise _used_up("NIKA-AGENT-001", f"its {job.max_turns.limit} {plural}", job.max_turns, state)
    if job.max_tokens is not None and state.tokens >= job.max_tokens.limit:
        used = f"{state.tokens} of its {job.max_tokens.limit} tokens"
        raise _used_up("NIKA-AGENT-002", used, job.max_tokens, state)


def _used_up(code: str, what: str, bound: Bound, state: _State) -> Fault:
    details = {
        "partial_output": state.said,
        "blame": {"polarity": bound.polarity, "source": bound.source},
        "turns": state.turn,
        "tokens": state.tokens,
    }
    sentence = f"the agent used {what} and did not come to an end (set by {bound.source})"
    return Fault(code, f"{sentence}; what it said last is in `error.details.partial_output`", details=details)


def _take(job: Job, state: _State, reply: ChatReply) -> Note:
    """The reply becomes part of the conversation; what is left of the budget is told."""
    state.messages.append(Message("assistant", reply.text, calls=reply.calls))
    state.tokens += (reply.input_tokens or 0) + (reply.output_tokens or 0)
    state.said = reply.text or state.said
    budget = {"budget": job.max_tokens.limit} if job.max_tokens else {}
    return Note("agent_budget_checkpoint", {"turn": state.turn, "total_tokens": state.tokens, **budget})


def _finish(job: Job, state: _State, reply: ChatReply) -> Steps:
    """A reply without a call is the result, if it can be one."""
    if not reply.text.strip():
        state.silent += 1
        if state.silent > 1:
            raise said_nothing(state.tokens)
        yield from _nudge(state, "empty", "Your reply was empty. Call a tool, or give your final answer.")
        return None
    try:
        return _End(job.fit.read(reply.text) if job.fit else reply.text)
    except Misfit as misfit:
        _count(state, misfit, reply.text)
        yield from _nudge(state, "schema", repair_text(misfit))
        return None


def _use_tools(job: Job, state: _State, reply: ChatReply) -> Steps:
    """Every call of a reply in its order; `nika:done` ends the loop where it stands."""
    called: list[str] = []
    for call in reply.calls:
        result = yield UseTool(call, state.turn)
        assert isinstance(result, Result)
        if call.name == DONE and not result.failed:
            try:
                return _End(_declared(job, state, call))
            except Misfit as misfit:
                _count(state, misfit, dumps_sorted(call.arguments.get("result", state.said)))
                result = Result(repair_text(misfit), failed=True)
        state.messages.append(Message("tool", result.text, answers=call.id, failed=result.failed))
        called.append(f"{call.name}\n{dumps_sorted(call.arguments)}\n{result.text}")
    state.rounds.append(tuple(called))
    yield from _watch_for_stalls(state)
    return None


def _declared(job: Job, state: _State, call: ToolCall) -> Any:
    """What `nika:done` returns: its `result`, or what the agent said last. Raises Misfit."""
    if "result" in call.arguments:
        result = call.arguments["result"]
        return job.fit.judge(result) if job.fit else result
    return job.fit.read(state.said) if job.fit else state.said


def _count(state: _State, misfit: Misfit, text: str) -> None:
    state.misfits += 1
    if state.misfits > REPAIRS:
        raise unfit(misfit, text) from None


def _watch_for_stalls(state: _State) -> Generator[Step, Came, None]:
    period = _period(state.rounds)
    if not period:
        return
    yield Note("agent_stalled", {"turn": state.turn, "period": period, "repeats": _REPEATS})
    state.rounds.clear()
    sentence = (
        f"You have made the same calls with the same results {_REPEATS} times in a row. "
        "Try another way, or give your final answer with what you have."
    )
    yield from _nudge(state, "stalled", sentence)


def _period(rounds: list[tuple[str, ...]]) -> int:
    """How many turns the round has that was repeated to the end, 0 where none was."""
    for period in range(1, _LONGEST_PERIOD + 1):
        tail = rounds[-period * _REPEATS :]
        if len(tail) == period * _REPEATS and tail == tail[:period] * _REPEATS:
            return period
    return 0


def _nudge(state: _State, reason: str, sentence: str) -> Generator[Step, Came, None]:
    yield Note("agent_nudge", {"turn": state.turn, "reason": reason})
    state.messages.append(Message("user", sentence))
