"""`infer` chooses a provider by the model's prefix and judges the reply against the schema."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from nika_nb.engine.contract import Reply
from nika_nb.errors import Fault
from nika_nb.providers.base import ChatReply, ChatRequest
from nika_nb.verbs.infer import Infer
from tests.verbs.calls import Recorder


class Said:
    """A provider that says what it was told to, and remembers what it was asked."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.requests: list[ChatRequest] = []

    async def chat(self, request: ChatRequest) -> ChatReply:
        self.requests.append(request)
        return ChatReply(self.text, 1, 2, cost_usd=0.5)


def infer(verb: Infer, **body: Any) -> Reply:
    recorder = Recorder("/")
    reply = asyncio.run(verb.run(recorder.call("infer", {"prompt": "hi", **body})))
    assert recorder.processes == [None]
    return reply


def fault(verb: Infer, **body: Any) -> Fault:
    with pytest.raises(Fault) as caught:
        infer(verb, **body)
    return caught.value


def test_the_mock_answers() -> None:
    """The reply is the text; usage names the whole model and why there is no price."""
    reply = infer(Infer("mock/echo"))
    assert reply.output == "mock(echo) · hi"
    assert reply.usage is not None
    assert (reply.usage.model, reply.usage.unpriced, reply.usage.tokens) == ("mock/echo", "mock_provider", 5)


def test_the_tasks_own_model_wins() -> None:
    """A task's model stands before the default."""
    assert infer(Infer("mock/other"), model="mock/echo").output == "mock(echo) · hi"


def test_the_request_carries_the_body() -> None:
    """Everything the author wrote reaches the provider, numbers as numbers."""
    said = Said("ok")
    infer(Infer(providers={"x": said}), model="x/a/b", system="s", temperature="0.3", max_tokens=9, prompt=7)
    assert said.requests == [ChatRequest("a/b", "7", "s", 0.3, 9)]


def test_a_structured_reply() -> None:
    """With a schema the value comes back, shaped and judged."""
    schema = {"type": "object", "required": ["n"], "properties": {"n": {"type": "integer", "minimum": 2}}}
    assert infer(Infer("mock/echo"), schema=schema).output == {"n": 2}
    assert infer(Infer(providers={"x": Said('{"n": 5}')}), model="x/y", schema=schema).output == {"n": 5}


MISFITS = [
    ("not json", "it is not JSON"),
    ('{"n": "5"}', "(at n)"),
    ("{}", "required property"),
]


@pytest.mark.parametrize(("text", "sentence"), MISFITS)
def test_a_reply_that_does_not_fit(text: str, sentence: str) -> None:
    """A reply outside of the schema fails, says where, and carries what was said."""
    schema = {"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}}
    found = fault(Infer(providers={"x": Said(text)}), model="x/y", schema=schema)
    assert found.code == "NIKA-INFER-002"
    assert sentence in found.message
    assert found.details == {"reply": text}


UNKNOWN = [
    ("openai/gpt", "provider `openai` is not built in yet (mock is); try it with `--model mock/echo`"),
    ("gpt", "`gpt` names no provider"),
    ("mock/", "`mock/` names no provider"),
    (None, "the task names no model"),
]


@pytest.mark.parametrize(("model", "sentence"), UNKNOWN)
def test_a_model_nobody_serves(model: str | None, sentence: str) -> None:
    """A model that cannot be reached fails with the way out, and is not tried again."""
    found = fault(Infer(), model=model)
    assert found.code == "NIKA-INFER-001"
    assert sentence in found.message
    assert found.transient is False
