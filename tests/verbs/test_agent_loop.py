"""The loop of an agent by itself: what it does next, told what came of it, without a model or a tool."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from nika_nb.errors import Fault
from nika_nb.providers.base import ChatReply, ChatRequest, Message, ToolCall
from nika_nb.verbs.agent_loop import Ask, Bound, Job, Note, Result, Step, UseTool, converse
from nika_nb.verbs.structured import Fit
from tests.providers.scripted import calls, says, together

OPENING = ChatRequest("m", (Message("user", "go"),), system="s")
TEN = Bound(10, "by-the-contract", "the language")
COUNT = {"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}}


class Played:
    """A loop played to its end: every reply comes from the list, every tool answers what `tool` says."""

    def __init__(
        self,
        *replies: ChatReply,
        tool: Callable[[UseTool], Result] = lambda step: Result(f"{step.call.name} ok"),
        turns: Bound = TEN,
        tokens: Bound | None = None,
        schema: dict[str, Any] | None = None,
    ) -> None:
        self.steps: list[Step] = []
        self.fault: Fault | None = None
        self.output: Any = None
        replying = iter(replies)
        talk = converse(Job(OPENING, turns, tokens, Fit(schema) if schema else None))
        try:
            step = next(talk)
            while True:
                self.steps.append(step)
                match step:
                    case Ask():
                        step = talk.send(next(replying))
                    case UseTool():
                        step = talk.send(tool(step))
                    case Note():
                        step = talk.send(None)
        except StopIteration as end:
            self.output = end.value
        except Fault as fault:
            self.fault = fault

    @property
    def told(self) -> tuple[Message, ...]:
        """The conversation as the model saw it last."""
        return [step for step in self.steps if isinstance(step, Ask)][-1].request.messages

    def notes(self, kind: str) -> list[dict[str, Any]]:
        return [step.fields for step in self.steps if isinstance(step, Note) and step.kind == kind]

    @property
    def used(self) -> list[str]:
        return [step.call.name for step in self.steps if isinstance(step, UseTool)]


def failed(played: Played) -> Fault:
    assert played.fault is not None
    return played.fault


# -- how it ends well ------------------------------------------------------------------------------


def test_a_reply_without_a_call_is_the_result() -> None:
    """One question, one answer."""
    played = Played(says("done"))
    assert played.output == "done"
    assert isinstance(played.steps[0], Ask)
    assert played.steps[0].request == OPENING


def test_results_are_fed_back_in_their_order() -> None:
    """The model sees its own calls, and what came of each."""
    made = [ToolCall("a", "nika:one", {}), ToolCall("b", "nika:two", {"x": 1})]
    played = Played(together(made, "I look"), says("done"))
    assert played.output == "done"
    assert played.told == (
        Message("user", "go"),
        Message("assistant", "I look", calls=tuple(made)),
        Message("tool", "nika:one ok", answers="a"),
        Message("tool", "nika:two ok", answers="b"),
    )


def test_a_failed_tool_is_told_not_fatal() -> None:
    """An error is a result like any other, marked as one, and the loop goes on."""
    played = Played(calls("nika:one"), says("so be it"), tool=lambda step: Result("broke", failed=True))
    assert played.output == "so be it"
    assert played.told[-1] == Message("tool", "broke", answers="c1", failed=True)


def test_done_ends_it_at_once() -> None:
    """`nika:done` returns its result; what was called after it in the same breath is not run."""
    first, done = ToolCall("a", "nika:one", {}), ToolCall("b", "nika:done", {"result": [1]})
    played = Played(together([first, done, ToolCall("c", "nika:two", {})]))
    assert played.output == [1]
    assert played.used == ["nika:one", "nika:done"]


@pytest.mark.parametrize(
    ("result", "expected"), [({}, "as I said"), ({"result": None}, None), ({"result": ""}, "")]
)
def test_done_without_a_result(result: dict[str, Any], expected: Any) -> None:
    """Without one the output is what was said last; an empty one is a result."""
    assert Played(calls("nika:done", "as I said", **result)).output == expected


def test_a_done_that_failed_ends_nothing() -> None:
    """Called wrongly it is a failed call like any other."""
    wrong = calls("nika:done", result=1)
    played = Played(wrong, says("so be it"), tool=lambda step: Result("no", failed=True))
    assert played.output == "so be it"


def test_done_in_the_last_turn() -> None:
    """The budget is judged between turns: what ends in the last one has ended."""
    one = Bound(1, "by-the-caller", "x")
    assert Played(calls("nika:done", result=1), turns=one, tokens=one).output == 1
    assert Played(says("done"), turns=one, tokens=one).output == "done"


# -- budgets ---------------------------------------------------------------------------------------


def test_turns_run_out() -> None:
    """The tools of the last turn still run, then it fails, and says who set the bound."""
    mine = Bound(2, "by-the-caller", "the task's own `max_turns:`")
    played = Played(calls("nika:one", "first"), calls("nika:one", "second"), turns=mine)
    found = failed(played)
    assert found.code == "NIKA-AGENT-001"
    assert played.used == ["nika:one"] * 2
    assert found.details == {
        "partial_output": "second",
        "blame": {"polarity": "by-the-caller", "source": "the task's own `max_turns:`"},
        "turns": 2,
        "tokens": 4,
    }
    assert "its 2 turns" in found.message


def test_tokens_run_out() -> None:
    """Tokens of all turns count together, and the last message that had words is kept."""
    mine = Bound(100, "by-the-caller", "the task's own `max_tokens_total:`")
    played = Played(
        calls("nika:one", "thinking", tokens=(40, 20)), calls("nika:one", "", tokens=(50, 10)), tokens=mine
    )
    found = failed(played)
    assert found.code == "NIKA-AGENT-002"
    assert found.details["partial_output"] == "thinking"
    assert found.details["tokens"] == 120
    assert "120 of its 100 tokens" in found.message
    assert played.notes("agent_budget_checkpoint") == [
        {"turn": 1, "total_tokens": 60, "budget": 100},
        {"turn": 2, "total_tokens": 120, "budget": 100},
    ]


def test_a_contract_set_bound_blames_nobody() -> None:
    """A default that nobody wrote names the rule, not the caller."""
    found = failed(Played(*[calls("nika:one", n=n) for n in range(10)]))
    assert found.details["blame"] == {"polarity": "by-the-contract", "source": "the language"}


# -- the shape of a result -------------------------------------------------------------------------


def test_a_final_message_of_the_declared_shape() -> None:
    """It comes back as the value."""
    assert Played(calls("nika:one"), says('{"n": 1}'), schema=COUNT).output == {"n": 1}


def test_a_misfit_is_nudged() -> None:
    """A final message that does not fit is given back, as a turn of its own."""
    played = Played(says("one"), says('{"n": 1}'), schema=COUNT)
    assert played.output == {"n": 1}
    assert played.notes("agent_nudge") == [{"turn": 1, "reason": "schema"}]
    assert played.told[1:] == (Message("assistant", "one"), played.told[-1])
    assert "does not fit the JSON Schema" in played.told[-1].text


def test_a_misfit_of_done_is_a_failed_call() -> None:
    """The result of `nika:done` is judged; the loop goes on where it does not fit."""
    played = Played(calls("nika:done", result="x"), calls("nika:done", result={"n": 1}), schema=COUNT)
    assert played.output == {"n": 1}
    assert played.told[-1].failed
    assert "does not fit the JSON Schema" in played.told[-1].text


def test_repairs_are_bounded() -> None:
    """Messages and results count together: the third misfit fails the task."""
    played = Played(says("a"), calls("nika:done", result="b"), says("c"), schema=COUNT)
    found = failed(played)
    assert (found.code, found.details["reply"]) == ("NIKA-INFER-002", "c")


def test_done_without_a_result_is_judged_by_what_was_said() -> None:
    """Then the last message has to fit."""
    assert Played(calls("nika:done", '{"n": 2}'), schema=COUNT).output == {"n": 2}


# -- nudges ----------------------------------------------------------------------------------------


def test_silence_is_nudged_once() -> None:
    """An empty reply may be a slip; a second one is a failure."""
    played = Played(says(""), says("here"))
    assert played.output == "here"
    assert played.notes("agent_nudge") == [{"turn": 1, "reason": "empty"}]
    assert failed(Played(says(""), says(" \n"))).code == "NIKA-INFER-004"


@pytest.mark.parametrize("period", [1, 2, 3])
def test_going_round_in_circles_is_told(period: int) -> None:
    """The same calls with the same results three times over: witnessed, told once, and the loop goes on."""
    circle = [calls("nika:one", n=n) for n in range(period)] * 3
    played = Played(*circle, says("enough"))
    assert played.output == "enough"
    assert played.notes("agent_stalled") == [{"turn": 3 * period, "period": period, "repeats": 3}]
    assert played.notes("agent_nudge") == [{"turn": 3 * period, "reason": "stalled"}]
    assert played.told[-1].role == "user"


def test_waiting_for_something_is_no_stall() -> None:
    """The same call whose result changes makes progress."""
    seen = iter("abcd")
    played = Played(*[calls("nika:one")] * 4, says("done"), tool=lambda step: Result(next(seen)))
    assert played.output == "done"
    assert not played.notes("agent_stalled")


def test_a_stall_is_told_again_only_after_another_round() -> None:
    """Told once, the count begins anew."""
    assert len(Played(*[calls("nika:one")] * 5, says("x")).notes("agent_stalled")) == 1
    assert len(Played(*[calls("nika:one")] * 6, says("x")).notes("agent_stalled")) == 2
